"""The rule that a team's members need a second factor, as SQL: sessions and event streams both ask for it."""

from typing import Final

# Whether the session *s* lacks the second factor that its team *m* requires. A provider has its own second
# step; a token would be a way around it.
LACKING: Final = """(m.two_factor_required AND NOT s.by_provider AND (s.token_id IS NOT NULL OR NOT EXISTS (
    SELECT FROM two_factor f
    WHERE f.team_id = s.team_id AND f.user_id = s.user_id AND f.confirmed_at IS NOT NULL
)))"""
