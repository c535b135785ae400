"""The figures as a table for people and as JSON for machines."""

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from django.db import connection

from bench.measure import PROTOCOLS, Level
from bench.publishing import Drained, median

_COLUMNS: Final = (
    ("connections", 11),
    ("callbacks/s", 11),
    ("p50 ms", 7),
    ("p99 ms", 7),
    ("pgbench/s", 9),
    ("ratio", 5),
    ("prepared/s", 10),
    ("ratio", 5),
    ("sender's core", 13),
)


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything that was measured, and how."""

    levels: Sequence[Level]
    rounds: int
    seconds: float
    drained: Drained
    at_rest: list[float]
    statements: Sequence[str]

    def table(self) -> str:
        """For the terminal."""
        lines = [" | ".join(f"{name:>{width}}" for name, width in _COLUMNS)]
        lines.append("-+-".join("-" * width for _, width in _COLUMNS))
        lines += [self._row(level) for level in self.levels]
        lines += ["", self._publishing()]
        return "\n".join(lines)

    def _publishing(self) -> str:
        drained, slowest = self.drained, self.at_rest[-1]
        return (
            f"One relay published {drained.per_second:.0f} events/s from a backlog "
            f"({drained.events} in {drained.seconds:.1f} s).\n"
            f"At rest an event was published {1000 * median(self.at_rest):.0f} ms after its "
            f"callback arrived (median; slowest of {len(self.at_rest)}: {1000 * slowest:.0f} ms)."
        )

    def write(self, path: Path) -> None:
        """Write all figures, round by round, as JSON."""
        path.write_text(json.dumps(self._figures(), indent=2) + "\n")

    def _row(self, level: Level) -> str:
        simple, prepared = (_median(level.commits[protocol]) for protocol in PROTOCOLS)
        cells = (
            str(level.connections),
            f"{level.per_second:.0f}",
            f"{level.latency_ms(50):.1f}",
            f"{level.latency_ms(99):.1f}",
            f"{simple:.0f}",
            f"{level.ratio('simple'):.2f}",
            f"{prepared:.0f}",
            f"{level.ratio('prepared'):.2f}",
            f"{level.sender_cpu:.0%}",
        )
        return " | ".join(
            f"{cell:>{width}}" for cell, (_, width) in zip(cells, _COLUMNS, strict=True)
        )

    def _figures(self) -> dict[str, Any]:
        return {
            "machine": machine(),
            "rounds": self.rounds,
            "seconds_per_round": self.seconds,
            "levels": [_level(level) for level in self.levels],
            "relay": {
                "backlog_events": self.drained.events,
                "events_per_second": round(self.drained.per_second, 1),
            },
            "arrival_to_published_ms": [round(1000 * each, 1) for each in self.at_rest],
            "statements_per_callback": len(self.statements),
        }


def _level(level: Level) -> dict[str, Any]:
    return {
        "connections": level.connections,
        "callbacks_per_second": round(level.per_second, 1),
        "p50_ms": round(level.latency_ms(50), 2),
        "p99_ms": round(level.latency_ms(99), 2),
        "sender_share_of_a_core": round(level.sender_cpu, 3),
        "rounds": [round(sent.per_second, 1) for sent in level.callbacks],
        "pgbench": {
            protocol: {
                "commits_per_second": round(_median(level.commits[protocol]), 1),
                "ratio": round(level.ratio(protocol), 3),
                "rounds": [round(rate, 1) for rate in level.commits[protocol]],
                "ratios": [round(ratio, 3) for ratio in level.ratios(protocol)],
            }
            for protocol in PROTOCOLS
        },
    }


def machine() -> dict[str, Any]:
    """What was measured on, and how the database keeps its word."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('server_version'), current_setting('fsync'),"
            " current_setting('synchronous_commit')"
        )
        version, fsync, synchronous_commit = cursor.fetchone() or ("", "", "")
    return {
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "postgresql": version,
        "fsync": fsync,
        "synchronous_commit": synchronous_commit,
        "load_average_at_end": round(os.getloadavg()[0], 2),
    }


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]
