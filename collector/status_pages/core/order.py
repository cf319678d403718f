"""Moves components, and whole groups of them, within the order of a status page."""

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def moved(order: Sequence[Item], item: Item, before: Item | None) -> list[Item]:
    """Return the order with *item* before *before*, or at the end. Raises ValueError for unknown items."""
    if item == before:
        return list(order)
    rest = [each for each in order if each != item]
    if len(rest) == len(order):
        raise ValueError("not in the order")
    place = len(rest) if before is None else rest.index(before)
    return [*rest[:place], item, *rest[place:]]


def moved_group(order: Sequence[tuple[Item, str]], item: Item, before: Item | None) -> list[Item]:
    """Return the order with the group of *item* before the group of *before*, or at the end.

    *order*: components with the names of their groups. The components of each group follow each other
    then, groups by their first component, as the page shows them. Raises ValueError for unknown items.
    """
    group_of = dict(order)
    if item not in group_of or (before is not None and before not in group_of):
        raise ValueError("not in the order")
    groups = list(dict.fromkeys(group for _, group in order))
    goal = None if before is None else group_of[before]
    return [
        component
        for group in moved(groups, group_of[item], goal)
        for component, of_group in order
        if of_group == group
    ]
