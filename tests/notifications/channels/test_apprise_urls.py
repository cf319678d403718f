"""What a team may name as a service of Apprise's: one of elsewhere, as Apprise itself reads it."""

import pytest

from collector.notifications.channels import apprise

NEEDED = "needs Apprise: pip install 'tocsin[apprise]'"
pytestmark = pytest.mark.skipif(not apprise.is_installed(), reason=NEEDED)


@pytest.mark.parametrize("text", ["json://ok.example.com/path", "ntfys://topic", "mailtos://a:b@example.com"])
def test_one_service_elsewhere_is_taken(text: str) -> None:
    assert apprise.is_service(text)


@pytest.mark.parametrize(
    "text",
    [
        "syslog://",
        "syslog://localhost",
        "json://ok.example.com, syslog://",
        "json://ok.example.com syslog://localhost",
        "json://ok.example.com,json://other.example.com",
        "json://ok.example.com;dbus://",
        "nonsense",
    ],
)
def test_several_in_one_text_and_what_is_of_this_machine_are_not(text: str) -> None:
    assert not apprise.is_service(text)
