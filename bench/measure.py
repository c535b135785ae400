"""The rounds: the service, then the yardstick, in turns, so that both see the same machine."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bench import load, pgbench, placed
from bench.load import Sent
from bench.placed import Orders
from bench.provider import PretendStripe

PROTOCOLS: Final = ("simple", "prepared")
#: What is sent before anything is timed: it warms the caches and tells how long a round takes.
_WARM_UP_SECONDS: Final = 0.5
_WARM_UP_MIN: Final = 40

Say = Callable[[str], None]


class Refused(AssertionError):
    """A callback was not answered with 200."""


@dataclass(kw_only=True)
class Level:
    """One number of connections, with a figure for each round."""

    connections: int
    callbacks: list[Sent] = field(default_factory=list)
    commits: dict[str, list[float]] = field(
        default_factory=lambda: {name: [] for name in PROTOCOLS}
    )

    @property
    def per_second(self) -> float:
        """Durable callbacks a second: the median of the rounds."""
        return statistics.median(sent.per_second for sent in self.callbacks)

    def latency_ms(self, percent: float) -> float:
        """The median over the rounds of this percentile."""
        return 1000 * statistics.median(sent.percentile(percent) for sent in self.callbacks)

    def ratio(self, protocol: str) -> float:
        """The median over the rounds of callbacks to commits: drift of the machine cancels out."""
        return statistics.median(self.ratios(protocol))

    def ratios(self, protocol: str) -> list[float]:
        """Callbacks to commits, round by round."""
        pairs = zip(self.callbacks, self.commits[protocol], strict=True)
        return [sent.per_second / commits for sent, commits in pairs]

    @property
    def sender_cpu(self) -> float:
        """What share of one core the sender took: far below 1, or it was measured itself."""
        return statistics.median(sent.cpu_seconds / sent.seconds for sent in self.callbacks)


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Everything that a round needs."""

    orders: Orders
    stripe: PretendStripe
    scripts: dict[str, Path]
    say: Say

    def run(self, connections: Sequence[int], *, rounds: int, seconds: float) -> list[Level]:
        """Measure each level in each round. Raises Refused, NotExactlyOnce, PgbenchFailed."""
        levels = [Level(connections=number) for number in connections]
        rates = {level.connections: self._warm_up(level.connections) for level in levels}
        for turn in range(rounds):
            for level in levels:
                sent_rate, commit_rate = rates[level.connections]
                sent = self._callbacks(level.connections, int(sent_rate * seconds))
                level.callbacks.append(sent)
                for protocol in PROTOCOLS:
                    committed = self._commits(
                        level.connections, int(commit_rate * seconds), protocol
                    )
                    level.commits[protocol].append(committed)
                self.say(
                    f"round {turn + 1}/{rounds}, {level.connections:>2} connections: "
                    f"{sent.per_second:.0f} callbacks/s, "
                    + ", ".join(f"{level.commits[each][-1]:.0f} {each}" for each in PROTOCOLS)
                )
        return levels

    def _warm_up(self, connections: int) -> tuple[float, float]:
        count = max(_WARM_UP_MIN, connections * 10)
        rate = self._callbacks(connections, count).per_second
        sent = self._callbacks(connections, max(count, int(rate * _WARM_UP_SECONDS)))
        return sent.per_second, self._commits(connections, count, "simple")

    def _callbacks(self, connections: int, count: int) -> Sent:
        numbers = self.orders.place(max(count, connections))
        requests = self.stripe.requests(numbers, now=int(time.time()))
        sent = load.send_all(self.stripe.port, requests, connections=connections)
        if sent.statuses != {200: numbers.count}:
            raise Refused(f"answers: {dict(sent.statuses)}")
        placed.check_paid(numbers)
        return sent

    def _commits(self, connections: int, count: int, protocol: str) -> float:
        each = max(1, count // connections)
        numbers = self.orders.place(each * connections)
        committed = pgbench.run(
            self.scripts[protocol], numbers, clients=connections, protocol=protocol
        )
        placed.check_paid(numbers)
        return committed.per_second
