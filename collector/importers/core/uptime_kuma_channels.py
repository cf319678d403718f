"""Notifications of Uptime Kuma as alert channels."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from collector.importers.core.draft import Body, Draft
from collector.importers.core.report import Origin
from collector.importers.core.values import drop_empty, key, text, truth, url_parts, whole

Config = Mapping[str, Any]

_ADDRESS: Final = re.compile(r"<([^<>]+)>")


def add(made: Draft, notifications: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Add the channels and return their keys by Kuma's id."""
    keys: dict[str, str] = {}
    for row in notifications:
        config = _config(row)
        id_, type_ = text(row.get("id")), text(config.get("type"))
        name = text(row.get("name")) or text(config.get("name")) or f"Notification {id_}"
        origin = Origin("channel", name, f"notification#{id_}")
        make, reasons = _TYPES.get(type_), list[str]()
        if not truth(row.get("active", True)):
            made.report.leave_out(origin, "is switched off there")
        elif make is None:
            made.report.leave_out(origin, f"notifications of type {type_ or 'none'} have no counterpart")
        else:
            kind, settings = make(made, name, config, reasons)
            body: Body = {"name": name, "type": kind, "config": settings}
            keys[id_] = made.add("channels", origin, f"kuma-channel-{key(id_)}", body, reasons)
    return keys


def _config(row: Mapping[str, Any]) -> Config:
    config = row.get("config")
    if isinstance(config, str):
        try:
            config = json.loads(config)
        except (ValueError, RecursionError):
            config = None
    return config if isinstance(config, dict) else row


Made = tuple[str, Body]


def _email(made: Draft, name: str, config: Config, reasons: list[str]) -> Made:
    del name
    made.report.say("mail goes by the server that TOCSIN_SMTP_URL names, not by the one of the source")
    listed = [
        part.strip()
        for field in ("smtpTo", "smtpCC", "smtpBCC")
        for part in text(config.get(field)).split(",")
        if part.strip()
    ]
    if any(text(config.get(field)) for field in ("customSubject", "customBody")):
        reasons.append("its own subject and body are not carried")
    addresses = [match[1] if (match := _ADDRESS.search(part)) else part for part in listed]
    return "email", {"recipients": list(dict.fromkeys(addresses))}


def _telegram(made: Draft, name: str, config: Config, reasons: list[str]) -> Made:
    if text(config.get("telegramMessageThreadID")) or truth(config.get("telegramSendSilently")):
        reasons.append("thread and silence of its messages are not carried")
    settings: Body = {
        "botToken": made.secret(text(config.get("telegramBotToken")), name, "bot_token"),
        "chatId": text(config.get("telegramChatID")),
    }
    server = text(config.get("telegramServerUrl"))
    if server and server.rstrip("/") != "https://api.telegram.org":
        settings["apiUrl"] = server.rstrip("/")
    return "telegram", settings


def _discord(made: Draft, name: str, config: Config, reasons: list[str]) -> Made:
    if text(config.get("discordUsername")) or text(config.get("discordPrefixMessage")):
        reasons.append("user name and prefix of its messages are not carried")
    return "discord", {"webhookUrl": made.secret(text(config.get("discordWebhookUrl")), name, "url")}


def _slack(made: Draft, name: str, config: Config, reasons: list[str]) -> Made:
    del reasons
    settings: Body = {"webhookUrl": made.secret(text(config.get("slackwebhookURL")), name, "url")}
    settings["channel"] = text(config.get("slackchannel"))
    if truth(config.get("slackchannelnotify")):
        settings["mentions"] = ["channel"]
    return "slack", drop_empty(settings)


def _webhook(made: Draft, name: str, config: Config, reasons: list[str]) -> Made:
    reasons.append("its body is Tocsin's, not Kuma's: the receiver must be changed")
    headers = config.get("webhookAdditionalHeaders")
    try:
        given = json.loads(headers) if isinstance(headers, str) and headers.strip() else headers
    except (ValueError, RecursionError):
        given = None
    settings: Body = {"url": made.secret(text(config.get("webhookURL")), name, "url")}
    method = text(config.get("httpMethod")).upper()
    if method in {"PUT", "PATCH", "GET"}:
        settings["method"] = method
    if isinstance(given, dict):
        settings["headers"] = {field: made.secret(text(value), name, field) for field, value in given.items()}
    return "webhook", drop_empty(settings)


def _pagerduty(made: Draft, name: str, config: Config, reasons: list[str]) -> Made:
    del reasons
    return "pagerduty", {
        "integrationKey": made.secret(text(config.get("pagerdutyIntegrationKey")), name, "key")
    }


def _opsgenie(made: Draft, name: str, config: Config, reasons: list[str]) -> Made:
    del reasons
    settings: Body = {"apiKey": made.secret(text(config.get("opsgenieApiKey")), name, "key")}
    if text(config.get("opsgenieRegion")) == "eu":
        settings["apiUrl"] = "https://api.eu.opsgenie.com"
    priority = whole(config.get("opsgeniePriority"))
    if priority and 1 <= priority <= 5:
        settings["priority"] = f"P{priority}"
    return "opsgenie", settings


def _by_apprise(make: Callable[[Config], str]) -> Callable[[Draft, str, Config, list[str]], Made]:
    """Return a maker of a channel of type apprise from the URL that *make* returns."""

    def made_(made: Draft, name: str, config: Config, reasons: list[str]) -> Made:
        reasons.append("is sent by Apprise: the extra tocsin[apprise] must be installed")
        return "apprise", {"urls": [made.secret(make(config), name, "url")]}

    return made_


def _server(url: str, scheme: str, sign_in: str = "") -> str:
    """Return ``scheme[s]://sign-in@host:port/path`` of a service's URL; *sign_in* ends with the ``@``."""
    parts = url_parts(url if "://" in url else f"https://{url}")
    return (
        f"{scheme}{'s' if parts.scheme == 'https' else ''}://{sign_in}{parts.netloc}{parts.path.rstrip('/')}"
    )


def _ntfy(config: Config) -> str:
    by = text(config.get("ntfyAuthenticationMethod"))
    sign_in = ""
    if by == "accessToken":
        sign_in = f"{quote(text(config.get('ntfyaccesstoken')), safe='')}@"
    elif text(config.get("ntfyusername")):
        user, password = text(config.get("ntfyusername")), text(config.get("ntfypassword"))
        sign_in = f"{quote(user, safe='')}:{quote(password, safe='')}@"
    server = _server(text(config.get("ntfyserverurl")) or "https://ntfy.sh", "ntfy", sign_in)
    return f"{server}/{quote(text(config.get('ntfytopic')), safe='')}"


def _gotify(config: Config) -> str:
    server = _server(text(config.get("gotifyserverurl")), "gotify")
    return f"{server}/{text(config.get('gotifyapplicationToken'))}"


def _pushover(config: Config) -> str:
    device = text(config.get("pushoverdevice"))
    url = f"pover://{text(config.get('pushoveruserkey'))}@{text(config.get('pushoverapptoken'))}"
    return f"{url}/{quote(device, safe='')}" if device else url


def _matrix(config: Config) -> str:
    sign_in = f"{quote(text(config.get('accessToken')), safe='')}@"
    server = _server(text(config.get("homeserverUrl")), "matrix", sign_in)
    return f"{server}/{quote(text(config.get('internalRoomId')), safe='')}"


def _url_of(field: str) -> Callable[[Config], str]:
    """Return the field as it is: Apprise knows the URLs of these services."""
    return lambda config: text(config.get(field)).replace(",", " ").split(" ")[0]


_TYPES: Final[Mapping[str, Callable[[Draft, str, Config, list[str]], Made]]] = {
    "smtp": _email,
    "telegram": _telegram,
    "discord": _discord,
    "slack": _slack,
    "webhook": _webhook,
    "PagerDuty": _pagerduty,
    "Opsgenie": _opsgenie,
    "ntfy": _by_apprise(_ntfy),
    "gotify": _by_apprise(_gotify),
    "pushover": _by_apprise(_pushover),
    "matrix": _by_apprise(_matrix),
    "apprise": _by_apprise(_url_of("appriseURL")),
    "teams": _by_apprise(_url_of("webhookUrl")),
    "mattermost": _by_apprise(_url_of("mattermostWebhookUrl")),
    "GoogleChat": _by_apprise(_url_of("googleChatWebhookURL")),
    "rocket.chat": _by_apprise(_url_of("rocketwebhookURL")),
}
