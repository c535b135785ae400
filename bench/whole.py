"""The whole measurement, in order."""

import argparse
import os
import sys

from bench import observe, provider, publishing, statements
from bench.measure import PROTOCOLS, Bench
from bench.placed import Orders
from bench.report import Report
from bench.servers import Site

_BACKLOG_SECONDS_MAX = 10.0
_QUIET_LOAD = 1.0


def measure(site: Site, options: argparse.Namespace) -> None:
    """Measure callbacks with nothing else running, then how their events leave; print and write."""
    if (load := os.getloadavg()[0]) > _QUIET_LOAD:
        # The service has fewer processes than pgbench has clients and servers: it gets less of
        # what is left by others, so not even the ratio is true on a busy machine.
        _say(f"This machine is busy (load average {load:.1f}): expect lower figures and ratios.")
    observe.distinct_keys()
    merchant, stripe = provider.set_up(site.port)
    orders = Orders(merchant)
    site.start_web()
    sent, rows = observe.one_callback(
        site.database_log, stripe, orders.place(observe.CALLBACKS_MAX)
    )
    scripts = {protocol: site.folder / f"{protocol}.sql" for protocol in PROTOCOLS}
    for protocol, path in scripts.items():
        path.write_text(statements.script(sent, rows, parameters=protocol == "prepared"))
    bench = Bench(orders=orders, stripe=stripe, scripts=scripts, say=_say)
    levels = bench.run(options.connections, rounds=options.rounds, seconds=options.seconds)
    drained = publishing.backlog(seconds_max=_BACKLOG_SECONDS_MAX)
    publishing.forget_backlog()
    site.start_worker()
    report = Report(
        levels=levels,
        rounds=options.rounds,
        seconds=options.seconds,
        drained=drained,
        at_rest=publishing.latencies_at_rest(orders, stripe),
        statements=sent,
    )
    report.write(options.result)
    sys.stdout.write(f"\n{report.table()}\n\nAll figures: {options.result}\n")


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
