"""Notifications of Uptime Kuma as alert channels."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from collector.importers.core.channels import (
    ChannelMaker,
    ChannelSettings,
    Config,
    by_apprise,
    email,
    webhook_method,
)
from collector.importers.core.draft import Body, Draft
from collector.importers.core.report import Origin
from collector.importers.core.values import (
    comma_separated,
    drop_empty,
    key,
    mapping,
    read_json,
    text,
    truth,
    url_parts,
    whole,
)

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
    config = read_json(row.get("config"))
    return config if isinstance(config, dict) else row


def _email(made: Draft, name: str, config: Config, reasons: list[str]) -> ChannelSettings:
    del name
    listed = [
        part for field in ("smtpTo", "smtpCC", "smtpBCC") for part in comma_separated(config.get(field))
    ]
    if any(text(config.get(field)) for field in ("customSubject", "customBody")):
        reasons.append("its own subject and body are not carried")
    return email(made, [match[1] if (match := _ADDRESS.search(part)) else part for part in listed])


def _telegram(made: Draft, name: str, config: Config, reasons: list[str]) -> ChannelSettings:
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


def _discord(made: Draft, name: str, config: Config, reasons: list[str]) -> ChannelSettings:
    if text(config.get("discordUsername")) or text(config.get("discordPrefixMessage")):
        reasons.append("user name and prefix of its messages are not carried")
    return "discord", {"webhookUrl": made.secret(text(config.get("discordWebhookUrl")), name, "url")}


def _slack(made: Draft, name: str, config: Config, reasons: list[str]) -> ChannelSettings:
    del reasons
    settings: Body = {"webhookUrl": made.secret(text(config.get("slackwebhookURL")), name, "url")}
    settings["channel"] = text(config.get("slackchannel"))
    if truth(config.get("slackchannelnotify")):
        settings["mentions"] = ["channel"]
    return "slack", drop_empty(settings)


def _webhook(made: Draft, name: str, config: Config, reasons: list[str]) -> ChannelSettings:
    reasons.append("its body is Tocsin's, not Kuma's: the receiver must be changed")
    headers = mapping(read_json(config.get("webhookAdditionalHeaders")))
    settings: Body = {
        "url": made.secret(text(config.get("webhookURL")), name, "url"),
        "method": webhook_method(text(config.get("httpMethod"))),
        "headers": made.secret_headers(name, headers),
    }
    return "webhook", drop_empty(settings)


def _pagerduty(made: Draft, name: str, config: Config, reasons: list[str]) -> ChannelSettings:
    del reasons
    return "pagerduty", {
        "integrationKey": made.secret(text(config.get("pagerdutyIntegrationKey")), name, "key")
    }


def _opsgenie(made: Draft, name: str, config: Config, reasons: list[str]) -> ChannelSettings:
    del reasons
    settings: Body = {"apiKey": made.secret(text(config.get("opsgenieApiKey")), name, "key")}
    if text(config.get("opsgenieRegion")) == "eu":
        settings["apiUrl"] = "https://api.eu.opsgenie.com"
    priority = whole(config.get("opsgeniePriority"))
    if priority and 1 <= priority <= 5:
        settings["priority"] = f"P{priority}"
    return "opsgenie", settings


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


_TYPES: Final[Mapping[str, ChannelMaker]] = {
    "smtp": _email,
    "telegram": _telegram,
    "discord": _discord,
    "slack": _slack,
    "webhook": _webhook,
    "PagerDuty": _pagerduty,
    "Opsgenie": _opsgenie,
    "ntfy": by_apprise(_ntfy),
    "gotify": by_apprise(_gotify),
    "pushover": by_apprise(_pushover),
    "matrix": by_apprise(_matrix),
    "apprise": by_apprise(_url_of("appriseURL")),
    "teams": by_apprise(_url_of("webhookUrl")),
    "mattermost": by_apprise(_url_of("mattermostWebhookUrl")),
    "GoogleChat": by_apprise(_url_of("googleChatWebhookURL")),
    "rocket.chat": by_apprise(_url_of("rocketwebhookURL")),
}
