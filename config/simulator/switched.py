"""The scenarios that an account has set for its next calls."""

import json
from collections.abc import Mapping
from typing import Any

from config.simulator.scenario import scenario
from config.simulator.store import Store


def put(
    store: Store, account: str, operation: str, given: Mapping[str, str], *, times: int
) -> None:
    """For the next so many calls; 0 is for all of them. No switches: none. Raises BadScenario."""
    scenario(given)
    with store.writing():
        store.run("DELETE FROM scenarios WHERE account = ? AND operation = ?", account, operation)
        if given:
            store.run(
                "INSERT INTO scenarios VALUES (?, ?, ?, ?)",
                *(account, operation, json.dumps(dict(given)), times),
            )


def take(store: Store, account: str, operation: str) -> dict[str, str]:
    """What is set for this call."""
    with store.writing():
        row = store.row(
            "SELECT * FROM scenarios WHERE account = ? AND operation = ?", account, operation
        )
        if row is None:
            return {}
        if row["times"] == 1:
            put(store, account, operation, {}, times=0)
        elif row["times"] > 1:
            store.run(
                "UPDATE scenarios SET times = times - 1 WHERE account = ? AND operation = ?",
                *(account, operation),
            )
        given: dict[str, str] = json.loads(row["given"])
        return given


def all_of(store: Store, account: str) -> dict[str, dict[str, Any]]:
    """What is set, by operation."""
    rows = store.rows("SELECT * FROM scenarios WHERE account = ?", account)
    return {
        row["operation"]: {"switches": json.loads(row["given"]), "times": row["times"]}
        for row in rows
    }
