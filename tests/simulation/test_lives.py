"""Random lives against what is promised: one incident an outage, notified down and up in turn."""

import pytest

from collector.evaluation.core.decision import Announcement
from tests.simulation.life import Life


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("first", range(0, 60, 20))
def test_whatever_happens_the_end_is_known_to_everybody(first: int, *, down: bool) -> None:
    for seed in range(first, first + 20):
        life = Life(seed)
        life.live()
        life.settle(down=down)

        assert life.monitor.down is down, seed
        assert (life.incident_since is not None) is down, seed
        assert life.monitor.announced is down, seed
        if life.told:
            assert life.told[-1] is (Announcement.DOWN if down else Announcement.UP), seed
        assert life.monitor.flapping_since is None, seed
        assert life.monitor.degraded_since is None, seed
        assert life.monitor.unrecorded_until is None, seed
