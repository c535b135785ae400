"""One server for each test, speaking the provider's format."""

from collections.abc import Iterator

import pytest

from payments.clients import paypal_token
from tests.clients.cases import CASES, Case
from tests.clients.servers.base import FakeApi, running

#: The cases by what their providers do: answer questions, by GET and with failed refunds too,
#: sign what they answer.
WITHOUT = {
    "case": (),
    "askable": ("adyen",),
    "getting": ("adyen", "alipay"),
    "signed": ("adyen", "paypal", "simulator", "stripe"),
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for name, without in WITHOUT.items():
        if name in metafunc.fixturenames:
            cases = [case for case in CASES if case.name not in without]
            metafunc.parametrize(name, cases, ids=[each.name for each in cases])


@pytest.fixture
def api(request: pytest.FixtureRequest) -> Iterator[FakeApi]:
    """The server of the test's case, with one payment, and without complaints at the end."""
    (name,) = WITHOUT.keys() & set(request.fixturenames)
    case: Case = request.getfixturevalue(name)
    with running(case.api()) as server:
        server.pay(case.payment())
        yield server
        assert server.complaints == []
    # Ports are used again, and so would be what is remembered of them.
    paypal_token.forget_all()
