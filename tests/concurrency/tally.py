"""How many races were run and how many processes were killed: shown at the end of a test run.

Loaded by `-p tests.concurrency.tally`: where several processes share the tests (`-n`), the one that
shares them out adds up what each has counted.
"""

from collections import Counter
from typing import Any

import pytest

tally: Counter[str] = Counter()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand our numbers to whoever shares out the tests."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["tally"] = dict(tally)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Add what one of the processes has counted."""
    tally.update(getattr(node, "workeroutput", {}).get("tally", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how much was tried."""
    for what, number in sorted(tally.items()):
        terminalreporter.write_line(f"{number:>6} {what}")
