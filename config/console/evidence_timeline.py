"""What happened when: the timeline of an evidence pack, made of its other members."""

from collections.abc import Mapping
from typing import Any


def timeline(pack: Mapping[str, Any]) -> list[dict[str, str]]:
    """What happened when, by the service's clock, in the codes of the rows that say it."""
    told: list[tuple[str | None, str, str, str]] = []
    if order := pack["order"]:
        told.append((order["created_at"], "order placed", order["order_no"], order["merchant"]))
    for row in pack["deliveries"]:
        what = "callback taken once more" if row["replay_of"] else "callback received"
        verdict = " ".join(filter(None, (row["event_type"], row["outcome"], row["reason"])))
        told.append((row["received_at"], what, verdict, row["account"]))
    for row in pack["payments"]:
        fact = f"{row['kind']} {row['txn_no']} {row['disposition']}"
        told.append((row["recorded_at"], "entered in the ledger", fact, row["account"]))
    told += [(row["created_at"], "event told", row["type"], row["about"]) for row in pack["events"]]
    for row in pack["conflicts"]:
        named = f"conflict:{row['id']}"
        told.append((row["opened_at"], "conflict opened", row["reason"], named))
        by = row["decided_by"] or row["decided_as"] or ""
        told.append((row["resolved_at"], "conflict decided", row["resolution"] or "", by))
    for row in pack["refunds"]:
        told.append((row["requested_at"], "refund requested", row["refund_no"], row["account"]))
        end = f"{row['refund_no']} {row['status']}"
        told.append((row["finished_at"], "refund ended", end, row["account"]))
    told += [
        (row["at"], "audit", row["action"], row["actor"] or row["actor_kind"])
        for row in pack["audit"]
    ]
    return [
        {"at": at, "what": what, "which": which, "source": source}
        for at, what, which, source in sorted(told, key=lambda entry: entry[0] or "")
        if at
    ]
