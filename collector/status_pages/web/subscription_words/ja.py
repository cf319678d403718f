"""Japanese."""

from typing import Final

from collector.status_pages.web.subscription_words.words import SubscriptionWords

WORDS: Final = SubscriptionWords(
    subscribe="購読",
    subscribe_text=(
        "障害とメンテナンスをメールでお知らせします。アドレスを確認するためのリンクをお送りします。"
    ),
    address="メールアドレス",
    bad_address=("メールアドレスではありません。name@example.com のように入力してください。"),
    sent="メールをご確認ください",
    sent_text=(
        "{address} にメールが届く場合は、すでに送信されています。48 時間以内に本文のリンクを開いてください。"
    ),
    confirm="購読の確認",
    confirm_subject="{name} の購読を確認してください",
    confirm_text="{address} に {name} の障害とメンテナンスをお知らせします。",
    confirm_press="確認する",
    confirm_mail=(
        "このアドレスへ {name} の障害とメンテナンスを知らせるよう、ど"
        "なたかが申し込みました。ご本人の場合はリンクを開き、48 時間以内に"
        "ボタンを押してください。そうでない場合は何もする必要はありません。"
    ),
    confirm_mail_press="購読を確認する",
    confirm_why=("{name} の購読のためにこのアドレスが入力されたため、このメールをお送りしました。"),
    confirmed="購読しました",
    confirmed_text="今後 {address} に障害とメンテナンスをお知らせします。",
    over="このリンクは期限切れです",
    over_text=("有効期間は 48 時間でした。新しいリンクを受け取るには、もう一度購読してください。"),
    known="すでに購読しています",
    known_subject="{name} の購読",
    known_mail=(
        "このアドレスへ {name} の障害とメンテナンスを知らせるよう、ど"
        "なたかが申し込みました。すでに購読しています。"
    ),
    known_press="購読を表示する",
    manage="購読の内容",
    manage_text="{address} にお知らせする内容",
    incidents="障害",
    maintenance="メンテナンス",
    components="システム",
    components_text="選択しない場合は、すべてをお知らせします。",
    save="保存",
    saved="保存しました。",
    leave="購読を解除する",
    leave_text="{address} に {name} のお知らせを送らないようにします。",
    left="購読を解除しました",
    left_text="{address} には今後何も送信しません。",
    gone="この購読は終了しています",
    status="状態",
    affects="影響範囲",
    planned_for="予定",
    show_page="ステータスページを表示する",
    why="{name} を購読しているため、このメールをお送りしています。",
    preferences="受信内容の設定",
)
