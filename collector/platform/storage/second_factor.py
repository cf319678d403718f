"""The rule that a team's members need a second factor, as SQL: sessions and event streams both ask for it."""

from typing import Final

# The users who have a second factor: an app that was confirmed by a code, or a passkey.
OWNERS: Final = """SELECT team_id, user_id FROM two_factor WHERE confirmed_at IS NOT NULL
    UNION ALL SELECT team_id, user_id FROM passkeys"""

# Whether the session *s* lacks the second factor that its team *m* requires. A provider has its own second
# step; a token would be a way around it.
LACKING: Final = f"""(m.two_factor_required AND NOT s.by_provider AND (s.token_id IS NOT NULL OR NOT EXISTS (
    SELECT FROM ({OWNERS}) f WHERE f.team_id = s.team_id AND f.user_id = s.user_id
)))"""
