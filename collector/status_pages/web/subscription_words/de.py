"""German."""

from typing import Final

from collector.status_pages.web.subscription_words.words import SubscriptionWords

WORDS: Final = SubscriptionWords(
    subscribe="Abonnieren",
    subscribe_text=(
        "Von Störungen und Wartungen per E-Mail erfahren. Wir senden einen Link, der die Adresse bestätigt."
    ),
    address="E-Mail-Adresse",
    bad_address="Das ist keine E-Mail-Adresse: Sie sieht aus wie name@example.com.",
    sent="Sehen Sie in Ihr Postfach",
    sent_text=(
        "Wenn {address} Post empfangen kann, ist sie unterwegs. Folgen Sie dem Link darin "
        "innerhalb von 48 Stunden."
    ),
    confirm="Abonnement bestätigen",
    confirm_subject="Bestätigen Sie Ihr Abonnement von {name}",
    confirm_text="{address} soll von Störungen und Wartungen von {name} erfahren.",
    confirm_press="Bestätigen",
    confirm_mail=(
        "Jemand möchte, dass diese Adresse von Störungen und Wartungen von {name} erfährt. Wenn "
        "Sie das waren, folgen Sie dem Link und drücken Sie dort innerhalb von 48 Stunden den "
        "Knopf. Wenn nicht, tun Sie nichts."
    ),
    confirm_mail_press="Abonnement bestätigen",
    confirm_why=(
        "Diese E-Mail wurde gesendet, weil die Adresse für ein Abonnement von {name} eingegeben wurde."
    ),
    confirmed="Sie haben abonniert",
    confirmed_text="{address} erfährt ab jetzt von Störungen und Wartungen.",
    over="Dieser Link ist abgelaufen",
    over_text="Er galt 48 Stunden. Abonnieren Sie noch einmal, um einen neuen zu bekommen.",
    known="Sie haben bereits abonniert",
    known_subject="Ihr Abonnement von {name}",
    known_mail=(
        "Jemand möchte, dass diese Adresse von Störungen und Wartungen von {name} erfährt. Das "
        "tut sie bereits."
    ),
    known_press="Abonnement anzeigen",
    manage="Ihr Abonnement",
    manage_text="Wovon {address} erfährt",
    incidents="Störungen",
    maintenance="Wartungen",
    components="Systeme",
    components_text="Ist keines gewählt, erfahren Sie von allen.",
    save="Speichern",
    saved="Gespeichert.",
    leave="Abbestellen",
    leave_text="{address} soll von {name} nichts mehr erfahren.",
    left="Sie haben abbestellt",
    left_text="An {address} wird nichts mehr gesendet.",
    gone="Dieses Abonnement ist beendet",
    status="Status",
    affects="Betrifft",
    planned_for="Geplant für",
    show_page="Statusseite anzeigen",
    why="Sie erhalten dies, weil Sie {name} abonniert haben.",
    preferences="Einstellungen",
)
