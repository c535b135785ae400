"""Counters go on while the server that keeps them is away."""

import uuid

import pytest

from config.cache import RedisOrMemory
from tests.concurrency.racing import race
from tests.server_control import ServerControl


@pytest.fixture
def cache(private_valkey: ServerControl) -> RedisOrMemory:
    return RedisOrMemory(private_valkey.url, {})


def test_two_processes_count_together(private_valkey: ServerControl, cache: RedisOrMemory) -> None:
    other = RedisOrMemory(private_valkey.url, {})
    assert cache.add("calls", 0, 60)
    assert not other.add("calls", 0, 60)

    assert [cache.incr("calls"), other.incr("calls")] == [1, 2]


def test_the_basics_of_a_cache_work(cache: RedisOrMemory) -> None:
    cache.set("name", "value", 60)
    assert cache.get("name") == "value"
    assert cache.touch("name", 90)
    assert cache.delete("name")
    assert cache.get("name", "absent") == "absent"
    with pytest.raises(ValueError, match="name"):
        cache.incr("name")


def test_while_the_server_is_away_each_process_counts_for_itself(
    private_valkey: ServerControl, cache: RedisOrMemory
) -> None:
    cache.add("calls", 0, 60)
    cache.incr("calls")
    private_valkey.kill()

    assert cache.add("calls", 0, 60)
    assert [cache.incr("calls"), cache.incr("calls")] == [1, 2]


@pytest.mark.django_db(transaction=True)
def test_calls_that_race_are_all_counted(valkey_url: str) -> None:
    cache, name = RedisOrMemory(valkey_url, {}), uuid.uuid4().hex
    cache.add(name, 0, 60)

    counted = race(*[lambda: cache.incr(name)] * 20)

    assert sorted(counted) == list(range(1, 21))
