"""librdkafka's own Kafka, which speaks the real protocol over TCP, in a process that can be killed.

    python -m tests.outbox.kafka_broker

Prints its address and serves until its standard input ends.
"""

import subprocess
import sys
from collections.abc import Iterator

from confluent_kafka import Producer

from tests.processes import ROOT


class Broker:
    """Three brokers in one process: to stop for a while, or to kill."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.outbox.kafka_broker"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.servers = self.process.stdout.readline().strip()
        assert self.servers, "the broker did not start"


def broker() -> Iterator[Broker]:
    running = Broker()
    yield running
    running.process.kill()
    running.process.wait()
    for pipe in (running.process.stdin, running.process.stdout):
        assert pipe is not None
        pipe.close()


def _main() -> None:
    # The cluster lives in the client that asked for it.
    client = Producer({"test.mock.num.brokers": 3})
    brokers = client.list_topics(timeout=10).brokers.values()
    sys.stdout.write(",".join(f"{each.host}:{each.port}" for each in brokers) + "\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    _main()
