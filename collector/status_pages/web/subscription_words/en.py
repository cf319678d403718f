"""English."""

from typing import Final

from collector.status_pages.web.subscription_words.words import SubscriptionWords

WORDS: Final = SubscriptionWords(
    subscribe="Subscribe",
    subscribe_text="Hear of incidents and maintenance by mail. We send a link to confirm the address.",
    address="Mail address",
    bad_address="This is no mail address: it looks like name@example.com.",
    sent="Look into your mail box",
    sent_text="If a mail can reach {address}, it is on its way. Follow the link in it within 48 hours.",
    confirm="Confirm your subscription",
    confirm_subject="Confirm your subscription to {name}",
    confirm_text="{address} is to hear of incidents and maintenance by {name}.",
    confirm_press="Confirm",
    confirm_mail="Somebody asked to have this address told of incidents and maintenance by {name}. If "
    "that was you, follow the link and press the button there within 48 hours. If it was not, do nothing.",
    confirm_mail_press="Confirm the subscription",
    confirm_why="This was sent because the address was entered to subscribe to {name}.",
    confirmed="You have subscribed",
    confirmed_text="{address} hears of incidents and maintenance from now on.",
    over="This link is over",
    over_text="It was good for 48 hours. Subscribe once more to get another one.",
    known="You have subscribed already",
    known_subject="Your subscription to {name}",
    known_mail="Somebody asked to have this address told of incidents and maintenance by {name}. "
    "It is already.",
    known_press="Show the subscription",
    manage="Your subscription",
    manage_text="What {address} hears of",
    incidents="Incidents",
    maintenance="Maintenance",
    components="Systems",
    components_text="Where none is chosen, you hear of all.",
    save="Save",
    saved="Saved.",
    leave="Unsubscribe",
    leave_text="{address} is to hear no more of {name}.",
    left="You have unsubscribed",
    left_text="No more mails are sent to {address}.",
    gone="This subscription has ended",
    status="Status",
    affects="Affects",
    planned_for="Planned for",
    show_page="Show the status page",
    why="You get this because you subscribed to {name}.",
    preferences="What you hear of",
)
