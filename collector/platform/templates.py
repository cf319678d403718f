"""Environments of the product's Jinja2 templates: what a template names must be there, and is escaped."""

from collections.abc import Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined


def environment(package: str, extensions: Sequence[str] = ()) -> Environment:
    """Make the environment of the folder ``templates`` of *package*, with Jinja's *extensions*."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=extensions,
    )
