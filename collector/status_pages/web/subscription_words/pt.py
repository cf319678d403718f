"""Portuguese."""

from typing import Final

from collector.status_pages.web.subscription_words.words import SubscriptionWords

WORDS: Final = SubscriptionWords(
    subscribe="Assinar",
    subscribe_text=(
        "Saiba de incidentes e manutenções por e-mail. Enviamos um link para confirmar o endereço."
    ),
    address="Endereço de e-mail",
    bad_address="Isto não é um endereço de e-mail: ele é como name@example.com.",
    sent="Veja o seu e-mail",
    sent_text=(
        "Se um e-mail puder chegar a {address}, ele está a caminho. Siga o link nele dentro de 48 horas."
    ),
    confirm="Confirmar a assinatura",
    confirm_subject="Confirme a sua assinatura de {name}",
    confirm_text="{address} receberá avisos de incidentes e manutenções de {name}.",
    confirm_press="Confirmar",
    confirm_mail=(
        "Alguém pediu que este endereço receba avisos de incidentes e manutenções de {name}. Se "
        "foi você, siga o link e pressione o botão dentro de 48 horas. Se não foi, não faça nada."
    ),
    confirm_mail_press="Confirmar a assinatura",
    confirm_why="Este e-mail foi enviado porque o endereço foi indicado para assinar {name}.",
    confirmed="Assinatura feita",
    confirmed_text="A partir de agora {address} recebe avisos de incidentes e manutenções.",
    over="Este link expirou",
    over_text="Ele valia por 48 horas. Assine outra vez para receber outro.",
    known="Já existe uma assinatura",
    known_subject="A sua assinatura de {name}",
    known_mail=(
        "Alguém pediu que este endereço receba avisos de incidentes e manutenções de {name}. Ele já recebe."
    ),
    known_press="Ver a assinatura",
    manage="A sua assinatura",
    manage_text="O que {address} recebe",
    incidents="Incidentes",
    maintenance="Manutenções",
    components="Sistemas",
    components_text="Se nenhum for escolhido, recebe avisos de todos.",
    save="Salvar",
    saved="Salvo.",
    leave="Cancelar a assinatura",
    leave_text="{address} não receberá mais nada de {name}.",
    left="Assinatura cancelada",
    left_text="Nada mais é enviado para {address}.",
    gone="Esta assinatura terminou",
    status="Estado",
    affects="Afeta",
    planned_for="Previsto para",
    show_page="Ver a página de status",
    why="Recebe este e-mail porque assinou {name}.",
    preferences="Preferências",
)
