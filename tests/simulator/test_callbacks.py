"""Signed callbacks, and everything that may happen to them on the way."""

from pathlib import Path

from tests.simulator.running import Receiver, Simulator, account, running, until


def test_a_payment_is_told_once_signed_and_with_its_facts(
    simulator: Simulator, receiver: Receiver
) -> None:
    number = simulator.pay("O-1", 1099)
    simulator.wait_until_sent(number)

    assert receiver.types() == ["payment.succeeded"]
    (event,) = receiver.events()
    assert (event["account"], event["live"]) == ("sim-try", False)
    assert event["payment"]["id"] == number
    assert (event["payment"]["order_no"], event["payment"]["amount_minor"]) == ("O-1", 1099)
    assert simulator.sent(number)[0]["answer"] == "200"


def test_duplicates_are_the_same_event(simulator: Simulator, receiver: Receiver) -> None:
    simulator.wait_until_sent(simulator.pay(duplicates=3))

    assert receiver.types() == ["payment.succeeded"] * 4
    assert len({event["id"] for event in receiver.events()}) == 1


def test_a_delayed_callback_waits_for_its_time(simulator: Simulator, receiver: Receiver) -> None:
    late = simulator.pay(delay=3600)
    simulator.wait_until_sent(simulator.pay("O-2"))
    assert [event["payment"]["order_no"] for event in receiver.events()] == ["O-2"]

    simulator.clock.pass_(3601)
    simulator.wait_until_sent(late)
    assert [event["payment"]["order_no"] for event in receiver.events()] == ["O-2", "O-1"]


def test_older_news_comes_last_when_reordered(simulator: Simulator, receiver: Receiver) -> None:
    number = simulator.pay(reorder=1)
    until(lambda: len(receiver.came) == 1)
    simulator.clock.pass_(2)
    simulator.wait_until_sent(number)

    assert receiver.types() == ["payment.succeeded", "payment.pending"]


def test_a_dropped_callback_is_never_sent(simulator: Simulator, receiver: Receiver) -> None:
    dropped = simulator.pay(drop_callback=1)
    simulator.wait_until_sent(simulator.pay("O-2"))

    assert [event["payment"]["order_no"] for event in receiver.events()] == ["O-2"]
    assert [one["state"] for one in simulator.sent(dropped)] == ["DROPPED"]


def test_a_forged_callback_is_not_authentic_and_not_repeated(
    simulator: Simulator, receiver: Receiver
) -> None:
    number = simulator.pay(forged=1, delay=60)
    simulator.clock.pass_(61)
    simulator.wait_until_sent(number)

    assert sorted(receiver.types()) == ["forged payment.succeeded", "payment.succeeded"]
    assert [one["attempts"] for one in simulator.sent(number)] == [1, 1]


def tried(simulator: Simulator, number: str, attempts: int) -> None:
    until(lambda: simulator.sent(number)[0]["attempts"] == attempts)


def test_what_is_not_taken_is_sent_again_and_signed_anew(
    simulator: Simulator, receiver: Receiver
) -> None:
    receiver.answers = [503, 500]
    number = simulator.pay()
    for attempts, pause in ((1, 2), (2, 3)):
        tried(simulator, number, attempts)
        simulator.clock.pass_(pause)
    simulator.wait_until_sent(number)

    assert receiver.types() == ["payment.succeeded"] * 3
    assert [one["attempts"] for one in simulator.sent(number)] == [3]


def test_after_ten_more_tries_it_gives_up(simulator: Simulator, receiver: Receiver) -> None:
    receiver.answers = [500] * 50
    number = simulator.pay()
    for attempts in range(1, 12):
        tried(simulator, number, attempts)
        simulator.clock.pass_(61)
    simulator.wait_until_sent(number)

    (sent,) = simulator.sent(number)
    assert (sent["state"], sent["attempts"], sent["answer"]) == ("GIVEN_UP", 11, "500")


def test_a_restart_keeps_the_books_and_sends_what_is_left(
    tmp_path: Path, receiver: Receiver
) -> None:
    path = tmp_path / "kept.sqlite3"
    with running(path, lambda: [account(receiver.url)]) as before:
        receiver.clock = before.clock
        number = before.pay(delay=3600)
        before.refund(number, "R-1", 99, pending=3600)
    assert "payment.succeeded" not in receiver.types()

    with running(path, lambda: [account(receiver.url)]) as after:
        receiver.clock = after.clock
        assert after.call("GET", f"/api/payments/{number}")[0] == 200
        after.clock.pass_(3601)
        until(lambda: "refund.succeeded" in receiver.types())
        after.wait_until_sent(number)
    assert sorted(receiver.types()) == ["payment.succeeded", "refund.pending", "refund.succeeded"]


def test_the_books_are_for_nobody_else_to_read(simulator: Simulator, tmp_path: Path) -> None:
    assert simulator.call("GET", "/api/counters")[0] == 200
    assert (tmp_path / "books.sqlite3").stat().st_mode & 0o077 == 0
