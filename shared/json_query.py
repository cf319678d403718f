"""Evaluates a JSONPath within a budget of steps."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from shared.effort import Meter
from shared.patterns import Pattern, regex

# The value of a path within a filter that matches nothing, or several values.
_NOTHING: Final = object()
# A pattern from the document must be compiled first, which costs as much as this many steps.
_COMPILING: Final = 1_000
_TEXT_A_STEP: Final = 4_096


class _Evaluation:
    """The evaluation of a path on one document.

    *known*: results of absolute paths, the same for every value; *patterns*: the compiled ones.
    """

    __slots__ = ("known", "meter", "patterns", "root")

    def __init__(self, root: Any, meter: Meter) -> None:
        self.root = root
        self.meter = meter
        self.known: dict[int, list[Any]] = {}
        self.patterns: dict[str, Pattern | None] = {}


Select = Callable[[Any, _Evaluation], Iterator[Any]]
_Segment = Callable[[Iterator[Any], _Evaluation], Iterator[Any]]
_Test = Callable[[Any, _Evaluation], bool]
_Value = Callable[[Any, _Evaluation], Any]


def query(parsed: Any) -> Callable[[Any, Meter], Iterator[Any]]:
    """The evaluator of *parsed*, a path of the package: yields selected values. It raises TooCostly."""
    select = _path(parsed)
    return lambda document, meter: select(document, _Evaluation(document, meter))


def descents(parsed: Any) -> int:
    """The number of ``..`` in a path, filters included."""
    found = 0
    for segment in parsed.segments:
        found += _is_descent(segment)
        for selector in segment.selectors:
            if expression := getattr(selector, "expression", None):
                found += _within(expression)
    return found


def _within(expression: Any) -> int:
    if path := getattr(expression, "path", None):
        return descents(path)
    return sum(_within(child) for child in expression.children())


def _is_descent(segment: Any) -> bool:
    return type(segment).__name__ == "JSONPathRecursiveDescentSegment"


def _path(parsed: Any) -> Select:
    segments = [_segment(segment) for segment in parsed.segments]

    def select(start: Any, look: _Evaluation) -> Iterator[Any]:
        values = iter((start,))
        for segment in segments:
            values = segment(values, look)
        return values

    return select


def _segment(parsed: Any) -> _Segment:
    selectors = [_selector(selector) for selector in parsed.selectors]

    def children(values: Iterator[Any], look: _Evaluation) -> Iterator[Any]:
        for value in values:
            for selector in selectors:
                yield from selector(value, look)

    if not _is_descent(parsed):
        return children
    return lambda values, look: children(_descend(values, look), look)


def _descend(values: Iterator[Any], look: _Evaluation) -> Iterator[Any]:
    """Each of *values* and all containers below it, in document order."""
    for value in values:
        waiting = [value]
        while waiting:
            found = waiting.pop()
            yield found
            below = _children(found, look)
            waiting += [child for child in reversed(below) if isinstance(child, dict | list)]


def _children(value: Any, look: _Evaluation) -> list[Any]:
    below = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    look.meter.step(1 + len(below) // 8)
    return below


def _selector(parsed: Any) -> Select:
    match type(parsed).__name__:
        case "NameSelector":
            return _name(parsed.name)
        case "IndexSelector":
            return _index(parsed.index)
        case "SliceSelector":
            return _slice(parsed.slice)
        case "WildcardSelector":
            return _wildcard
        case "Filter":
            return _filter(_test(parsed.expression))
    raise ValueError("not a JSONPath")


def _name(name: str) -> Select:
    def select(value: Any, look: _Evaluation) -> Iterator[Any]:
        look.meter.step()
        if isinstance(value, dict) and name in value:
            yield value[name]

    return select


def _index(index: int) -> Select:
    def select(value: Any, look: _Evaluation) -> Iterator[Any]:
        look.meter.step()
        if isinstance(value, list) and -len(value) <= index < len(value):
            yield value[index]

    return select


def _slice(wanted: slice) -> Select:
    def select(value: Any, look: _Evaluation) -> Iterator[Any]:
        look.meter.step()
        if isinstance(value, list) and wanted.step != 0:
            for place in range(*wanted.indices(len(value))):
                look.meter.step()
                yield value[place]

    return select


def _wildcard(value: Any, look: _Evaluation) -> Iterator[Any]:
    for child in _children(value, look):
        look.meter.step()
        yield child


def _filter(test: _Test) -> Select:
    def select(value: Any, look: _Evaluation) -> Iterator[Any]:
        for child in _children(value, look):
            look.meter.step()
            if test(child, look):
                yield child

    return select


def _test(parsed: Any) -> _Test:
    """Compile the part of a filter that is true or false."""
    match type(parsed).__name__:
        case "FilterExpression":
            return _test(parsed.expression)
        case "PrefixExpression":
            test = _test(parsed.right)
            return lambda value, look: not test(value, look)
        case "InfixExpression" if parsed.operator in {"&&", "||"}:
            return _both(parsed.operator, _test(parsed.left), _test(parsed.right))
        case "InfixExpression":
            return _compare(parsed.operator, _value(parsed.left), _value(parsed.right))
        case "RelativeFilterQuery" | "RootFilterQuery":
            nodes = _nodes(parsed)
            return lambda value, look: next(nodes(value, look), _NOTHING) is not _NOTHING
        case "FunctionExtension" if parsed.name in {"match", "search"}:
            return _matching(parsed)
    raise ValueError("not a JSONPath")


def _both(operator: str, left: _Test, right: _Test) -> _Test:
    if operator == "&&":
        return lambda value, look: left(value, look) and right(value, look)
    return lambda value, look: left(value, look) or right(value, look)


def _value(parsed: Any) -> _Value:
    """Compile the part of a filter that is compared, or passed to a function."""
    match type(parsed).__name__:
        case "StringLiteral" | "IntegerLiteral" | "FloatLiteral" | "BooleanLiteral":
            constant = parsed.value
            return lambda _value, _look: constant
        case "Nil":
            return lambda _value, _look: None
        case "RelativeFilterQuery" | "RootFilterQuery":
            return _only(_nodes(parsed))
        case "FunctionExtension" if parsed.name == "value":
            return _only(_nodes(parsed.args[0]))
        case "FunctionExtension" if parsed.name == "count":
            return _count(parsed.args[0])
        case "FunctionExtension" if parsed.name == "length":
            measured = _value(parsed.args[0])
            return lambda value, look: _length(measured(value, look))
    raise ValueError("not a JSONPath")


def _nodes(parsed: Any) -> Select:
    select = _path(parsed.path)
    if type(parsed).__name__ == "RelativeFilterQuery":
        return select

    return lambda _value, look: iter(_from_root(select, look))


def _from_root(select: Select, look: _Evaluation) -> list[Any]:
    if id(select) not in look.known:
        look.known[id(select)] = list(select(look.root, look))
    return look.known[id(select)]


def _count(parsed: Any) -> _Value:
    select = _path(parsed.path)
    if type(parsed).__name__ == "RelativeFilterQuery":
        return lambda value, look: sum(1 for _ in select(value, look))
    return lambda _value, look: len(_from_root(select, look))


def _only(nodes: Select) -> _Value:
    def only(value: Any, look: _Evaluation) -> Any:
        found = nodes(value, look)
        first = next(found, _NOTHING)
        return first if next(found, _NOTHING) is _NOTHING else _NOTHING

    return only


def _length(value: Any) -> Any:
    return len(value) if isinstance(value, str | list | dict) else _NOTHING


def _compare(operator: str, left: _Value, right: _Value) -> _Test:
    def equal(value: Any, look: _Evaluation) -> bool:
        return _same(left(value, look), right(value, look), look.meter)

    def less(value: Any, look: _Evaluation) -> bool:
        return _less(left(value, look), right(value, look), look.meter)

    def more(value: Any, look: _Evaluation) -> bool:
        return _less(right(value, look), left(value, look), look.meter)

    match operator:
        case "==":
            return equal
        case "!=":
            return lambda value, look: not equal(value, look)
        case "<":
            return less
        case ">":
            return more
        case "<=":
            return lambda value, look: less(value, look) or equal(value, look)
        case ">=":
            return lambda value, look: more(value, look) or equal(value, look)
    raise ValueError("not a JSONPath")


def _same(left: Any, right: Any, meter: Meter) -> bool:
    waiting = [(left, right)]
    while waiting:
        one, other = waiting.pop()
        meter.step()
        if isinstance(one, dict) and isinstance(other, dict):
            if one.keys() != other.keys():
                return False
            waiting += [(value, other[name]) for name, value in one.items()]
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            waiting += zip(one, other, strict=True)
        elif not _same_plain(one, other, meter):
            return False
    return True


def _same_plain(left: Any, right: Any, meter: Meter) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        meter.step(min(len(left), len(right)) // _TEXT_A_STEP)
    # In Python, true equals 1.
    return bool(left == right) and isinstance(left, bool) == isinstance(right, bool)


def _less(left: Any, right: Any, meter: Meter) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        meter.step(min(len(left), len(right)) // _TEXT_A_STEP)
        return left < right
    numbers = all(isinstance(item, int | float) and not isinstance(item, bool) for item in (left, right))
    return numbers and bool(left < right)


def _matching(parsed: Any) -> _Test:
    """``match`` and ``search``; the pattern may be a value of the document."""
    text, pattern = map(_value, parsed.args)
    form = "^(?:{})$" if parsed.name == "match" else "{}"

    def test(value: Any, look: _Evaluation) -> bool:
        among, wanted = text(value, look), pattern(value, look)
        if not isinstance(among, str) or not isinstance(wanted, str):
            return False
        compiled = _compiled(form.format(wanted), look)
        return compiled is not None and compiled.metered(among, look.meter)

    return test


def _compiled(pattern: str, look: _Evaluation) -> Pattern | None:
    if pattern not in look.patterns:
        look.meter.step(_COMPILING)
        try:
            look.patterns[pattern] = regex(pattern)
        except ValueError:
            look.patterns[pattern] = None
    return look.patterns[pattern]
