"""The relay's figures as tables for people and as JSON for machines."""

from collections.abc import Sequence
from typing import Any

from bench.relay.latency import Latency
from bench.relay.throughput import Rate
from bench.report import machine


def line(rate: Rate) -> str:
    """One measurement, for whoever watches."""
    beside = ", ".join(
        f"{rate.ratio(name):.2f} of {value:.0f} {name}/s" for name, value in rate.yardsticks.items()
    )
    return (
        f"{rate.over}, {rate.relays} relays: {rate.per_second:.0f} events/s "
        f"({rate.events} in {rate.seconds:.1f} s; {beside})"
    )


def table(rates: Sequence[Rate], latencies: Sequence[Latency], backlog: Rate) -> str:
    """For the terminal, in the form of Markdown."""
    lines = [
        "| over | relays | events/s | yardstick | ratio |",
        "| --- | --- | --- | --- | --- |",
        *(
            f"| {rate.over} | {rate.relays} | {rate.per_second:.0f} "
            f"| {name} {rate.yardsticks[name]:.0f}/s | {rate.ratio(name):.2f} |"
            for rate in rates
            for name in rate.yardsticks
        ),
        "",
        "| commit to publish | events/s | median ms | p99 ms | slowest ms |",
        "| --- | --- | --- | --- | --- |",
        *(
            f"| {each.when} | {each.per_second:.0f} | {1000 * each.percentile(50):.0f} "
            f"| {1000 * each.percentile(99):.0f} | {1000 * each.seconds[-1]:.0f} |"
            for each in latencies
        ),
        "",
    ]
    return "\n".join(lines) + (
        f"\nA backlog of {backlog.events} events: {backlog.seconds:.1f} s through one relay, "
        f"{backlog.per_second:.0f} events/s."
    )


def figures(rates: Sequence[Rate], latencies: Sequence[Latency], backlog: Rate) -> dict[str, Any]:
    """Everything, for machines."""
    return {
        "machine": machine(),
        "throughput": [_rate(rate) for rate in rates],
        "backlog": _rate(backlog),
        "commit_to_publish": [
            {
                "when": each.when,
                "events": len(each.seconds),
                "events_per_second": round(each.per_second, 1),
                "p50_ms": round(1000 * each.percentile(50), 1),
                "p99_ms": round(1000 * each.percentile(99), 1),
                "max_ms": round(1000 * each.seconds[-1], 1),
            }
            for each in latencies
        ],
    }


def _rate(rate: Rate) -> dict[str, Any]:
    return {
        "over": rate.over,
        "relays": rate.relays,
        "events": rate.events,
        "seconds": round(rate.seconds, 3),
        "events_per_second": round(rate.per_second, 1),
        "yardsticks_per_second": {name: round(value, 1) for name, value in rate.yardsticks.items()},
        "ratios": {name: round(rate.ratio(name), 3) for name in rate.yardsticks},
    }
