"""The new password in a form, typed twice."""

from collector.accounts.service import users
from collector.console.answers import value
from collector.console.forms.read import Posted
from collector.console.language import marked
from shared.errors import Invalid


def new_password(sent: Posted) -> str:
    """Return the password that was typed twice. Raises Invalid with all its faults."""
    password = value(sent, "password")
    faults = users.password_faults(password)
    if password != value(sent, "again"):
        faults["again"] = marked("must be the same twice")
    if faults:
        raise Invalid(faults)
    return password
