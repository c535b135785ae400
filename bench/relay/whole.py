"""The relay's whole measurement, in order."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from bench import provider
from bench.placed import Orders
from bench.relay import broker, events, latency, processes, report, throughput
from bench.relay.latency import Latency
from bench.relay.throughput import Rate
from bench.servers import ROOT, Site
from config.embedded.ports import answers, free_port
from config.embedded.server import Server
from outbox.models import BUS, Destination

_STEADY_RATE: Final = 200
_SINGLES: Final = 40

Say = Callable[[str], None]


def measure(site: Site, amqp_url: str, options: argparse.Namespace) -> None:
    """Measure throughput, latencies and a backlog; print and write."""
    bus = Destination.objects.get(code=BUS).pk
    rates = []
    for relays in options.relays:
        number = options.events
        rates.append(throughput.over_rabbitmq(site, amqp_url, bus, relays=relays, number=number))
        _say(report.line(rates[-1]))
    # Before there are endpoints, so that each event goes to the broker only.
    latencies = _latencies(site, options)
    backlog = throughput.over_rabbitmq(site, amqp_url, bus, relays=1, number=options.backlog)
    _say(report.line(backlog))
    rates += _over_http(site, options)
    _tell(rates, latencies, backlog, options.result.with_name("bench-relay.json"))


def _latencies(site: Site, options: argparse.Namespace) -> list[Latency]:
    merchant, stripe = provider.set_up(site.port)
    found = []
    with processes.relays(site, "relay", 1):
        found.append(latency.at_rest(_SINGLES))
        found.append(latency.at_rate(_STEADY_RATE, options.seconds))
        site.start_web()
        events.forget()
        found.append(latency.beside_callbacks(Orders(merchant), stripe, seconds=options.seconds))
    broker.empty(site.env["AMQP_URL"])
    return found


def _over_http(site: Site, options: argparse.Namespace) -> list[Rate]:
    port = free_port()
    receiver = Server(
        name="receiver",
        command=(sys.executable, "-m", "bench.relay.receiver", str(port)),
        ready=lambda: answers("127.0.0.1", port),
        env=site.env,
        cwd=ROOT,
    )
    rates = []
    with processes.program(site, receiver):
        destinations = throughput.add_endpoints(port)
        for relays in options.relays:
            rate = throughput.over_http(
                site, port, destinations, relays=relays, number=options.deliveries
            )
            rates.append(rate)
            _say(report.line(rate))
    return rates


def _tell(rates: list[Rate], latencies: list[Latency], backlog: Rate, path: Path) -> None:
    figures: dict[str, Any] = report.figures(rates, latencies, backlog)
    path.write_text(json.dumps(figures, indent=2) + "\n")
    sys.stdout.write(f"\n{report.table(rates, latencies, backlog)}\n\nAll figures: {path}\n")


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
