from datetime import UTC, datetime
from typing import Any

import pytest

from payments.providers.times import instant


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (1767197400, datetime(2025, 12, 31, 16, 10, tzinfo=UTC)),
        ("1767197400", datetime(2025, 12, 31, 16, 10, tzinfo=UTC)),
        (1767197400123, datetime(2025, 12, 31, 16, 10, 0, 123000, tzinfo=UTC)),
        ("2026-01-01T00:10:00+08:00", datetime(2025, 12, 31, 16, 10, tzinfo=UTC)),
        ("2025-12-31T23:59:54Z", datetime(2025, 12, 31, 23, 59, 54, tzinfo=UTC)),
        ("2025-12-31t23:59:54z", datetime(2025, 12, 31, 23, 59, 54, tzinfo=UTC)),
        ("2025-12-31 23:59:54-00:30", datetime(2026, 1, 1, 0, 29, 54, tzinfo=UTC)),
        ("2025-12-31T23:59:54.5Z", datetime(2025, 12, 31, 23, 59, 54, 500000, tzinfo=UTC)),
        (
            "2025-12-31T23:59:54.123456789Z",
            datetime(2025, 12, 31, 23, 59, 54, 123456, tzinfo=UTC),
        ),
    ],
)
def test_a_time_is_read_as_utc(stated: Any, expected: datetime) -> None:
    assert instant(stated) == expected
    assert instant(stated).tzinfo is UTC  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "stated",
    [
        None,
        "",
        True,
        0,
        -1,
        1767197400.5,
        10**30,
        946684799,
        4102444800,
        "hello",
        "2026-02-30T10:00:00Z",
        "2026-02-30 10:00:00",
        "2026-01-01T00:10:00",
        "2026-01-01",
        "2026-W01-1T00:00:00Z",
        "2026-01-01T24:00:01Z",
        "2026-01-01T00:00:00+99:99",
        "1999-12-31T23:59:59Z",
        "2026-01-01T00:00:00.1234567890Z",
        "\uff12\uff10\uff12\uff16-01-01T00:00:00Z",
        "2026-01-01T00:00:00Z\n",
        "16:23:34 May 05, 2015 PDT",
        {},
        [],
    ],
)
def test_what_is_no_unambiguous_time_is_none(stated: Any) -> None:
    assert instant(stated) is None
