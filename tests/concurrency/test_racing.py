import pytest
from django.db import connection

from tests.concurrency.racing import race


def _backend() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
def test_each_call_of_a_race_has_a_database_connection_of_its_own() -> None:
    assert len(set(race(*[_backend] * 8))) == 8


@pytest.mark.django_db(transaction=True)
def test_what_a_call_of_a_race_raises_reaches_the_test() -> None:
    def fail() -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        race(fail, _backend)
