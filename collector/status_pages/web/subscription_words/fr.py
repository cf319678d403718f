"""French."""

from typing import Final

from collector.status_pages.web.subscription_words.words import SubscriptionWords

WORDS: Final = SubscriptionWords(
    subscribe="S’abonner",
    subscribe_text=(
        "Soyez informé des incidents et des maintenances par e-mail. Nous envoyons un lien pour "
        "confirmer l’adresse."
    ),
    address="Adresse e-mail",
    bad_address="Ce n’est pas une adresse e-mail : elle ressemble à name@example.com.",
    sent="Consultez votre boîte de réception",
    sent_text=(
        "Si {address} peut recevoir un e-mail, il est en route. Suivez le lien qu’il contient "
        "dans les 48 heures."
    ),
    confirm="Confirmer l’abonnement",
    confirm_subject="Confirmez votre abonnement à {name}",
    confirm_text="{address} doit être informée des incidents et des maintenances de {name}.",
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
    leave_text="{address} ne doit plus rien recevoir de {name}.",
    left="Vous êtes désabonné",
    left_text="Plus rien n’est envoyé à {address}.",
    gone="Cet abonnement est terminé",
    status="État",
    affects="Concerne",
    planned_for="Prévu pour",
    show_page="Afficher la page d’état",
    why="Vous recevez cet e-mail parce que vous êtes abonné à {name}.",
    preferences="Préférences",
)
