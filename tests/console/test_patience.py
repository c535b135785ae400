"""A question that takes too long is taken back, instead of failing the page."""

from collections.abc import Iterator

import psycopg
import pytest
from django.db import connection
from django.test import Client

from payments.models import Delivery
from tests.console.rooms import list_of


@pytest.fixture
def slow_deliveries(transactional_db: None) -> Iterator[None]:
    """No statement on the deliveries comes to an end before it is given up."""
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = 0")
        cursor.execute("SET statement_timeout = 150")
    url = connection.get_connection_params()
    with psycopg.connect(
        host=url["host"],
        port=url["port"],
        user=url["user"],
        password=url["password"],
        dbname=url["dbname"],
    ) as other:
        other.execute("LOCK TABLE payments_delivery IN ACCESS EXCLUSIVE MODE")
        yield
    connection.close()  # and with it its impatience


def test_a_question_that_takes_too_long_leads_back_to_the_list(
    admin_client: Client, slow_deliveries: None
) -> None:
    answer = admin_client.get(f"{list_of(Delivery)}?q=needle")

    assert (answer.status_code, answer["Location"]) == (302, list_of(Delivery))


def test_a_list_that_takes_too_long_does_not_lead_back_to_itself(
    admin_client: Client, slow_deliveries: None
) -> None:
    admin_client.raise_request_exception = False

    assert admin_client.get(list_of(Delivery)).status_code == 500
