"""When an event is sent again."""

from datetime import UTC, datetime, timedelta

import pytest

from outbox.webhooks.schedule import ATTEMPTS_MAX, PAUSES, pause_after

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def test_ten_attempts_in_three_days_and_a_bit() -> None:
    assert ATTEMPTS_MAX == 10
    assert sum(PAUSES, timedelta()) == timedelta(hours=75, minutes=35, seconds=5)


def test_each_pause_is_its_own_and_up_to_a_tenth() -> None:
    for number, pause in enumerate(PAUSES, start=1):
        drawn = {pause_after(number, now=NOW) for _ in range(50)}
        assert pause <= min(drawn) <= max(drawn) <= pause * 1.1
        assert len(drawn) > 40
    # Whoever is redriven for ever waits no longer than the last pause.
    assert pause_after(20_000, now=NOW) <= PAUSES[-1] * 1.1


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        *(("120", 120), (" 120 ", 120), ("0", 0), ("86400", 86400), ("86401", 86400)),
        *(("9" * 400, 86400), ("-5", 0), ("1.5", 0), ("soon", 0), ("", 0), ("١٢٣", 0)),
        *(("Sun, 01 Mar 2026 12:10:00 GMT", 600), ("Sun, 01 Mar 2026 12:10:00", 600)),
        *(("Sun, 01 Mar 2025 12:10:00 GMT", 0), ("Fri, 01 Mar 2999 12:10:00 GMT", 86400)),
        ("Sun, 99 Mar 2026 12:10:00 GMT", 0),
        *((f"Sun, 01 Mar 2026 12:10:00 +{'9' * 20}", 0), (f"Sun, 01 Mar {'9' * 20} 12:10:00", 0)),
        *(
            (f"Sun, 01 Mar 2026 {'9' * 20}:10:00 GMT", 0),
            ("Fri, 31 Dec 9999 23:59:59 -2359", 86400),
        ),
    ],
)
def test_an_endpoint_may_ask_for_more_patience_within_bounds(asked: str, seconds: int) -> None:
    pause = pause_after(1, retry_after=asked, now=NOW)
    usual = PAUSES[0]
    if seconds <= usual.total_seconds():
        assert usual <= pause <= usual * 1.1
    else:
        assert pause == timedelta(seconds=seconds)
