"""German."""

from typing import Final

from collector.status_pages.web.words.words import SubscriptionWords, Words

_SUBSCRIPTION: Final = SubscriptionWords(
    subscribe="Abonnieren",
    subscribe_text=(
        "Von Störungen und Wartungen per E-Mail erfahren. Wir senden einen Link, der die Adresse bestätigt."
    ),
    address="E-Mail-Adresse",
    bad_address="Bitte eine gültige E-Mail-Adresse angeben, z. B. name@example.com.",
    sent="Bitte prüfen Sie Ihr Postfach",
    sent_text=(
        "Wenn {address} Post empfangen kann, ist sie unterwegs. Folgen Sie dem Link darin "
        "innerhalb von 48 Stunden."
    ),
    confirm="Abonnement bestätigen",
    confirm_subject="Bestätigen Sie Ihr Abonnement von {name}",
    confirm_text="{address} soll von Störungen und Wartungen von {name} erfahren.",
    confirm_press="Bestätigen",
    confirm_mail=(
        "Jemand möchte, dass diese Adresse von Störungen und Wartungen von {name} erfährt. "
        "Wenn Sie das waren, folgen Sie dem Link und klicken Sie dort innerhalb von 48 Stunden"
        " auf die Schaltfläche. Wenn nicht, tun Sie nichts."
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
    components_text="Ohne Auswahl erhalten Sie Meldungen zu allen Systemen.",
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

WORDS: Final = Words(
    tag="de",
    own_name="Deutsch",
    subscription=_SUBSCRIPTION,
    months=(
        "Januar",
        "Februar",
        "März",
        "April",
        "Mai",
        "Juni",
        "Juli",
        "August",
        "September",
        "Oktober",
        "November",
        "Dezember",
    ),
    short=("Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sept.", "Okt.", "Nov.", "Dez."),
    moment_form="{day}. {short} {year}, {time} UTC",
    date_form="{day}. {short} {year}",
    month_form="{month} {year}",
    point=",",
    percent="{}\N{NO-BREAK SPACE}%",
    comma=", ",
    shown={
        "operational": "In Betrieb",
        "degraded_performance": "Verlangsamt",
        "partial_outage": "Teilweise gestört",
        "major_outage": "Schwer gestört",
        "maintenance": "In Wartung",
        "unknown": "Nicht gemessen",
    },
    overall={
        "operational": "Alle Systeme sind in Betrieb",
        "degraded_performance": "Einige Systeme sind langsam",
        "partial_outage": "Einige Systeme sind gestört",
        "major_outage": "Schwere Störung",
        "maintenance": "Wartungsarbeiten laufen",
        "unknown": "Noch keine Messungen",
    },
    phases={
        "investigating": "Wird untersucht",
        "identified": "Ursache gefunden",
        "monitoring": "Wird beobachtet",
        "resolved": "Behoben",
    },
    planned_phases={
        "investigating": "Geplant",
        "identified": "Läuft",
        "monitoring": "Wird geprüft",
        "resolved": "Abgeschlossen",
    },
    title="Status von {name}",
    history_title="Störungen von {name}",
    skip="Zum Status springen",
    now="Jetzt",
    planned="Geplante Wartung",
    systems="Systeme",
    recent="Die letzten zwei Wochen",
    incidents="Störungen",
    no_incidents="Es gab keine Störungen.",
    all_incidents="Alle Störungen",
    newer="Neuere",
    older="Ältere",
    back="Status jetzt",
    empty="Auf dieser Seite steht noch nichts.",
    from_on="Ab {start}",
    from_to="Von {start} bis {end}",
    affects="Betrifft {names}",
    unmeasured="Nicht gemessen seit {since}",
    uptime="Verfügbarkeit der letzten 90 Tage: {share}",
    up="{share} verfügbar",
    no_data="keine Daten",
    days_ago="Vor 90 Tagen",
    today="Heute",
    span="{since} bis {until}",
    response="Antwortzeit",
    response_said="{mean} ms im Mittel, höchstens {highest} ms",
    hours_ago="Vor 24 Stunden",
    just_now="Jetzt",
    as_of="Stand {at}",
    stale="Diese Seite kann gerade nicht aktualisiert werden; sie zeigt den letzten bekannten Stand.",
    calendar="Kalender",
    subscribe="Abonnieren",
    private="Diese Seite ist nicht öffentlich",
    password="Passwort",  # noqa: S106 - a word, not a secret
    enter="Status anzeigen",
    wrong="Das ist nicht das Passwort.",
    too_often="Das waren zu viele Versuche. Bitte einige Minuten warten.",
    missing="Hier gibt es keine Statusseite",
    language="Sprache",
    zone="Zeitzone",
    own_zone="Ihre Zeitzone",
    apply="Übernehmen",
)
