"""Settings: three sources, their precedence, and how bad values are reported."""

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest

from shared.errors import BadSettings
from shared.setting_table import TABLE, address
from shared.settings import (
    ClientSettings,
    CollectorSettings,
    DatabaseSettings,
    DeclaredSettings,
    ProbeSettings,
    Settings,
    UpSettings,
    environment,
    load,
)
from shared.tokens import new_token

# A probe under `tocsin up` is told these by its parent.
OF_PROBES_ALONE = {"collector", "location", "join_token"}
OF_COMMANDS_ALONE = {"url", "token"}
KEY = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="


def read(kind: type[Settings], *argv: str, **variables: str) -> Settings:
    return load(kind, argv, {f"TOCSIN_{name.upper()}": text for name, text in variables.items()})[0]


def faults(kind: type[Settings], *argv: str, **variables: str) -> list[str]:
    with pytest.raises(BadSettings) as caught:
        read(kind, *argv, **variables)
    return str(caught.value).splitlines()


def test_defaults_are_those_of_the_manual() -> None:
    settings = read(CollectorSettings)

    assert settings.data_dir == Path("./var")
    assert settings.database_url is None
    assert settings.http_listen == "127.0.0.1:8080"
    assert settings.grpc_listen == "127.0.0.1:7070"
    assert settings.public_url == "http://127.0.0.1:8080"
    assert settings.admin_email == "admin@localhost"
    assert settings.plan == "pro"
    assert settings.allow_private_targets is True
    assert settings.retention_days == 400
    assert settings.min_interval == 1


def test_only_up_stands_in_by_default() -> None:
    assert read(UpSettings).stand_in is True
    assert read(UpSettings).locations == ("local",)
    assert read(ProbeSettings).stand_in is False


def test_a_setting_is_a_variable_a_flag_and_a_key_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "tocsin.toml"
    file.write_text('http_listen = "127.0.0.1:1003"\nretention_days = 7\nallow_private_targets = false\n')

    by_file = read(CollectorSettings, "--config", str(file))
    by_variable = read(CollectorSettings, "--config", str(file), http_listen="127.0.0.1:1002")
    by_flag = read(
        CollectorSettings,
        "--config",
        str(file),
        "--http-listen",
        "127.0.0.1:1001",
        http_listen="127.0.0.1:1002",
    )

    assert by_file.http_listen == "127.0.0.1:1003"
    assert (by_file.retention_days, by_file.allow_private_targets) == (7, False)
    assert by_variable.http_listen == "127.0.0.1:1002"
    assert by_flag.http_listen == "127.0.0.1:1001"
    assert by_flag.retention_days == 7


def test_a_list_may_be_a_list_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "tocsin.toml"
    file.write_text('TOCSIN_COLLECTOR = ["a.example.com:7070", "b.example.com:7070"]\n')

    by_file = read(ProbeSettings, "--config", str(file))
    by_variable = read(ProbeSettings, collector="a.example.com:7070, b.example.com:7070")

    assert by_file.collector == by_variable.collector == ("a.example.com:7070", "b.example.com:7070")


def test_an_empty_variable_is_not_set() -> None:
    assert read(CollectorSettings, plan="", database_url="").plan == "pro"


def test_a_switch_needs_no_value() -> None:
    assert read(UpSettings, "--demo").demo == "few"
    assert read(UpSettings, "--stand-in", "false").stand_in is False
    assert read(UpSettings).demo == "none"


@pytest.mark.parametrize(
    ("argv", "variable", "demo"),
    [
        (["--demo"], "world", "world"),
        (["--demo", "few"], "world", "few"),
        (["--demo=false"], "world", "none"),
        ([], "World", "world"),
        ([], "true", "few"),
        (["--demo"], "few", "few"),
    ],
)
def test_the_switch_alone_leaves_which_demonstration_to_the_variable(
    argv: list[str], variable: str, demo: str
) -> None:
    assert read(UpSettings, *argv, demo=variable).demo == demo


def test_all_bad_settings_are_told_at_once_by_name() -> None:
    lines = faults(
        CollectorSettings,
        "--retention-days",
        "none",
        "--no-such-thing",
        http_listen="8080",
        plan="gold",
        public_url="example.com",
        min_interval="0",
        allow_private_targets="maybe",
        database_url="mysql://example.com/x",
        secret_key="short",
        bootstrap_token="short",
        admin_email="nobody",
    )

    assert [line.partition(":")[0] for line in sorted(lines)] == [
        "--no-such-thing",
        "TOCSIN_ADMIN_EMAIL",
        "TOCSIN_ALLOW_PRIVATE_TARGETS",
        "TOCSIN_BOOTSTRAP_TOKEN",
        "TOCSIN_DATABASE_URL",
        "TOCSIN_HTTP_LISTEN",
        "TOCSIN_MIN_INTERVAL",
        "TOCSIN_PLAN",
        "TOCSIN_PUBLIC_URL",
        "TOCSIN_RETENTION_DAYS",
        "TOCSIN_SECRET_KEY",
    ]


def test_what_a_secret_setting_says_is_never_repeated() -> None:
    lines = faults(CollectorSettings, secret_key="k3y-of-mine", bootstrap_token="t0ken-of-mine")

    assert not [line for line in lines if "of-mine" in line]


def test_a_database_of_ones_own_needs_a_key_of_ones_own() -> None:
    lines = faults(CollectorSettings, database_url="postgresql://a@b/c")

    assert lines == ["TOCSIN_SECRET_KEY: is required with TOCSIN_DATABASE_URL"]


def test_a_world_is_filled_by_one_collector_alone() -> None:
    assert faults(UpSettings, demo="world", workers="2") == [
        "TOCSIN_DEMO: a world is filled and kept alive by one collector; set TOCSIN_WORKERS=1"
    ]
    assert read(CollectorSettings, database_url="postgresql://a@b/c", secret_key=KEY).secret_key == KEY
    assert read(DatabaseSettings, database_url="postgresql://a@b/c").database_url == "postgresql://a@b/c"


def test_a_database_s_missing_key_is_told_beside_a_database_that_cannot_be_read() -> None:
    lines = faults(CollectorSettings, database_url="mysql://a/b", oidc_client_id="tocsin")

    assert [line.partition(":")[0] for line in lines] == [
        "TOCSIN_DATABASE_URL",
        "TOCSIN_SECRET_KEY",
        "TOCSIN_OIDC_ISSUER and TOCSIN_OIDC_CLIENT_ID",
    ]


def test_a_list_of_no_keys_is_no_key() -> None:
    assert faults(CollectorSettings, secret_key=" , ") == ["TOCSIN_SECRET_KEY: must name at least one key"]


def test_what_a_role_demands_is_told_with_all_else_that_is_wrong() -> None:
    def demands(values: Mapping[str, Any]) -> Iterator[str]:
        yield f"demanded of {values['workers']}, {'plan' in values}"

    with pytest.raises(BadSettings) as caught:
        load(CollectorSettings, [], {"TOCSIN_PLAN": "gold"}, check=demands)

    first, second = str(caught.value).splitlines()
    assert first.startswith("TOCSIN_PLAN: ")
    assert second == "demanded of 1, False"


def test_a_bootstrap_token_with_the_prefix_needs_a_good_checksum() -> None:
    token = new_token()
    broken = token[:-1] + ("0" if token[-1] != "0" else "1")

    assert read(CollectorSettings, bootstrap_token=token).bootstrap_token == token
    assert read(CollectorSettings, bootstrap_token="any-sixteen-char").bootstrap_token == "any-sixteen-char"
    assert faults(CollectorSettings, bootstrap_token=broken)


def test_what_has_no_effect_is_warned_of() -> None:
    environ = {
        "TOCSIN_HTTP_LISTNE": "x:1",
        "TOCSIN_LOCATION": "x",
        "PATH": "x",
    }

    _, warnings = load(CollectorSettings, [], environ)

    assert warnings == ["TOCSIN_HTTP_LISTNE is no setting; did you mean TOCSIN_HTTP_LISTEN?"]


@pytest.mark.parametrize(
    "text",
    ["https://", "ftp://x/SEEDED", "https://x:SEEDED/", "https://x:99999/SEEDED", "https://[::1/SEEDED"],
)
def test_a_deadman_url_that_cannot_be_used_is_not_quoted(text: str) -> None:
    [fault] = faults(CollectorSettings, deadman_url=text)

    assert fault == "TOCSIN_DEADMAN_URL: must be an http or https URL"


def test_an_unreadable_file_is_a_bad_setting(tmp_path: Path) -> None:
    [text] = faults(CollectorSettings, "--config", str(tmp_path / "absent.toml"))

    assert text.startswith("--config: ")


def test_a_fault_in_a_file_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "tocsin.toml"
    file.write_text('plan = "free"\n\n"http-listen" = "8080"\nTOCSIN_WORKERS = 0\n')

    assert faults(CollectorSettings, "--config", str(file), "--burst", "x") == [
        f"TOCSIN_HTTP_LISTEN: must be host:port ({file}, line 3)",
        "TOCSIN_BURST: must be a whole number from 1 to 1000000000",
        f"TOCSIN_WORKERS: must be a whole number from 1 to 256 ({file}, line 4)",
    ]
    assert faults(CollectorSettings, "--config", str(file), http_listen="8080", workers="1") == [
        "TOCSIN_HTTP_LISTEN: must be host:port"
    ]


def test_settings_in_a_table_of_a_file_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "tocsin.toml"
    file.write_text('[tocsin]\nplan = "free"\n')

    assert faults(CollectorSettings, "--config", str(file)) == [
        f"--config: {file}: [tocsin]: settings stand outside of tables"
    ]


def test_a_child_reads_what_its_parent_was_told(tmp_path: Path) -> None:
    parent = read(UpSettings, "--demo", "--locations", "a,b", "--data-dir", str(tmp_path), plan="free")

    child, warnings = load(
        CollectorSettings,
        [],
        environment(CollectorSettings, parent, database_url="postgresql:///x", secret_key=KEY),
    )
    probe, more = load(ProbeSettings, [], environment(ProbeSettings, parent, collector="127.0.0.1:1"))

    assert (child.plan, child.demo, child.data_dir) == ("free", "few", tmp_path)
    assert (child.database_url, child.secret_key) == ("postgresql:///x", KEY)
    assert (probe.locations, probe.stand_in, probe.collector) == (("a", "b"), True, ("127.0.0.1:1",))
    assert not warnings
    assert not more


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        pytest.param("127.0.0.1:80", ("127.0.0.1", 80), id="an address"),
        pytest.param("[::1]:0", ("::1", 0), id="an address of version 6"),
        pytest.param("collector.example.com:7070", ("collector.example.com", 7070), id="a name"),
    ],
)
def test_addresses(text: str, parts: tuple[str, int]) -> None:
    assert address(text) == parts


@pytest.mark.parametrize("text", ["", "8080", ":80", "a:", "a:b", "a:70000", "::1:80", "a:٣"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(ValueError, match="must be"):
        address(text)


# The variables of the manual: who reads each, its default, a text and what that is, one that is refused.
MANUAL: list[tuple[str, tuple[type, ...], object, str, object, str]] = [
    ("data_dir", (CollectorSettings, ProbeSettings), Path("./var"), "/srv/t", Path("/srv/t"), ""),
    ("database_url", (CollectorSettings,), None, "postgresql://a,b/c", "postgresql://a,b/c", "mysql://a/b"),
    ("http_listen", (CollectorSettings,), "127.0.0.1:8080", "[::]:80", "[::]:80", "80"),
    ("grpc_listen", (CollectorSettings,), "127.0.0.1:7070", "0.0.0.0:1", "0.0.0.0:1", "a:b"),
    ("grpc_names", (CollectorSettings,), None, "a.example.com", ("a.example.com",), "a b"),
    ("otlp_listen", (CollectorSettings,), "127.0.0.1:4317", "0.0.0.0:1", "0.0.0.0:1", "4317"),
    ("public_url", (CollectorSettings,), "http://127.0.0.1:8080", "https://a/b/", "https://a/b", "ftp://a"),
    ("bootstrap_token", (CollectorSettings,), None, "a-long-enough-token", "a-long-enough-token", "short"),
    ("admin_email", (CollectorSettings,), "admin@localhost", "a@example.com", "a@example.com", "a"),
    ("secret_key", (CollectorSettings,), None, KEY, KEY, "short"),
    ("smtp_url", (CollectorSettings,), None, "smtp://a:25", "smtp://a:25", "http://a"),
    ("mail_from", (CollectorSettings,), None, "T <t@example.com>", "T <t@example.com>", "nobody"),
    ("oidc_issuer", (CollectorSettings,), None, "https://id.example.com", "https://id.example.com", "id"),
    ("oidc_client_id", (CollectorSettings,), None, "tocsin", "tocsin", ""),
    ("oidc_client_secret", (CollectorSettings,), None, "hush", "hush", ""),
    ("oidc_name", (CollectorSettings,), "single sign-on", "Example ID", "Example ID", ""),
    ("hosts", (CollectorSettings, DeclaredSettings), None, "a.example.com", ("a.example.com",), "a:1"),
    ("confirm_addresses", (CollectorSettings,), False, "true", True, "perhaps"),
    ("rpc_urls", (CollectorSettings,), None, "eth=https://a", "eth=https://a", "https://a"),
    ("deadman_url", (CollectorSettings,), None, "https://a/b?c", "https://a/b?c", "a/b"),
    ("plan", (CollectorSettings,), "pro", "FREE", "free", "gold"),
    ("rate_per_minute", (CollectorSettings,), None, "5000", 5000, "0"),
    ("burst", (CollectorSettings,), None, "1", 1, "-1"),
    ("max_monitors", (CollectorSettings, DeclaredSettings), None, "50", 50, "0"),
    ("max_channels", (CollectorSettings, DeclaredSettings), None, "50", 50, "0"),
    ("max_streams", (CollectorSettings,), None, "50", 50, "0"),
    ("mails_per_hour", (CollectorSettings,), None, "50", 50, "0"),
    ("allow_private_targets", (CollectorSettings, ProbeSettings), True, "no", False, "maybe"),
    (
        "cors_origins",
        (CollectorSettings,),
        (),
        "https://App.example.com:443/, http://[::1]:3000",
        ("https://app.example.com", "http://[::1]:3000"),
        "https://app.example.com/console",
    ),
    ("trusted_proxies", (CollectorSettings,), (), "10.0.0.0/8", (IPv4Network("10.0.0.0/8"),), "10.0.0.1/8"),
    ("retention_days", (CollectorSettings,), 400, "7", 7, "0"),
    ("rollup_retention_days", (CollectorSettings,), 1095, "30", 30, "x"),
    ("min_interval", (CollectorSettings,), 1, "10", 10, "1.5"),
    ("workers", (CollectorSettings, ProbeSettings), 1, "2", 2, "0"),
    ("log_format", (CollectorSettings, ProbeSettings), None, "json", "json", "xml"),
    ("log_level", (CollectorSettings, ProbeSettings), "info", "DEBUG", "debug", "loud"),
    ("collector", (ProbeSettings,), ("127.0.0.1:7070",), "a:1,b:2", ("a:1", "b:2"), "a"),
    ("location", (ProbeSettings,), None, "eu-1", "eu-1", "EU 1"),
    ("join_token", (ProbeSettings,), None, "", None, "nonsense"),
    ("canaries", (ProbeSettings,), None, "192.0.2.1", ("192.0.2.1",), "a b"),
    ("max_concurrency", (ProbeSettings,), 1000, "10", 10, "0"),
    ("url", (ClientSettings, DeclaredSettings), None, "https://a/b/", "https://a/b", "ftp://a"),
    ("token", (ClientSettings, DeclaredSettings), None, "a-long-enough-one", "a-long-enough-one", "short"),
    ("metrics_listen", (ProbeSettings,), None, "127.0.0.1:1", "127.0.0.1:1", "1"),
    ("locations", (UpSettings,), ("local",), "a,b", ("a", "b"), "A"),
    ("stand_in", (UpSettings,), True, "false", False, "perhaps"),
]


# What is taken only with another.
NEEDS: dict[str, dict[str, str]] = {
    "database_url": {"secret_key": KEY},
    "oidc_issuer": {"oidc_client_id": "tocsin"},
    "oidc_client_id": {"oidc_issuer": "https://id.example.com"},
}


def _also(name: str) -> list[type]:
    """Whose settings it is beside: `tocsin up` has nearly all."""
    return [] if name in OF_PROBES_ALONE | OF_COMMANDS_ALONE else [UpSettings]


def test_the_manual_s_settings_are_all_known_and_nothing_else_is_but_the_demo() -> None:
    assert {row[0] for row in MANUAL} | {"demo"} == set(TABLE)


@pytest.mark.parametrize(
    ("name", "kind", "usual", "text", "value", "bad"),
    [
        pytest.param(name, kind, *rest, id=f"{name}-{kind.__name__}")
        for name, roles, *rest in MANUAL
        for kind in dict.fromkeys((*roles, *_also(name)))
    ],
)
def test_each_setting_of_the_manual_is_a_variable_a_flag_and_a_key(
    tmp_path: Path, name: str, kind: type[Any], usual: object, text: str, value: object, bad: str
) -> None:
    file = tmp_path / "tocsin.toml"
    file.write_text(f"{name} = '{text}'")
    flag = f"--{name.replace('_', '-')}={text}"
    more = NEEDS.get(name, {})

    by_variable, by_flag, by_file = (
        read(kind, **{**more, name: text}),
        read(kind, flag, **more),
        read(kind, "--config", str(file), **more),
    )

    assert getattr(by_variable, name) == getattr(by_flag, name) == getattr(by_file, name) == value
    assert name == "log_format" or getattr(read(kind), name) == usual
    if bad:
        [words] = faults(kind, **{**more, name: bad})
        assert words.startswith(f"TOCSIN_{name.upper()}: ")


def test_a_child_hears_of_the_proxies_and_the_rate_that_its_parent_was_told() -> None:
    parent = read(UpSettings, trusted_proxies="10.0.0.0/8, ::1", rate_per_minute="5", burst="6")

    child, warnings = load(CollectorSettings, [], environment(CollectorSettings, parent))

    assert (child.trusted_proxies, child.rate_per_minute, child.burst) == (parent.trusted_proxies, 5, 6)
    assert not warnings


def test_a_child_hears_of_the_nodes_of_web3() -> None:
    text = "ethereum=https://a.example.com/key,https://b.example.com;polygon=https://c.example.com"

    child, _ = load(CollectorSettings, [], environment(CollectorSettings, read(UpSettings, rpc_urls=text)))

    assert child.rpc_urls == text
