"""French."""

from typing import Final

from collector.status_pages.web.words.words import SubscriptionWords, Words

_SUBSCRIPTION: Final = SubscriptionWords(
    subscribe="S’abonner",
    subscribe_text=(
        "Soyez informé des incidents et des maintenances par e-mail. Nous envoyons un lien pour "
        "confirmer l’adresse."
    ),
    address="Adresse e-mail",
    bad_address="Saisissez une adresse e-mail valide, par exemple nom@example.com.",
    sent="Consultez votre boîte de réception",
    sent_text=(
        "Si {address} peut recevoir un e-mail, il est en route. Suivez le lien qu’il contient "
        "dans les 48 heures."
    ),
    confirm="Confirmer l’abonnement",
    confirm_subject="Confirmez votre abonnement à {name}",
    confirm_text="{address} sera informée des incidents et des maintenances de {name}.",
    confirm_press="Confirmer",
    confirm_mail=(
        "Quelqu’un a demandé que cette adresse soit informée des incidents et des maintenances de"
        " {name}. Si c’était vous, suivez le lien et appuyez sur le bouton dans les 48 heures. "
        "Sinon, ne faites rien."
    ),
    confirm_mail_press="Confirmer l’abonnement",
    confirm_why=("Cet e-mail a été envoyé parce que l’adresse a été saisie pour s’abonner à {name}."),
    confirmed="Vous êtes abonné",
    confirmed_text="{address} est désormais informée des incidents et des maintenances.",
    over="Ce lien a expiré",
    over_text="Il était valable 48 heures. Abonnez-vous de nouveau pour en recevoir un autre.",
    known="Vous êtes déjà abonné",
    known_subject="Votre abonnement à {name}",
    known_mail=(
        "Quelqu’un a demandé que cette adresse soit informée des incidents et des maintenances de"
        " {name}. Elle l’est déjà."
    ),
    known_press="Afficher l’abonnement",
    manage="Votre abonnement",
    manage_text="Ce dont {address} est informée",
    incidents="Incidents",
    maintenance="Maintenances",
    components="Systèmes",
    components_text="Si aucun n’est choisi, vous êtes informé de tous.",
    save="Enregistrer",
    saved="Enregistré.",
    leave="Se désabonner",
    leave_text="{address} ne recevra plus rien de {name}.",
    left="Vous êtes désabonné",
    left_text="Plus rien n’est envoyé à {address}.",
    gone="Cet abonnement est terminé",
    status="État",
    affects="Concerne",
    planned_for="Prévu pour",
    show_page="Afficher la page de statut",
    why="Vous recevez cet e-mail parce que vous êtes abonné à {name}.",
    preferences="Préférences",
)

WORDS: Final = Words(
    tag="fr",
    own_name="Français",
    subscription=_SUBSCRIPTION,
    months=(
        "janvier",
        "février",
        "mars",
        "avril",
        "mai",
        "juin",
        "juillet",
        "août",
        "septembre",
        "octobre",
        "novembre",
        "décembre",
    ),
    short=("janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc."),
    moment_form="{day} {short} {year} à {time} UTC",
    date_form="{day} {short} {year}",
    month_form="{month} {year}",
    point=",",
    percent="{}\N{NARROW NO-BREAK SPACE}%",
    comma=", ",
    shown={
        "operational": "Opérationnel",
        "degraded_performance": "Performances réduites",
        "partial_outage": "Panne partielle",
        "major_outage": "Panne majeure",
        "maintenance": "En maintenance",
        "unknown": "Non mesuré",
    },
    overall={
        "operational": "Tous les systèmes sont opérationnels",
        "degraded_performance": "Certains systèmes sont lents",
        "partial_outage": "Certains systèmes rencontrent des problèmes",
        "major_outage": "Une panne majeure est en cours",
        "maintenance": "Une maintenance est en cours",
        "unknown": "Aucune mesure pour le moment",
    },
    phases={
        "investigating": "Analyse en cours",
        "identified": "Cause identifiée",
        "monitoring": "Sous surveillance",
        "resolved": "Résolu",
    },
    planned_phases={
        "investigating": "Planifiée",
        "identified": "En cours",
        "monitoring": "Vérification",
        "resolved": "Terminée",
    },
    title="Statut de {name}",
    history_title="Incidents de {name}",
    skip="Aller au statut",
    now="En ce moment",
    planned="Maintenance planifiée",
    systems="Systèmes",
    recent="Les deux dernières semaines",
    incidents="Incidents",
    no_incidents="Il n’y a eu aucun incident.",
    all_incidents="Tous les incidents",
    newer="Plus récents",
    older="Plus anciens",
    back="État actuel",
    empty="Il n’y a encore rien sur cette page.",
    from_on="À partir du {start}",
    from_to="Du {start} au {end}",
    affects="Concerne {names}",
    unmeasured="Non mesuré depuis le {since}",
    uptime="Disponibilité des 90 derniers jours\N{NO-BREAK SPACE}: {share}",
    up="{share} de disponibilité",
    no_data="aucune donnée",
    days_ago="Il y a 90 jours",
    today="Aujourd’hui",
    span="du {since} au {until}",
    response="Temps de réponse",
    response_said="{mean} ms en moyenne, {highest} ms au plus",
    hours_ago="Il y a 24 heures",
    just_now="Maintenant",
    as_of="Mise à jour\N{NO-BREAK SPACE}: {at}",
    stale="Cette page ne peut pas être actualisée pour le moment\N{NO-BREAK SPACE}; "
    "elle montre le dernier état connu.",
    calendar="Calendrier",
    subscribe="S’abonner",
    private="Cette page est privée",
    password="Mot de passe",  # noqa: S106 - a word, not a secret
    enter="Afficher le statut",
    wrong="Ce n’est pas le mot de passe.",
    too_often="Trop de tentatives. Veuillez patienter quelques minutes.",
    missing="Il n’y a pas de page de statut ici",
    language="Langue",
    zone="Fuseau horaire",
    own_zone="Votre fuseau horaire",
    apply="Appliquer",
)
