"""The settings of each role; setting_table.py says how each is parsed."""

import argparse
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from pathlib import Path
from typing import Any, Final, TypeVar

from shared import arguments
from shared.arguments import BARE
from shared.errors import BadSettings
from shared.net import Network
from shared.setting_table import DEMO_WORLD, TABLE, show

PREFIX: Final = "TOCSIN_"
_KEY: Final = re.compile(r"""\s*["']?([\w-]+)["']?\s*=""")


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseSettings:
    """For operator commands: which database."""

    data_dir: Path
    database_url: str | None
    log_format: str
    log_level: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorSettings:
    """For operator commands that also touch secrets."""

    data_dir: Path
    database_url: str | None
    secret_key: str | None
    log_format: str
    log_level: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamSettings:
    """For the command that creates a team: also the settings that its warnings depend on."""

    data_dir: Path
    database_url: str | None
    secret_key: str | None
    allow_private_targets: bool
    log_format: str
    log_level: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CopySettings:
    """For the command that copies a status page: also the base of its links."""

    data_dir: Path
    database_url: str | None
    secret_key: str | None
    http_listen: str
    public_url: str
    log_format: str
    log_level: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredSettings:
    """For configuration as code: which database, or which service through its API."""

    data_dir: Path
    database_url: str | None
    secret_key: str | None
    http_listen: str
    public_url: str
    hosts: tuple[str, ...] | None
    min_interval: int
    max_monitors: int | None
    max_channels: int | None
    rpc_urls: str | None
    url: str | None
    token: str | None
    log_format: str
    log_level: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """For the commands that use the API: which service."""

    url: str | None
    token: str | None
    log_format: str
    log_level: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectorSettings:
    data_dir: Path
    database_url: str | None
    http_listen: str
    grpc_listen: str
    grpc_names: tuple[str, ...] | None
    otlp_listen: str
    public_url: str
    hosts: tuple[str, ...] | None
    bootstrap_token: str | None
    admin_email: str
    secret_key: str | None
    plan: str
    rate_per_minute: int | None
    burst: int | None
    max_monitors: int | None
    max_channels: int | None
    max_streams: int | None
    mails_per_hour: int | None
    trusted_proxies: tuple[Network, ...]
    cors_origins: tuple[str, ...]
    rpc_urls: str | None
    deadman_url: str | None
    smtp_url: str | None
    mail_from: str | None
    confirm_addresses: bool
    oidc_issuer: str | None
    oidc_client_id: str | None
    oidc_client_secret: str | None
    oidc_name: str
    allow_private_targets: bool
    retention_days: int
    rollup_retention_days: int
    min_interval: int
    demo: str
    workers: int
    log_format: str
    log_level: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeSettings:
    data_dir: Path
    collector: tuple[str, ...]
    join_token: str | None
    location: str | None
    locations: tuple[str, ...]  # more than one only under `tocsin up`
    stand_in: bool
    canaries: tuple[str, ...] | None
    max_concurrency: int
    metrics_listen: str | None
    allow_private_targets: bool
    workers: int
    log_format: str
    log_level: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UpSettings:
    """For all three processes."""

    data_dir: Path
    database_url: str | None
    http_listen: str
    grpc_listen: str
    grpc_names: tuple[str, ...] | None
    otlp_listen: str
    public_url: str
    hosts: tuple[str, ...] | None
    bootstrap_token: str | None
    admin_email: str
    secret_key: str | None
    plan: str
    rate_per_minute: int | None
    burst: int | None
    max_monitors: int | None
    max_channels: int | None
    max_streams: int | None
    mails_per_hour: int | None
    trusted_proxies: tuple[Network, ...]
    cors_origins: tuple[str, ...]
    rpc_urls: str | None
    deadman_url: str | None
    smtp_url: str | None
    mail_from: str | None
    confirm_addresses: bool
    oidc_issuer: str | None
    oidc_client_id: str | None
    oidc_client_secret: str | None
    oidc_name: str
    allow_private_targets: bool
    retention_days: int
    rollup_retention_days: int
    min_interval: int
    demo: str
    locations: tuple[str, ...] = ("local",)
    stand_in: bool = True
    canaries: tuple[str, ...] | None
    max_concurrency: int
    metrics_listen: str | None
    workers: int
    log_format: str
    log_level: str


Settings = TypeVar(
    "Settings",
    bound=DatabaseSettings
    | OperatorSettings
    | TeamSettings
    | CopySettings
    | DeclaredSettings
    | ClientSettings
    | CollectorSettings
    | ProbeSettings
    | UpSettings,
)
Check = Callable[[Mapping[str, Any]], Iterable[str]]


def load(
    kind: type[Settings],
    argv: Sequence[str],
    environ: Mapping[str, str] | None = None,
    *,
    check: Check = lambda _: (),
) -> tuple[Settings, list[str]]:
    """A role's settings, and warnings. Flags override variables, variables override the file.

    Raises BadSettings, which names every invalid setting.
    """
    parser = argparse.ArgumentParser(prog="tocsin", allow_abbrev=False)
    _, settings, warnings = load_with(parser, kind, argv, environ, check=check)
    return settings, warnings


def load_with(
    parser: argparse.ArgumentParser,
    kind: type[Settings],
    argv: Sequence[str],
    environ: Mapping[str, str] | None = None,
    *,
    check: Check = lambda _: (),
) -> tuple[argparse.Namespace, Settings, list[str]]:
    """As `load`, for a command with its own arguments, which come first.

    *check* returns further errors of the valid values and arguments, given by name.
    """
    given = arguments.parse(parser, {field.name: _usual(field) for field in fields(kind)}, argv)
    faults, flags = given.faults, given.flags
    variables = _variables(os.environ if environ is None else environ)
    path = flags.pop("config", None)
    if flags.get("demo") == BARE and variables.get("demo", "").lower() == DEMO_WORLD:
        del flags["demo"]  # the switch says that there is one, the variable which
    file, places = _file(path, faults)
    values = dict(_read(kind, [flags, variables, file], faults, places))
    faults += [*_misfits(values), *check({**vars(given.own), **values})]
    if faults:
        raise BadSettings("\n".join(faults))
    if "public_url" in values and values["public_url"] is None:
        values["public_url"] = f"http://{values['http_listen']}"
    return given.own, kind(**values), [*_odd(variables, PREFIX), *_odd(file, "")]


def environment(kind: type[Any], settings: Any, **more: str) -> dict[str, str]:
    """The environment for a child of role *kind*: the current one, overridden by *settings*."""
    names = {each.name for each in fields(kind)} & {each.name for each in fields(settings)}
    told = {name: show(value) for name in names if (value := getattr(settings, name)) is not None}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    return kept | {PREFIX + name.upper(): value for name, value in (told | more).items()}


def variables() -> Mapping[str, str]:
    """The environment, for files that refer to its variables."""
    return os.environ


def replace_environment(variables: Mapping[str, str]) -> None:
    """Replace the environment of this process, which was started before its settings were known."""
    os.environ.clear()
    os.environ.update(variables)


def quiet_libraries() -> None:
    """Suppress gRPC's own log lines, such as for a port in use; call it before the import."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")


def _read(
    kind: type[Any], sources: list[dict[str, str]], faults: list[str], places: Mapping[str, str]
) -> Iterator[tuple[str, Any]]:
    for field in fields(kind):
        source = next((each for each in sources if field.name in each), {})
        text = source.get(field.name)
        setting = TABLE[field.name]
        if text is None and field.default is not MISSING:
            yield field.name, field.default
            continue
        if text is None:
            text = setting.default()
        try:
            yield field.name, None if text is None else setting.read(text)
        except ValueError as error:
            place = f" ({places[field.name]})" if source is sources[-1] and field.name in places else ""
            faults.append(f"{PREFIX}{field.name.upper()}: {error}{place}")


def _usual(field: Field[Any]) -> str | None:
    """The default as a human-readable text."""
    usual = TABLE[field.name].usual
    if field.default is not MISSING:
        return show(field.default)
    return usual if isinstance(usual, str) else None


def _misfits(values: Mapping[str, Any]) -> Iterator[str]:
    """Errors of combinations of settings; an unreadable one counts as given."""
    if "secret_key" in values and values["secret_key"] is None and values.get("database_url", "unreadable"):
        yield "TOCSIN_SECRET_KEY: is required with TOCSIN_DATABASE_URL"
    if values.get("demo") == DEMO_WORLD and values.get("workers", 1) != 1:
        yield "TOCSIN_DEMO: a world is filled and kept alive by one collector; set TOCSIN_WORKERS=1"
    oidc = [values.get(name, "unreadable") for name in ("oidc_issuer", "oidc_client_id")]
    if "oidc_client_id" in values and (oidc[0] is None) != (oidc[1] is None):
        yield "TOCSIN_OIDC_ISSUER and TOCSIN_OIDC_CLIENT_ID: are set together or not at all"


def _variables(environ: Mapping[str, str]) -> dict[str, str]:
    return {
        name.removeprefix(PREFIX).lower(): text
        for name, text in environ.items()
        if name.startswith(PREFIX) and text != ""
    }


def _file(path: str | None, faults: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """The settings of a TOML file, and the place of each in it."""
    if path is None:
        return {}, {}
    try:
        lines = Path(path).read_text(encoding="utf-8")
        content = tomllib.loads(lines)
    except (OSError, ValueError) as error:
        faults.append(f"--config: {path} cannot be read: {error}")
        return {}, {}
    tables = [key for key, value in content.items() if isinstance(value, dict)]
    faults += [f"--config: {path}: [{key}]: settings stand outside of tables" for key in tables]
    given = {_plain(key): show(value) for key, value in content.items() if key not in tables}
    found = enumerate(map(_KEY.match, lines.splitlines()), 1)
    places = {_plain(key[1]): f"{path}, line {number}" for number, key in found if key}
    return {name: text for name, text in given.items() if text != ""}, places


def _plain(key: str) -> str:
    return key.lower().replace("-", "_").removeprefix(PREFIX.lower())


def _odd(given: Iterable[str], prefix: str) -> Iterator[str]:
    """Warnings about settings without effect."""
    for name in given:
        text = PREFIX + name.upper() if prefix else name
        if name not in TABLE:
            names = [PREFIX + each.upper() for each in TABLE] if prefix else list(TABLE)
            yield f"{text} is no setting{arguments.meant(text, names)}"
