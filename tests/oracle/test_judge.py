import json
from copy import deepcopy
from pathlib import Path
from typing import Any

from oracle.__main__ import main, problems
from oracle.intended import BROADER, REASONS, STRICTER
from oracle.judge import Finding, finding_on

VECTORS = Path(__file__).parent.parent / "vectors"


def a_line(provider: str, name: str, **changes: Any) -> dict[str, Any]:
    """A sample as a signer would write it; `changes` are of its kind, verdict and values."""
    document = json.loads((VECTORS / f"{provider}.json").read_text(encoding="utf-8"))
    case = deepcopy(next(each for each in document["cases"] if each["name"] == name))
    verdict = changes.get("verdict", case["expected"]["verdict"])
    case["kind"] = changes.get("kind", "genuine")
    case["oracle"] = {"tool": "sdk 1", "verdict": verdict}
    case["expected"]["verdict"] = verdict
    if case["expected"].get("normalized"):
        case["expected"]["normalized"] |= changes.get("values", {})
    return {**document, "cases": [case]}


def test_the_same_verdict_and_values_are_agreement() -> None:
    found = finding_on(a_line("stripe", "paid_kwd_three_decimal"))
    assert found == Finding("stripe", "sdk 1", "genuine", valid=True)
    found = finding_on(a_line("stripe", "wrong_secret"))
    assert found == Finding("stripe", "sdk 1", "genuine", valid=False)


def test_another_verdict_is_a_fault() -> None:
    found = finding_on(a_line("stripe", "wrong_secret", verdict="valid"))
    assert "no configured key made this signature" in found.fault
    found = finding_on(a_line("stripe", "paid_kwd_three_decimal", verdict="invalid"))
    assert found.fault.startswith("'invalid', but Verified(key_id='k0'")


def test_another_value_is_a_fault() -> None:
    found = finding_on(a_line("paystack", "charge_success", values={"amount": "100.01"}))
    assert found.fault == "amount is '100.00', not '100.01'"


def test_an_exception_is_a_fault() -> None:
    line = a_line("paypal", "capture_completed")
    line["config"]["certificates"] = {}
    assert finding_on(line).fault.startswith("KeyError: ")


def test_an_intended_difference_is_one_in_its_direction_only() -> None:
    assert ("stripe", "ahead_301") in STRICTER
    line = a_line("stripe", "age_301s", verdict="valid", kind="ahead_301")
    assert finding_on(line).intended == (("stripe", "ahead_301"),)
    line = a_line("stripe", "paid_kwd_three_decimal", verdict="invalid", kind="ahead_301")
    assert finding_on(line).fault


def test_a_value_that_is_meant_to_be_another_must_be_that_one() -> None:
    line = a_line("razorpay", "payment_captured", values={"merchant_order_no": "order_Synth1"})
    found = finding_on(line)
    assert (found.intended, found.fault) == ((("razorpay", "event_id"),), "")


def test_an_entry_excuses_one_direction() -> None:
    assert STRICTER.keys().isdisjoint(BROADER)
    assert all(REASONS.values())


def test_a_complete_run_has_an_example_of_each_entry() -> None:
    everything = [Finding("p", "t", "kind", valid=True, intended=tuple(REASONS))]
    assert list(problems(everything, complete=True)) == []
    (missing,) = problems(
        [Finding("p", "t", "kind", valid=True, intended=tuple(REASONS)[1:])], complete=True
    )
    assert missing.endswith("listed as intended, but there is no difference")
    assert list(problems([], complete=False)) == []


def test_an_sdk_that_refuses_what_it_signed_fails_the_run() -> None:
    refused = [Finding("p", "t 1", "genuine", valid=False)]
    assert list(problems(refused, complete=False)) == ["p: t 1 refuses what was signed with it"]


def test_lines_of_a_file_are_judged_again(tmp_path: Path) -> None:
    kept = tmp_path / "faults.jsonl"
    good = json.dumps(a_line("stripe", "paid_kwd_three_decimal"))
    bad = json.dumps(a_line("stripe", "wrong_secret", verdict="valid", kind="other_secret"))
    kept.write_text(f"{good}\n")
    assert main([str(kept)]) == 0
    kept.write_text(f"{good}\n{bad}\n")
    assert main([str(kept)]) == 1
