"""Italian."""

from typing import Final

from collector.status_pages.web.words.words import SubscriptionWords, Words

_SUBSCRIPTION: Final = SubscriptionWords(
    subscribe="Iscriviti",
    subscribe_text=(
        "Ricevi per e-mail gli avvisi su incidenti e manutenzioni. Inviamo un link per confermare"
        " l'indirizzo."
    ),
    address="Indirizzo e-mail",
    bad_address="Inserisci un indirizzo e-mail valido, ad esempio nome@example.com.",
    sent="Controlla la posta",
    sent_text=(
        "Se {address} può ricevere posta, il messaggio è in arrivo. Segui il link che contiene entro 48 ore."
    ),
    confirm="Conferma l'iscrizione",
    confirm_subject="Conferma la tua iscrizione a {name}",
    confirm_text="{address} riceverà gli avvisi su incidenti e manutenzioni di {name}.",
    confirm_press="Conferma",
    confirm_mail=(
        "Qualcuno ha chiesto di inviare a questo indirizzo gli avvisi su incidenti e manutenzioni"
        " di {name}. Se sei stato tu, segui il link e premi il pulsante entro 48 ore. Altrimenti "
        "ignora questo messaggio."
    ),
    confirm_mail_press="Conferma l'iscrizione",
    confirm_why=(
        "Questo messaggio è stato inviato perché l'indirizzo è stato inserito per l'iscrizione a {name}."
    ),
    confirmed="Iscrizione confermata",
    confirmed_text="D'ora in poi {address} riceverà gli avvisi su incidenti e manutenzioni.",
    over="Questo link è scaduto",
    over_text="Era valido per 48 ore. Iscriviti di nuovo per riceverne un altro.",
    known="Iscrizione già attiva",
    known_subject="La tua iscrizione a {name}",
    known_mail=(
        "Qualcuno ha chiesto di inviare a questo indirizzo gli avvisi su incidenti e manutenzioni"
        " di {name}. L'iscrizione è già attiva."
    ),
    known_press="Mostra l'iscrizione",
    manage="La tua iscrizione",
    manage_text="Avvisi inviati a {address}",
    incidents="Incidenti",
    maintenance="Manutenzioni",
    components="Sistemi",
    components_text="Se non ne scegli nessuno, ricevi gli avvisi su tutti i sistemi.",
    save="Salva",
    saved="Salvato.",
    leave="Annulla l'iscrizione",
    leave_text="{address} non riceverà più avvisi da {name}.",
    left="Iscrizione annullata",
    left_text="Non verranno più inviati messaggi a {address}.",
    gone="Questa iscrizione è terminata",
    status="Stato",
    affects="Sistemi interessati",
    planned_for="Pianificata per",
    show_page="Mostra la pagina di stato",
    why="Ricevi questo messaggio perché sei iscritto a {name}.",
    preferences="Preferenze",
)

WORDS: Final = Words(
    tag="it",
    own_name="Italiano",
    subscription=_SUBSCRIPTION,
    months=(
        "gennaio",
        "febbraio",
        "marzo",
        "aprile",
        "maggio",
        "giugno",
        "luglio",
        "agosto",
        "settembre",
        "ottobre",
        "novembre",
        "dicembre",
    ),
    short=("gen", "feb", "mar", "apr", "mag", "giu", "lug", "ago", "set", "ott", "nov", "dic"),
    moment_form="{day} {short} {year}, {time} UTC",
    date_form="{day} {short} {year}",
    month_form="{month} {year}",
    point=",",
    percent="{}%",
    comma=", ",
    shown={
        "operational": "Operativo",
        "degraded_performance": "Prestazioni ridotte",
        "partial_outage": "Interruzione parziale",
        "major_outage": "Interruzione grave",
        "maintenance": "In manutenzione",
        "unknown": "Non misurato",
    },
    overall={
        "operational": "Tutti i sistemi sono operativi",
        "degraded_performance": "Alcuni sistemi sono lenti",
        "partial_outage": "Interruzione parziale",
        "major_outage": "Interruzione grave",
        "maintenance": "Manutenzione in corso",
        "unknown": "Ancora nessuna misurazione",
    },
    phases={
        "investigating": "In analisi",
        "identified": "Causa individuata",
        "monitoring": "Sotto osservazione",
        "resolved": "Risolto",
    },
    planned_phases={
        "investigating": "Pianificata",
        "identified": "In corso",
        "monitoring": "In verifica",
        "resolved": "Conclusa",
    },
    title="Stato di {name}",
    history_title="Incidenti di {name}",
    skip="Vai allo stato",
    now="Adesso",
    planned="Manutenzione pianificata",
    systems="Sistemi",
    recent="Ultime due settimane",
    incidents="Incidenti",
    no_incidents="Nessun incidente.",
    all_incidents="Tutti gli incidenti",
    newer="Più recenti",
    older="Meno recenti",
    back="Stato attuale",
    empty="Questa pagina è ancora vuota.",
    from_on="Dal {start}",
    from_to="Dal {start} al {end}",
    affects="Sistemi interessati: {names}",
    unmeasured="Non misurato dal {since}",
    uptime="Disponibilità negli ultimi 90 giorni: {share}",
    up="{share} di disponibilità",
    no_data="nessun dato",
    days_ago="90 giorni fa",
    today="Oggi",
    span="Dal {since} al {until}",
    response="Tempo di risposta",
    response_said="{mean} ms in media, {highest} ms al massimo",
    hours_ago="24 ore fa",
    just_now="Adesso",
    as_of="Aggiornato al {at}",
    stale="Al momento la pagina non può essere aggiornata: mostra l'ultimo stato noto.",
    calendar="Calendario",
    subscribe="Iscriviti",
    private="Questa pagina è privata",
    password="Password",  # noqa: S106 - a word, not a secret
    enter="Mostra lo stato",
    wrong="La password non è corretta.",
    too_often="Troppi tentativi. Riprova tra qualche minuto.",
    missing="Qui non c'è nessuna pagina di stato",
    language="Lingua",
    zone="Fuso orario",
    own_zone="Il tuo fuso orario",
    apply="Applica",
)
