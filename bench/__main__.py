"""`make bench`: durable callbacks per second, beside what the database alone can commit."""

import argparse
import os
from pathlib import Path

import django

from bench.servers import ROOT, Site, new_site

_RESULT = ROOT / "bench-result.json"


def main() -> None:
    """Start everything in folders of their own, measure, and report."""
    options = _options()
    folder = ROOT / "var" / "bench"
    # Each has settings of its own, which a process can read only once.
    (_relay if options.what == "relay" else _callbacks)(folder, options)


def _callbacks(folder: Path, options: argparse.Namespace) -> None:
    with new_site(folder) as site:
        _set_up(site)
        from bench import whole  # noqa: PLC0415 - models need to know their database first

        whole.measure(site, options)


def _relay(folder: Path, options: argparse.Namespace) -> None:
    from bench.relay import broker  # noqa: PLC0415 - nothing else needs RabbitMQ

    with (
        broker.rabbitmq(folder.with_name("bench-rabbitmq")) as url,
        new_site(
            folder,
            AMQP_URL=url,
            AMQP_EXCHANGE=broker.EXCHANGE,
            AMQP_QUEUE=broker.QUEUE,
            OUTBOX_WEBHOOK_ALLOW_PRIVATE="true",
        ) as site,
    ):
        _set_up(site)
        from bench.relay import whole  # noqa: PLC0415 - models need to know their database first

        whole.measure(site, url, options)


def _set_up(site: Site) -> None:
    os.environ.update(site.env)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument(
        "what", nargs="?", choices=["callbacks", "relay"], default="callbacks", help="to measure"
    )
    parser.add_argument("--rounds", type=int, default=3, help="of which medians are taken")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--relays", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--events", type=int, default=20_000, help="for each number of relays")
    parser.add_argument("--deliveries", type=int, default=2000, help="the same, over HTTP")
    parser.add_argument("--backlog", type=int, default=100_000, help="that one relay drains")
    parser.add_argument("--result", type=Path, default=_RESULT, help="where to write JSON")
    return parser.parse_args()


if __name__ == "__main__":
    main()
