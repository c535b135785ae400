"""`make bench`: durable callbacks per second, beside what the database alone can commit."""

import argparse
import os
from pathlib import Path

import django

from bench.servers import ROOT, new_site

_RESULT = ROOT / "bench-result.json"


def main() -> None:
    """Start everything in a folder of its own, measure, and report."""
    options = _options()
    with new_site(ROOT / "var" / "bench") as site:
        os.environ.update(site.env)
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        django.setup()
        from bench import whole  # noqa: PLC0415 - models need to know their database first

        whole.measure(site, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="of which medians are taken")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--result", type=Path, default=_RESULT, help="where to write JSON")
    return parser.parse_args()


if __name__ == "__main__":
    main()
