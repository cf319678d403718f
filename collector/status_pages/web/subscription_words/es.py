"""Spanish."""

from typing import Final

from collector.status_pages.web.subscription_words.words import SubscriptionWords

WORDS: Final = SubscriptionWords(
    subscribe="Suscribirse",
    subscribe_text=(
        "Entérese de incidentes y mantenimientos por correo. Enviamos un enlace para confirmar la dirección."
    ),
    address="Dirección de correo",
    bad_address="Esto no es una dirección de correo: es como name@example.com.",
    sent="Mire su correo",
    sent_text=(
        "Si un correo puede llegar a {address}, está en camino. Siga el enlace que contiene en un"
        " plazo de 48 horas."
    ),
    confirm="Confirmar la suscripción",
    confirm_subject="Confirme su suscripción a {name}",
    confirm_text="{address} recibirá avisos de incidentes y mantenimientos de {name}.",
    confirm_press="Confirmar",
    confirm_mail=(
        "Alguien ha pedido que esta dirección reciba avisos de incidentes y mantenimientos de "
        "{name}. Si fue usted, siga el enlace y pulse allí el botón en un plazo de 48 horas. Si "
        "no, no haga nada."
    ),
    confirm_mail_press="Confirmar la suscripción",
    confirm_why=("Este correo se envió porque la dirección se introdujo para suscribirse a {name}."),
    confirmed="Se ha suscrito",
    confirmed_text="Desde ahora {address} recibe avisos de incidentes y mantenimientos.",
    over="Este enlace ha caducado",
    over_text="Era válido durante 48 horas. Suscríbase de nuevo para recibir otro.",
    known="Ya está suscrito",
    known_subject="Su suscripción a {name}",
    known_mail=(
        "Alguien ha pedido que esta dirección reciba avisos de incidentes y mantenimientos de "
        "{name}. Ya los recibe."
    ),
    known_press="Ver la suscripción",
    manage="Su suscripción",
    manage_text="Lo que recibe {address}",
    incidents="Incidentes",
    maintenance="Mantenimientos",
    components="Sistemas",
    components_text="Si no elige ninguno, recibe avisos de todos.",
    save="Guardar",
    saved="Guardado.",
    leave="Cancelar la suscripción",
    leave_text="{address} no recibirá nada más de {name}.",
    left="Ha cancelado la suscripción",
    left_text="No se envía nada más a {address}.",
    gone="Esta suscripción ha terminado",
    status="Estado",
    affects="Afecta a",
    planned_for="Previsto para",
    show_page="Ver la página de estado",
    why="Recibe este correo porque se suscribió a {name}.",
    preferences="Preferencias",
)
