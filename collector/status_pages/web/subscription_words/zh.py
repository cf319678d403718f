"""Chinese."""

from typing import Final

from collector.status_pages.web.subscription_words.words import SubscriptionWords

WORDS: Final = SubscriptionWords(
    subscribe="订阅",
    subscribe_text="通过邮件获知故障和维护。我们会发送一个链接来确认地址。",
    address="邮箱地址",
    bad_address="这不是邮箱地址，正确的形式如 name@example.com。",
    sent="请查看您的邮箱",
    sent_text=("如果 {address} 能收到邮件，邮件已在途中。请在 48 小时内打开其中的链接。"),
    confirm="确认订阅",
    confirm_subject="请确认您对 {name} 的订阅",
    confirm_text="{address} 将收到 {name} 的故障和维护通知。",
    confirm_press="确认",
    confirm_mail=(
        "有人希望此地址收到 {name} 的故障和维护通知。如果是您本人，请"
        "打开链接，并在 48 小时内按下那里的按钮。如果不是，请忽略此邮件。"
    ),
    confirm_mail_press="确认订阅",
    confirm_why="发送此邮件是因为有人输入了此地址来订阅 {name}。",
    confirmed="您已订阅",
    confirmed_text="从现在起，{address} 会收到故障和维护通知。",
    over="此链接已过期",
    over_text="它的有效期为 48 小时。请重新订阅以获取新的链接。",
    known="您已经订阅",
    known_subject="您对 {name} 的订阅",
    known_mail="有人希望此地址收到 {name} 的故障和维护通知。此地址已经订阅。",
    known_press="查看订阅",
    manage="您的订阅",
    manage_text="{address} 收到的内容",
    incidents="故障",
    maintenance="维护",
    components="系统",
    components_text="如果一个都不选，您会收到全部通知。",
    save="保存",
    saved="已保存。",
    leave="取消订阅",
    leave_text="{address} 将不再收到 {name} 的任何通知。",
    left="您已取消订阅",
    left_text="不会再向 {address} 发送任何邮件。",
    gone="此订阅已结束",
    status="状态",
    affects="影响",
    planned_for="计划时间",
    show_page="查看状态页面",
    why="您收到此邮件是因为您订阅了 {name}。",
    preferences="偏好设置",
)
