"""Japanese."""

from typing import Final

from collector.status_pages.web.words.words import LanguageTexts, SubscriptionWords

_MONTHS = tuple(f"{number}月" for number in range(1, 13))

_SUBSCRIPTION: Final = SubscriptionWords(
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

WORDS: Final = LanguageTexts(
    tag="ja",
    own_name="日本語",
    subscription=_SUBSCRIPTION,
    months=_MONTHS,
    short=_MONTHS,
    moment_form="{year}年{number}月{day}日 {time} UTC",
    date_form="{year}年{number}月{day}日",
    month_form="{year}年{number}月",
    point=".",
    percent="{}%",
    comma="、",
    shown={
        "operational": "正常稼働",
        "degraded_performance": "性能低下",
        "partial_outage": "一部で障害",
        "major_outage": "重大な障害",
        "maintenance": "メンテナンス中",
        "unknown": "未計測",
    },
    overall={
        "operational": "すべてのシステムが正常に稼働しています",
        "degraded_performance": "一部のシステムの応答が遅くなっています",
        "partial_outage": "一部のシステムで問題が発生しています",
        "major_outage": "重大な障害が発生しています",
        "maintenance": "メンテナンスを実施しています",
        "unknown": "計測データがまだありません",
    },
    phases={
        "investigating": "調査中",
        "identified": "原因を特定",
        "monitoring": "経過観察中",
        "resolved": "解決済み",
    },
    planned_phases={
        "investigating": "予定",
        "identified": "実施中",
        "monitoring": "確認中",
        "resolved": "完了",
    },
    title="{name} の稼働状況",
    history_title="{name} の障害情報",
    skip="稼働状況へ移動",
    now="現在",
    planned="予定されているメンテナンス",
    systems="システム",
    recent="過去2週間",
    incidents="障害情報",
    no_incidents="障害はありませんでした。",
    all_incidents="すべての障害情報",
    newer="新しいもの",
    older="古いもの",
    back="現在の稼働状況",
    empty="このページにはまだ何もありません。",
    from_on="{start} から",
    from_to="{start} から {end} まで",
    affects="影響範囲：{names}",
    unmeasured="{since} から計測されていません",
    uptime="過去90日間の稼働率：{share}",
    up="稼働率 {share}",
    no_data="データなし",
    days_ago="90日前",
    today="今日",
    span="{since}から{until}",
    response="応答時間",
    response_said="平均 {mean} ミリ秒、最大 {highest} ミリ秒",
    hours_ago="24時間前",
    just_now="現在",
    as_of="{at} 現在",
    stale="現在このページを更新できません。最後に確認された状態を表示しています。",
    calendar="カレンダー",
    subscribe="購読",
    private="このページは非公開です",
    password="パスワード",  # noqa: S106 - a word, not a secret
    enter="稼働状況を表示",
    wrong="パスワードが正しくありません。",
    too_often="試行回数が多すぎます。数分お待ちください。",
    sign_in="組織のアカウントでサインイン",
    not_admitted="サインインできなかったか、このアドレスではこのページを表示できません。",
    missing="ここにステータスページはありません",
    language="言語",
    zone="タイムゾーン",
    own_zone="お使いのタイムゾーン",
    apply="適用",
    support="サポート",
    reminder="リマインダー",
)
