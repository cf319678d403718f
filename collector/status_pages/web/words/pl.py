"""Polish."""

from typing import Final

from collector.status_pages.web.words.words import LanguageTexts, SubscriptionWords

_SUBSCRIPTION: Final = SubscriptionWords(
    subscribe="Subskrybuj",
    subscribe_text=(
        "Otrzymuj e-mailem powiadomienia o awariach i pracach serwisowych. Wyślemy link do "
        "potwierdzenia adresu."
    ),
    address="Adres e-mail",
    bad_address="Podaj poprawny adres e-mail, na przykład nazwa@example.com.",
    sent="Sprawdź skrzynkę",
    sent_text=(
        "Jeśli na {address} można dostarczyć pocztę, wiadomość jest w drodze. Otwórz zawarty w "
        "niej link w ciągu 48 godzin."
    ),
    confirm="Potwierdź subskrypcję",
    confirm_subject="Potwierdź subskrypcję {name}",
    confirm_text="Na adres {address} będą wysyłane powiadomienia o awariach i pracach serwisowych {name}.",
    confirm_press="Potwierdź",
    confirm_mail=(
        "Ktoś poprosił o wysyłanie na ten adres powiadomień o awariach i pracach serwisowych "
        "{name}. Jeśli prośba pochodzi od Ciebie, otwórz link i naciśnij przycisk w ciągu 48 "
        "godzin. W przeciwnym razie zignoruj tę wiadomość."
    ),
    confirm_mail_press="Potwierdź subskrypcję",
    confirm_why="Wysłaliśmy tę wiadomość, ponieważ adres podano w formularzu subskrypcji {name}.",
    confirmed="Subskrypcja potwierdzona",
    confirmed_text=(
        "Od teraz na adres {address} będą wysyłane powiadomienia o awariach i pracach serwisowych."
    ),
    over="Ten link wygasł",
    over_text="Był ważny 48 godzin. Zapisz się ponownie, aby otrzymać nowy.",
    known="Subskrypcja już istnieje",
    known_subject="Twoja subskrypcja {name}",
    known_mail=(
        "Ktoś poprosił o wysyłanie na ten adres powiadomień o awariach i pracach serwisowych "
        "{name}. Ta subskrypcja już istnieje."
    ),
    known_press="Pokaż subskrypcję",
    manage="Twoja subskrypcja",
    manage_text="Powiadomienia wysyłane na {address}",
    incidents="Awarie",
    maintenance="Prace serwisowe",
    components="Systemy",
    components_text="Bez wyboru otrzymujesz powiadomienia o wszystkich systemach.",
    save="Zapisz",
    saved="Zapisano.",
    leave="Anuluj subskrypcję",
    leave_text="Na adres {address} nie będą już wysyłane powiadomienia {name}.",
    left="Subskrypcja anulowana",
    left_text="Na adres {address} nie będą już wysyłane wiadomości.",
    gone="Ta subskrypcja została zakończona",
    status="Stan",
    affects="Dotyczy",
    planned_for="Zaplanowano na",
    show_page="Pokaż stronę stanu",
    why="Otrzymujesz tę wiadomość, ponieważ subskrybujesz {name}.",
    preferences="Preferencje",
)

WORDS: Final = LanguageTexts(
    tag="pl",
    own_name="Polski",
    subscription=_SUBSCRIPTION,
    months=(
        "styczeń",
        "luty",
        "marzec",
        "kwiecień",
        "maj",
        "czerwiec",
        "lipiec",
        "sierpień",
        "wrzesień",
        "październik",
        "listopad",
        "grudzień",
    ),
    short=("sty", "lut", "mar", "kwi", "maj", "cze", "lip", "sie", "wrz", "paź", "lis", "gru"),
    moment_form="{day} {short} {year}, {time} UTC",
    date_form="{day} {short} {year}",
    month_form="{month} {year}",
    point=",",
    percent="{}%",
    comma=", ",
    shown={
        "operational": "Działa",
        "degraded_performance": "Obniżona wydajność",
        "partial_outage": "Częściowa awaria",
        "major_outage": "Poważna awaria",
        "maintenance": "Prace serwisowe",
        "unknown": "Brak pomiarów",
    },
    overall={
        "operational": "Wszystkie systemy działają",
        "degraded_performance": "Niektóre systemy działają wolno",
        "partial_outage": "Częściowa awaria",
        "major_outage": "Poważna awaria",
        "maintenance": "Trwają prace serwisowe",
        "unknown": "Jeszcze brak pomiarów",
    },
    phases={
        "investigating": "Badamy przyczynę",
        "identified": "Przyczyna ustalona",
        "monitoring": "Obserwujemy",
        "resolved": "Rozwiązano",
    },
    planned_phases={
        "investigating": "Zaplanowano",
        "identified": "W toku",
        "monitoring": "Sprawdzamy",
        "resolved": "Zakończono",
    },
    title="Stan {name}",
    history_title="Awarie {name}",
    skip="Przejdź do stanu",
    now="Teraz",
    planned="Zaplanowane prace serwisowe",
    systems="Systemy",
    recent="Ostatnie dwa tygodnie",
    incidents="Awarie",
    no_incidents="Nie było awarii.",
    all_incidents="Wszystkie awarie",
    newer="Nowsze",
    older="Starsze",
    back="Obecny stan",
    empty="Na tej stronie nic jeszcze nie ma.",
    from_on="Od {start}",
    from_to="Od {start} do {end}",
    affects="Dotyczy: {names}",
    unmeasured="Brak pomiarów od {since}",
    uptime="Dostępność w ostatnich 90 dniach: {share}",
    up="Dostępność {share}",
    no_data="brak danych",
    days_ago="90 dni temu",
    today="Dzisiaj",
    span="Od {since} do {until}",
    response="Czas odpowiedzi",
    response_said="średnio {mean} ms, najwyżej {highest} ms",
    hours_ago="24 godziny temu",
    just_now="Teraz",
    as_of="Stan na {at}",
    stale="Nie można teraz odświeżyć tej strony; pokazuje ostatni znany stan.",
    calendar="Kalendarz",
    subscribe="Subskrybuj",
    private="Ta strona jest prywatna",
    password="Hasło",  # noqa: S106 - a word, not a secret
    enter="Pokaż stan",
    wrong="Hasło jest nieprawidłowe.",
    too_often="Zbyt wiele prób. Odczekaj kilka minut.",
    sign_in="Zaloguj się przez swoją organizację",
    not_admitted="Logowanie nie powiodło się albo Twój adres nie ma dostępu do tej strony.",
    missing="Tu nie ma strony stanu",
    language="Język",
    zone="Strefa czasowa",
    own_zone="Twoja strefa czasowa",
    apply="Zastosuj",
    support="Pomoc",
    reminder="Przypomnienie",
)
