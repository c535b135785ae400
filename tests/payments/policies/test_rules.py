"""What a policy may say, and what it makes of a conflict: a pure table."""

from typing import Any

import pytest

from payments.models import ConflictReason, Resolution
from payments.policies.document import BadPolicy, read
from payments.policies.rules import Question, Rules, decide, widens

ACCEPT, RECEIVED, REFUND = Resolution.ACCEPT, Resolution.ACCEPT_RECEIVED, Resolution.REFUND


def question(
    reason: ConflictReason, came: int = 1099, owed: int | None = 1099, currency: str = "USD"
) -> Question:
    return Question(
        reason=reason,
        came_minor=came,
        currency=currency,
        owed_minor=owed,
        owed_currency="USD" if owed is not None else "",
    )


LATE = question(ConflictReason.LATE_PAYMENT)
DUPLICATE = question(ConflictReason.DUPLICATE_PAYMENT)
PARKED = question(ConflictReason.ORDER_NOT_FOUND, owed=None)


def amount(came: int, owed: int = 1000) -> Question:
    return question(ConflictReason.AMOUNT_MISMATCH, came, owed)


def rule(do: str, limit: int = 5000, **values: int) -> dict[str, Any]:
    return {"do": do, "limits": {"USD": limit}, **values}


@pytest.mark.parametrize(
    ("document", "asked", "decided"),
    [
        ({}, LATE, None),
        ({"late": {}}, LATE, None),
        ({"late": {"do": "ask", "limits": {"USD": 5000}}}, LATE, None),
        ({"late": rule("accept")}, LATE, ACCEPT),
        ({"late": rule("refund")}, LATE, REFUND),
        ({"late": rule("refund", 1099)}, LATE, REFUND),
        ({"late": rule("refund", 1098)}, LATE, None),
        ({"late": {"do": "refund", "limits": {"EUR": 5000}}}, LATE, None),
        ({"late": rule("refund")}, DUPLICATE, None),
        ({"duplicate": rule("refund")}, DUPLICATE, REFUND),
        ({"parked": rule("refund")}, PARKED, REFUND),
        ({"parked": rule("refund")}, LATE, None),
        ({"over": rule("refund")}, amount(1001), REFUND),
        ({"over": rule("refund")}, amount(999), None),
        ({"under": rule("refund")}, amount(999), REFUND),
        ({"over": rule("accept", tolerance_minor=5)}, amount(1005), RECEIVED),
        ({"over": rule("accept", tolerance_minor=5)}, amount(1006), None),
        ({"under": rule("accept", tolerance_minor=5)}, amount(995), RECEIVED),
        ({"under": rule("accept", tolerance_minor=5)}, amount(994), None),
        ({"under": rule("accept", tolerance_minor=0)}, amount(999), None),
        ({"under": rule("accept", tolerance_per_mille=10)}, amount(990), RECEIVED),
        ({"under": rule("accept", tolerance_per_mille=10)}, amount(989), None),
        ({"under": rule("accept", tolerance_per_mille=1)}, amount(998, 999), None),
        (
            {"under": rule("accept", tolerance_minor=5, tolerance_per_mille=100)},
            amount(994),
            None,
        ),
        (
            {"under": rule("accept", tolerance_minor=50, tolerance_per_mille=5)},
            amount(994),
            None,
        ),
        ({"over": rule("accept", 1004, tolerance_minor=5)}, amount(1005), None),
        (
            {"over": rule("accept", tolerance_minor=5)},
            question(ConflictReason.AMOUNT_MISMATCH, 1005, 1000, "EUR"),
            None,
        ),
        ({"over": rule("refund")}, question(ConflictReason.AMOUNT_MISMATCH, owed=None), None),
        ({"late": rule("refund")}, question(ConflictReason.CURRENCY_MISMATCH), None),
        ({"late": rule("refund")}, question(ConflictReason.TRANSACTION_ALTERED), None),
    ],
)
def test_the_rules_decide_within_their_bounds(
    document: Any, asked: Question, decided: Resolution | None
) -> None:
    assert decide(read(document), asked) == decided


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ([], "the policy must be a JSON object"),
        ({"early": {}}, "the policy has no 'early'"),
        ({"late": []}, "late must be a JSON object"),
        ({"late": {"do": "burn"}}, r"late\.do must be one of: ask, accept, refund"),
        ({"late": {"do": "refund"}}, "late needs limits"),
        ({"duplicate": rule("accept")}, r"duplicate\.do cannot be accept"),
        ({"parked": rule("accept")}, r"parked\.do cannot be accept"),
        ({"late": rule("accept", tolerance_minor=5)}, "late has no 'tolerance_minor'"),
        ({"over": rule("accept")}, "over needs tolerance_minor or tolerance_per_mille"),
        ({"over": rule("accept", tolerance_per_mille=101)}, "whole number from 0 to 100"),
        ({"over": rule("accept", tolerance_minor=-1)}, "whole number from 0"),
        ({"over": {**rule("accept"), "tolerance_minor": 1.5}}, "whole number from 0"),
        ({"over": {**rule("accept"), "tolerance_minor": True}}, "whole number from 0"),
        ({"late": {"do": "refund", "limits": {"USD": 1.5}}}, "whole number of minor units"),
        ({"late": {"do": "refund", "limits": {"USD": -1}}}, "whole number of minor units"),
        ({"late": {"do": "refund", "limits": {"XXQ": 1}}}, "unknown currency"),
        ({"late": {"do": "refund", "limits": []}}, "by their currency"),
        ({"four_eyes_above": {"USD": "5"}}, "whole number of minor units"),
        ({"four_eyes_above": {f"A{n}": 1 for n in range(201)}}, "by their currency"),
    ],
)
def test_what_is_no_policy_is_refused_and_says_where(document: Any, says: str) -> None:
    with pytest.raises(BadPolicy, match=says):
        read(document)


@pytest.mark.parametrize(
    ("old", "new", "wider"),
    [
        ({}, {}, False),
        ({}, {"late": rule("ask")}, False),
        ({}, {"late": rule("refund")}, True),
        ({"late": rule("refund")}, {"late": rule("refund")}, False),
        ({"late": rule("refund")}, {"late": rule("refund", 5001)}, True),
        ({"late": rule("refund")}, {"late": rule("accept")}, True),
        ({"late": rule("refund")}, {}, False),
        ({}, {"four_eyes_above": {"USD": 0}}, False),
        ({}, {"four_eyes_above": {"USD": 1}}, True),
        ({"four_eyes_above": {"USD": 5}}, {"four_eyes_above": {"USD": 4}}, False),
        ({"four_eyes_above": {"USD": 5}}, {"four_eyes_above": {"USD": 5, "EUR": 1}}, True),
    ],
)
def test_what_widens_a_policy_needs_two(old: Any, new: Any, wider: bool) -> None:
    assert widens(read(old), read(new)) is wider


def test_without_a_policy_nobody_decides_alone() -> None:
    assert Rules().alone_up_to("USD") == 0
