"""What ``tocsin apply`` makes of files: YAML 1.2 with lines, variables, nothing that explodes."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from collector.declarative.cli.files import ConfigurationFile, DeclaredFiles, placed, read, sources
from collector.declarative.cli.text import text
from collector.declarative.cli.yaml import parse

BOMB = "\n".join(
    ["x-0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9]"]
    + [f"x-{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
)


def declared(content: str | bytes, folder: Path = Path(), **variables: str) -> DeclaredFiles:
    raw = content.encode() if isinstance(content, str) else content
    return read([ConfigurationFile("m.yaml", folder, raw)], variables)


def value(written: str) -> Any:
    files = declared(f"monitors: [{{a: {written}}}]")
    assert not files.faults, files.faults
    return files.sections["monitors"][0]["a"]


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("no", "no"),
        ("on", "on"),
        ("Yes", "Yes"),
        ("true", True),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-3", -3),
        ("010", "010"),
        ("0x1F", "0x1F"),
        ("1:30", "1:30"),
        ("12e4", 120000.0),
        ("1.5", 1.5),
        ("1.10.2", "1.10.2"),
        (".inf", ".inf"),
        ("1e999", "1e999"),
        ("2026-12-01", "2026-12-01"),
        ("2026-12-01T02:00:00Z", "2026-12-01T02:00:00Z"),
        ("'12'", "12"),
        ('"true"', "true"),
        ("!!str 12", "12"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("24h", "24h"),
    ],
)
def test_scalars_are_read_as_version_1_2_of_yaml_has_them(written: str, read_as: Any) -> None:
    found = value(written)

    assert (found, type(found)) == (read_as, type(read_as))


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("monitors:\n  - name: a\n    name: b\n", "m.yaml:3: name stands here again, after line 2"),
        ("monitors: [\n  - x\n", "m.yaml:2: is no YAML"),
        ("- just\n- a list\n", "m.yaml:1: must be an object"),
        ("monitors: {a: 1}\n", "m.yaml:1: monitors must be a list"),
        ("\nmonitor: []\n", "m.yaml:2: there is no section monitor"),
        ("prune: true\n", "m.yaml:1: prune is given on the command line: --prune"),
        ("monitors:\n  - !!python/object/apply:os.system [x]\n", "m.yaml:2: tags such as"),
        ("monitors:\n  - *nobody\n", "m.yaml:2: *nobody names nothing"),
        ("monitors:\n  - &a [*a]\n", "m.yaml:2: *a names nothing"),
        ("monitors:\n  - ? [1]\n    : 2\n", "m.yaml:2: a key must be a text"),
        ("monitors:\n  - <<: text\n", "m.yaml:2: << takes an object"),
        ("monitors: " + "[" * 100 + "]" * 100, "m.yaml:1: must not be nested deeper"),
        (BOMB, "values, aliases followed"),
        (b"monitors: [\xff]", "m.yaml: must be UTF-8"),
        ("monitors: [\x07]", "m.yaml:1: is no YAML"),
        (b" " * ((16 << 20) + 1), "m.yaml: must be 16 MiB at most"),
    ],
    ids=lambda one: str(one)[:30],
)
def test_what_cannot_be_used_is_told_with_its_line(content: str | bytes, fault: str) -> None:
    [text] = {*declared(content).faults[:1]}

    assert fault in text


def test_documents_and_files_are_one_and_entries_may_share_what_they_have(tmp_path: Path) -> None:
    (tmp_path / "b.yml").write_text("monitors:\n  - name: c\n---\n---\nrules: []\n")
    (tmp_path / "a.yaml").write_text(
        "x-web: &web {type: http, interval: 30}\n"
        "monitors:\n  - {<<: *web, name: a, interval: 5}\n  - {<<: [*web], name: b}\n"
    )
    (tmp_path / "c.json").write_text('{"monitors": [{"name": "\\u00e4",\t"key": "d"}]}')
    (tmp_path / "README.md").write_text("not this one")
    faults: list[str] = []

    files = read(sources([str(tmp_path)], faults), {})

    assert (faults, files.faults) == ([], [])
    assert files.sections == {
        "monitors": [
            {"type": "http", "interval": 5, "name": "a"},
            {"type": "http", "interval": 30, "name": "b"},
            {"name": "c"},
            {"name": "ä", "key": "d"},
        ],
        "rules": [],
    }


def test_files_that_are_not_there_are_all_told(tmp_path: Path) -> None:
    faults: list[str] = []
    (tmp_path / "empty").mkdir()

    list(sources([str(tmp_path / "a"), str(tmp_path / "empty"), str(tmp_path / "b")], faults))

    assert [fault.partition(": ")[2].partition(":")[0] for fault in faults] == [
        "cannot be read",
        "has no file that ends in .json, .yaml, .yml",
        "cannot be read",
    ]


def test_variables_and_files_are_filled_in(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("from a file\n")
    content = 'monitors: [{a: "${A}-${B}", b: "$${A} $A", c: "${file:key}", d: "${C?}", e: "${A?}"}]'

    files = declared(content, tmp_path, A="${B}", B="12")

    assert (files.faults, files.unset) == ([], [])
    assert files.sections["monitors"] == [
        {"a": "${B}-12", "b": "${A} $A", "c": "from a file", "d": {"$kept": "C"}, "e": "${B}"}
    ]


def test_every_variable_that_is_not_set_is_told(tmp_path: Path) -> None:
    content = 'monitors:\n- a: ${A}\n- a: x${B}\n- a: x${C?}\n- a: ${1}\n- a: "${file:gone}"\n'

    files = declared(content, tmp_path)

    assert files.unset == [
        "m.yaml:2: the variable A is not set",
        "m.yaml:3: the variable B is not set",
        "m.yaml:4: ${C?} is kept as it is, and must be all of the text",
        "m.yaml:5: ${ begins the name of a variable; $${ is written for the signs themselves",
        "m.yaml:6: the file gone cannot be read: No such file or directory",
    ]


def test_faults_of_the_service_are_told_where_they_stand() -> None:
    files = declared(
        "monitors:\n- name: shop\n  config:\n    url: 12e4\n    headers:\n      X-Key: 1\n"
        "- key: b\n  enabled: yes\n"
    )
    details = {
        "monitors[1].enabled": "must be true or false",
        "monitors[0].url": "must be a string",
        "monitors[0].headers.X-Key": "is bad",
        "monitors[0].locations[3]": "is bad",
        "monitors[9].url": "is bad",
        "prune": "is bad",
    }

    assert placed(files, details) == [
        "prune: is bad",
        "m.yaml:2: monitor shop: locations[3]: is bad",
        "m.yaml:2: monitors[9].url: is bad",
        "m.yaml:4: monitor shop: url: must be a string (12e4 is none in YAML: put it in quotes)",
        "m.yaml:6: monitor shop: headers.X-Key: is bad",
        "m.yaml:8: monitor b: enabled: must be true or false (yes is a text in YAML)",
    ]


TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="$"), max_size=30
) | st.sampled_from(
    [
        "no",
        "12e4",
        "1:30",
        "010",
        "~",
        "null",
        "- a",
        "a: b",
        "# x",
        "two\nlines\n",
        " x\ny",
        "<<",
        "=",
        "\n",
        "\ta",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | TEXTS
    | st.floats(allow_nan=False, allow_infinity=False, min_value=-(10.0**90), max_value=10.0**90),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(st.lists(VALUES, max_size=4))
@example([{"\x85": "\x85", "a\u2028b": ["c\u2029"]}])
def test_what_is_written_is_read_again_as_it_was(values: list[Any]) -> None:
    files = declared(text({"monitors": values}, "# a head\n"))

    assert not files.faults, files.faults
    assert files.sections["monitors"] == values


@given(st.text(max_size=60) | st.binary(max_size=60))
def test_whatever_comes_in_is_read_or_told(content: str | bytes) -> None:
    raw = content.encode(errors="replace") if isinstance(content, str) else content
    files = declared(b"monitors: [" + raw + b"]")

    assert files.faults or files.sections.keys() <= {"monitors"} or files.unset


def test_lines_are_those_of_the_file() -> None:
    [root], faults = parse("a: 1\nb:\n  - x\n")

    assert not faults
    assert isinstance(root.value, dict)
    assert [node.line for node in root.value.values()] == [1, 3]


def test_an_unknown_section_is_told_with_the_line_of_its_name_and_what_was_perhaps_meant() -> None:
    files = declared("set: shop\nmonitor:\n  - name: a\n")

    assert files.faults == ["m.yaml:2: there is no section monitor; did you mean monitors?"]
    assert files.sets == {"shop"}
    assert declared("set: [a]\n").faults == ["m.yaml:1: set must be a name of letters, digits and . _ / -"]
