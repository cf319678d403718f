"""The template language of teams: bounded in time and in size.

No calls, no assignments, no macros, no arithmetic beyond sums, no nested loops, and few filters: a template's
work is bounded by its own length times the length of its input.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from jinja2 import Template, TemplateError, Undefined, nodes
from jinja2.meta import find_undeclared_variables
from jinja2.sandbox import ImmutableSandboxedEnvironment

MAX_SOURCE: Final = 4_000
MAX_VALUE: Final = 1_000
MAX_ITEMS: Final = 50
MAX_DEPTH: Final = 30

_ALLOWED: Final = (
    nodes.Template,
    nodes.Output,
    nodes.TemplateData,
    nodes.If,
    nodes.For,
    nodes.Name,
    nodes.Const,
    nodes.List,
    nodes.Tuple,
    nodes.Getattr,
    nodes.Getitem,
    nodes.Slice,
    nodes.Filter,
    nodes.Test,
    nodes.Compare,
    nodes.Operand,
    nodes.And,
    nodes.Or,
    nodes.Not,
    nodes.CondExpr,
    nodes.Concat,
    nodes.Add,
    nodes.Sub,
    nodes.Neg,
    nodes.Pos,
)
_TESTS: Final = frozenset({"defined", "undefined", "none", "equalto", "eq", "ne", "in", "string", "number"})
_WORDS: Final = {
    nodes.Call: "a call",
    nodes.Mul: "a multiplication",
    nodes.Pow: "a power",
    nodes.Mod: "a format or remainder",
    nodes.Macro: "a macro",
    nodes.Assign: "an assignment",
    nodes.AssignBlock: "an assignment",
}


def _cut(value: object) -> str:
    return str(value)[:MAX_VALUE]


def capitalize(value: object) -> str:
    return _cut(value).capitalize()


def default(value: Any, instead: Any = "") -> Any:
    """Replace empty values, too."""
    return value or instead


def first(value: Any) -> Any:
    return next(iter(value), "")


def join(values: Any, between: object = "") -> str:
    items = list(values)[:MAX_ITEMS] if isinstance(values, list | tuple) else [values]
    return _cut(between).join(map(_cut, items))[:MAX_VALUE]


def last(value: Any) -> Any:
    return value[-1] if value else ""


def length(value: Any) -> int:
    return len(value)


def lower(value: object) -> str:
    return _cut(value).lower()


def trim(value: object) -> str:
    return _cut(value).strip()


def truncate(value: object, most: int = 100) -> str:
    whole = _cut(value)
    kept = max(1, min(int(most), MAX_VALUE))
    return whole if len(whole) <= kept else whole[: kept - 1] + "…"


def upper(value: object) -> str:
    return _cut(value).upper()


def _looped(values: Any) -> Any:
    """Reject text: a loop over it would run once per letter."""
    return list(values)[:MAX_ITEMS] if isinstance(values, list | tuple | Mapping) else []


# No template can access it.
_LOOPED: Final = "what a loop goes over"
_FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    filter_.__name__: filter_
    for filter_ in (capitalize, default, first, join, last, length, lower, trim, truncate, upper)
}


class _PlainValueSandbox(ImmutableSandboxedEnvironment):
    """Templates may use only plain values: printing a callable would reveal its memory address."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        return self._value(super().getattr(obj, attribute), obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        return self._value(super().getitem(obj, argument), obj, argument)

    def _value(self, found: Any, obj: Any, name: Any) -> Any:
        bare = isinstance(found, Undefined) or not callable(found)
        return found if bare else self.undefined(obj=obj, name=str(name))


def environment() -> ImmutableSandboxedEnvironment:
    """An environment that renders only the templates that pass `fault`."""
    made = _PlainValueSandbox(trim_blocks=True, lstrip_blocks=True, cache_size=0)
    made.filters = {**_FILTERS, _LOOPED: _looped}
    made.tests = {name: test for name, test in made.tests.items() if name in _TESTS}
    made.globals = {}
    return made


def compiled(env: ImmutableSandboxedEnvironment, source: str) -> Template:
    """Compile *source* so that every loop ends soon, whatever it iterates over."""
    tree = env.parse(source)
    for loop in tree.find_all(nodes.For):
        loop.iter = nodes.Filter(loop.iter, _LOOPED, [], [], None, None, lineno=loop.lineno)
    return env.from_string(tree)


def fault(env: ImmutableSandboxedEnvironment, source: str, names: frozenset[str]) -> str | None:
    """Why *source* is not a valid template that uses only *names*; None if it is."""
    if len(source) > MAX_SOURCE:
        return f"must be at most {MAX_SOURCE} characters long"
    try:
        tree = env.parse(source)
        found = next(_faults(tree), None)
        if found is None:
            env.from_string(tree)
            strange = find_undeclared_variables(tree) - names
            found = f"there is no {min(strange)}; there are {', '.join(sorted(names))}" if strange else None
    except TemplateError as error:
        return f"is no template: {_cut(error.message)}"
    except (RecursionError, SyntaxError, MemoryError, ValueError, TypeError):
        return "is no template that can be read"
    return found


def _faults(tree: nodes.Template) -> Iterator[str]:
    waiting: list[tuple[nodes.Node, int, bool]] = [(tree, 0, False)]
    while waiting:
        node, depth, within = waiting.pop()
        if (text := _unfit(node, within)) is not None:
            yield text
        if depth > MAX_DEPTH:
            yield "is nested too deeply"
            return
        below = within or isinstance(node, nodes.For)
        waiting += [(child, depth + 1, below) for child in node.iter_child_nodes()]


def _unfit(node: nodes.Node, within_loop: bool) -> str | None:
    text = None
    if not isinstance(node, _ALLOWED):
        kind = next((words for cls, words in _WORDS.items() if isinstance(node, cls)), None)
        text = f"must not hold {kind or type(node).__name__.lower()}"
    elif isinstance(node, nodes.Filter) and node.name not in _FILTERS:
        text = f"there is no filter {_cut(node.name)}; there are {', '.join(_FILTERS)}"
    elif isinstance(node, nodes.Test) and node.name not in _TESTS:
        text = f"there is no test {_cut(node.name)}"
    elif isinstance(node, nodes.Name) and node.name == "self":
        text = "there is no self"
    elif isinstance(node, nodes.Getattr) and node.attr.startswith("_"):
        text = f"there is no {_cut(node.attr)}"
    elif isinstance(node, nodes.For) and (within_loop or node.recursive):
        text = "must not hold a loop in a loop"
    elif isinstance(node, nodes.Filter | nodes.Test) and (node.dyn_args or node.dyn_kwargs):
        text = "must not spread arguments"
    return text
