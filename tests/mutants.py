"""Small faults put into our own code on purpose: each must make a test fail.

    python -m tests.mutants [WORD]      all mutants, or those with the word in their name

Each mutant is a copy of the tree with one thought of its code undone. A mutant that its tests
do not notice is a test that is missing.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
AT_ONCE: Final = 2
_NOT_COPIED: Final = (".venv", ".git", "var", "__pycache__", ".*_cache", ".hypothesis")
_TESTS_FAILED: Final = 1

_RECEIVE = "payments/receive.py"
_PAID = "payments/paid.py"
_SETTLE = "payments/settle.py"
_DURABLE = "@transaction.atomic(durable=True)\n"

RECEIVING = "tests/payments/test_receive.py"
PARKING = "tests/payments/test_parked.py"
DECIDING = "tests/payments/conflicts/test_resolve.py"
TWO_PEOPLE = "tests/payments/conflicts/test_four_eyes.py"
RACES = "tests/concurrency/test_payments.py"
DUELS = "tests/concurrency/test_interleavings.py"
KILLS = "tests/concurrency/test_kills.py"
FAULTS = "tests/concurrency/test_faults.py"
RELAYING = "tests/outbox/test_relay.py"
CLAIMING = "tests/outbox/test_claims.py"
RETAINING = "tests/outbox/test_retention.py"
LOGGED = "tests/outbox/test_cdc.py"
HTTP_OUT = "tests/outbox/webhooks/test_exchange.py"
WEBHOOKS = "tests/outbox/webhooks/test_relay.py"
WEBHOOKS_CROWD = "tests/outbox/webhooks/test_crowd.py"
KEYS = "tests/idempotency/test_claims.py"
LEASES = "tests/idempotency/test_leased.py"
FRONT = "tests/idempotency/test_front.py"
DIGESTS = "tests/idempotency/test_digest.py"
HEARING = "tests/outbox/test_inbox.py"
COUNTING = "tests/orders/totals/test_counting.py"
REBUILDING = "tests/orders/totals/test_rebuild.py"
CONSUMING = "tests/consumers/test_rabbitmq.py"
CONSUMER_KILLS = "tests/consumers/test_kills.py"
KEY_RACES = "tests/concurrency/test_keys.py"
KEY_ANSWERS = "tests/orders/test_api_idempotency.py"
SIMULATED = "tests/simulator/test_api.py"
OVERTAKEN = "tests/simulator/test_overtaken.py"
COMPARING = "tests/simulator/test_check.py"
REFUNDING = "tests/payments/refunds/test_carry_out.py"
TELLING = "tests/payments/refunds/test_told.py"
POLLING = "tests/payments/refunds/test_polling.py"
TOLD = "tests/payments/refunds/test_told.py"
ROOMS = "tests/payments/refunds/test_room_that_becomes_free.py"
NEWS = "tests/payments/refunds/test_news_in_any_order.py"
REFUND_COURSES = "tests/payments/refunds/test_stateful.py"


@dataclass(frozen=True)
class Edit:
    """In a file, one text that occurs once, and what stands there instead."""

    file: str
    old: str
    new: str


@dataclass(frozen=True)
class Mutant:
    """A fault, and the tests that must notice it: files, perhaps with `-k` and words."""

    name: str
    edits: Sequence[Edit]
    tests: Sequence[str]


def _mutant(name: str, file: str, old: str, new: str, *tests: str) -> Mutant:
    return Mutant(name, [Edit(file, old, new)], tests)


MUTANTS: Final = (
    Mutant(
        "every statement commits by itself",
        [
            Edit(_RECEIVE, f"{_DURABLE}def _receive", "def _receive"),
            Edit("outbox/events.py", "if not connection.in_atomic_block:", "if False:"),
            Edit("orders/numbers.py", "if not connection.in_atomic_block:", "if False:"),
        ],
        (KILLS, "-k", "first_delivery"),
    ),
    Mutant(
        "every item of a batch commits by itself",
        [
            Edit(_RECEIVE, f"{_DURABLE}def _receive", "def _receive"),
            Edit(_RECEIVE, "def _take(", f"{_DURABLE}def _take("),
        ],
        (KILLS, "-k", "batch"),
    ),
    _mutant(
        "an update that changed no row counts as done",
        "orders/paying.py",
        "if version is None:\n        return False",
        "if version is None:\n        return True",
        *(RACES, "-k", "two_transactions or closing"),
    ),
    _mutant(
        "a paid or closed order can be paid",
        "orders/lifecycle.py",
        "AND status = ANY(%s)",
        "AND cardinality(%s) > 0",
        *(RACES, "-k", "two_transactions or closing"),
    ),
    _mutant(
        "a closed order can be paid",
        "orders/lifecycle.py",
        "_BY_PAYMENT: Final = _BY_DECISION - {OrderStatus.CLOSED}",
        "_BY_PAYMENT: Final = _BY_DECISION",
        *(RECEIVING, "-k", "closed"),
    ),
    _mutant(
        "the ledger swallows any violation",
        "payments/ledger.py",
        "ON CONFLICT (account_id, kind, txn_no) DO NOTHING",
        "ON CONFLICT DO NOTHING",
        "tests/architecture/test_sql.py",
    ),
    _mutant(
        "the amount is not compared",
        _SETTLE,
        "if payment.money.amount_minor != order.money.amount_minor:",
        "if False:",
        RECEIVING,
    ),
    _mutant(
        "the currency is not compared",
        _SETTLE,
        "if payment.money.currency != order.money.currency:",
        "if False:",
        RECEIVING,
    ),
    _mutant(
        "the account that was paid is not compared",
        _SETTLE,
        "if payment.stated_account_no and payment.stated_account_no != payee.account_no:",
        "if False:",
        RECEIVING,
    ),
    _mutant(
        "an order can be paid through any account",
        _SETTLE,
        "if order.payable_through and order.payable_through != payee.endpoint:",
        "if False:",
        RECEIVING,
    ),
    _mutant(
        "money that lost a race is not held",
        _PAID,
        "ledger.place(row_id, Disposition.HELD, order_id=None)",
        "pass",
        RECEIVING,
    ),
    _mutant(
        "a repeat leaves no delivery",
        _RECEIVE,
        "delivery_id = deliveries.record(",
        "delivery_id = 0 if decision.outcome == Outcome.DUPLICATE else deliveries.record(",
        RECEIVING,
    ),
    _mutant(
        "who parks takes no number lock",
        _PAID,
        "lock_order_number(payee.merchant_id, payment.order_no)\n        order",
        "order",
        *(DUELS, "-k", "payment_and_creation"),
    ),
    _mutant(
        "who places takes no number lock",
        "orders/place.py",
        "    lock_order_number(merchant.pk, order_no)\n",
        "",
        *(DUELS, "-k", "payment_and_creation"),
    ),
    _mutant(
        "after the number lock nobody looks again",
        _PAID,
        "payment.order_no)\n        order = lookup.find(payee.merchant_id, payment.order_no)\n"
        "    return order",
        "payment.order_no)\n    return order",
        *(DUELS, "-k", "payment_and_creation"),
    ),
    _mutant(
        "a transaction with another meaning is a repeat",
        _PAID,
        "if payment.contradicts(row.payment, account_no=payee.account_no):",
        "if False:",
        RECEIVING,
    ),
    _mutant(
        "a second event cannot name the order",
        _PAID,
        "if payment.order_no and not row.payment.order_no:",
        "if False:",
        *(RACES, "-k", "names_the_order"),
    ),
    _mutant(
        "test events pay live orders",
        _RECEIVE,
        "if reading.live is not None and reading.live != intake.endpoint.account.live:",
        "if False:",
        RECEIVING,
    ),
    _mutant(
        "items of a batch are taken as they come",
        _RECEIVE,
        "sorted(range(len(readings)), key=lambda item: _locked_by(readings[item]))",
        "range(len(readings))",
        *(RACES, "-k", "crosswise"),
    ),
    _mutant(
        "a deadlock is the provider's trouble",
        _RECEIVE,
        "return retry_deadlocks(partial(_receive, intake, readings))",
        "return _receive(intake, readings)",
        *(FAULTS, "-k", "ended_to_free"),
    ),
    _mutant(
        "a parked payment is not applied when its order is placed",
        "orders/place.py",
        "    on_placed(order, now)\n",
        "",
        PARKING,
    ),
    _mutant(
        "a sweep does not look again at what it has locked",
        "payments/sweep.py",
        "WHERE t.id = %s AND t.kind = 'PAYMENT' AND t.disposition = 'PARKED'",
        "WHERE t.id = %s AND t.kind = 'PAYMENT'",
        *(DUELS, "-k", "sweep_and_sweep"),
    ),
    _mutant(
        "an order that appears does not answer the question about it",
        "payments/parked.py",
        "    conflicts.answered_by_fact(",
        "    lambda: conflicts.answered_by_fact(",
        PARKING,
    ),
    _mutant(
        "a sweep asks about an order that is there",
        "payments/sweep.py",
        "WHERE o.merchant_id = t.merchant_id AND o.order_no = t.order_no)",
        "WHERE false)",
        *(FAULTS, "-k", "sweeping"),
    ),
    _mutant(
        "a conflict is opened and not told",
        "payments/conflicts/open.py",
        "    lifecycle.tell(CONFLICT_OPENED,",
        "    lambda: lifecycle.tell(CONFLICT_OPENED,",
        RECEIVING,
    ),
    _mutant(
        "a decision is taken on what has moved",
        "payments/conflicts/checking.py",
        "    if changes:",
        "    if not changes and False:",
        *(DECIDING, "-k", "opened_before"),
    ),
    _mutant(
        "an approval is carried out on what has moved",
        "payments/conflicts/four_eyes.py",
        "    if changes:",
        "    if not changes and False:",
        *(TWO_PEOPLE, "-k", "moved"),
    ),
    _mutant(
        "an approval is not bound to what was proposed",
        "payments/conflicts/four_eyes.py",
        "if digest != proposal.digest or proposal.digest != proposals.digest_of(proposal):",
        "if digest != proposal.digest:",
        *(TWO_PEOPLE, "-k", "bound"),
    ),
    _mutant(
        "one person decides about any amount",
        "payments/conflicts/resolve.py",
        "choice.amount_minor > limit",
        "choice.amount_minor > limit + 1",
        *(TWO_PEOPLE, "-k", "one_decides"),
    ),
    _mutant(
        "money that waits is refunded and goes on waiting",
        "payments/conflicts/effects.py",
        "if money.disposition == Disposition.PARKED:",
        "if False:",
        *(DECIDING, "-k", "waits_no_more"),
    ),
    _mutant(
        "entries are chained without a lock",
        "audit/chain.py",
        'cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])',
        'cursor.execute("SELECT %s::bigint", [LOCK])',
        *("tests/audit/test_chain.py", "-k", "many_who_write"),
    ),
    _mutant(
        "a paid order is told twice",
        "orders/paying.py",
        "    events.tell(\n        OrderStatus.PAID,",
        "    told = {'order_no': order_no, 'money': money, 'txn_no': txn_no}\n"
        "    times = {'version': version + 1, 'at': paid_at, 'now': now}\n"
        "    events.tell(OrderStatus.PAID, merchant_code=merchant_code, **told, **times)\n"
        "    events.tell(\n        OrderStatus.PAID,",
        RECEIVING,
    ),
    _mutant(
        "an event can be told without what it tells",
        "outbox/events.py",
        "if not connection.in_atomic_block:",
        "if False:",
        "tests/outbox/test_events.py",
    ),
    _mutant(
        "events overtake those before them",
        "outbox/claims_sql.py",
        "AND previous.seq < head.seq",
        "AND false",
        CLAIMING,
    ),
    _mutant(
        "an event is marked before it is published",
        "outbox/relay.py",
        "done = publish(destination, held, began + publish_seconds_max)",
        "claims.published(held)\n"
        "    done = publish(destination, held, began + publish_seconds_max)",
        RELAYING,
    ),
    _mutant(
        "who lost his claim can still mark",
        "outbox/claims_sql.py",
        "AND dispatch.fence = claim.fence\n      AND dispatch.owner_token = %(owner)s",
        "AND %(owner)s::uuid IS NOT NULL",
        CLAIMING,
    ),
    _mutant(
        "an old fence of the same owner can still mark",
        "outbox/claims_sql.py",
        "AND dispatch.fence = claim.fence\n",
        "\n",
        CLAIMING,
    ),
    _mutant(
        "a destination waits for the lines of another",
        "outbox/claims_sql.py",
        "WHERE previous.destination_id = head.destination_id\n",
        "WHERE true\n",
        CLAIMING,
    ),
    _mutant(
        "whoever waits may be passed like the dead",
        "outbox/claims_sql.py",
        "AND (previous.dead_at IS NULL OR NOT EXISTS (",
        "AND (NOT EXISTS (",
        CLAIMING,
    ),
    _mutant(
        "a confirmation counts for whichever message waits",
        "outbox/destinations/confirms.py",
        "if multiple else [number]",
        "if multiple else [min(self._open)]",
        "tests/outbox/test_confirms.py",
    ),
    _mutant(
        "a backlog goes before all new events",
        "outbox/relay.py",
        "newest_first=rounds % ROUNDS_TO_NEWEST == 0,",
        "newest_first=False,",
        "tests/outbox/test_drains.py",
    ),
    _mutant(
        "broken destinations take all threads",
        "outbox/drains.py",
        "self._suspect if line.failures or line.slow else self._sound",
        "self._sound",
        "tests/outbox/test_drains.py",
    ),
    _mutant(
        "an event is lost between what a destination is filled with and what it gets",
        "outbox/destinations/directory.py",
        'cursor.execute("LOCK TABLE outbox_event IN SHARE ROW EXCLUSIVE MODE")',
        'cursor.execute("SELECT 1")',
        "tests/outbox/test_directory.py",
    ),
    _mutant(
        "publishing may hold a transaction open",
        "outbox/relay.py",
        "if connection.in_atomic_block:",
        "if False:",
        RELAYING,
    ),
    _mutant(
        "an event is forgotten though a destination has not got it",
        "outbox/retention.py",
        "coalesce(published_at < statement_timestamp() - %(kept)s, false)",
        "published_at < statement_timestamp() - %(kept)s",
        RETAINING,
    ),
    _mutant(
        "an event is forgotten before the log's reader has it",
        "outbox/retention.py",
        "page.age < 0 OR page.age > age(catalog_xmin)",
        "true",
        LOGGED,
        "-k",
        "retention",
    ),
    _mutant(
        "an event is forgotten only by a run that gets to it from the beginning",
        "outbox/retention.py",
        "return total, position",
        "return total, BEGINNING",
        RETAINING,
    ),
    _mutant(
        "the log tells what was forgotten",
        "outbox/cdc.py",
        "publish = 'insert'",
        "publish = 'insert, delete'",
        LOGGED,
        "-k",
        "retention",
    ),
    _mutant(
        "the relay goes on beside the log",
        "outbox/events.py",
        'relayed = settings.RELAY != "cdc"',
        "relayed = True",
        LOGGED,
        "-k",
        "bus",
    ),
    _mutant(
        "a slot may be forgotten until the disk is full of log",
        "outbox/slots.py",
        "if slot.retained_bytes > settings.CDC_SLOT_BYTES_MAX:",
        "if False:",
        "tests/outbox/test_slots.py",
    ),
    _mutant(
        "webhooks: a name is looked up again to connect",
        "outbox/webhooks/pinned.py",
        "connecting.connect((str(address), self._target.port))",
        "connecting.connect((self._target.host, self._target.port))",
        HTTP_OUT,
    ),
    _mutant(
        "webhooks: one good address is enough",
        "outbox/webhooks/target.py",
        "if not all(is_allowed(",
        "if not any(is_allowed(",
        HTTP_OUT,
    ),
    _mutant(
        "webhooks: an IPv4 address within another one passes",
        "outbox/webhooks/networks.py",
        "return address.version == 4 or address in _GLOBAL_UNICAST",
        "return True",
        "tests/outbox/webhooks/test_target.py",
    ),
    _mutant(
        "webhooks: the address is not checked before it is connected to",
        "outbox/webhooks/pinned.py",
        "check_addresses(addresses, private=self._private)",
        "pass",
        HTTP_OUT,
    ),
    _mutant(
        "webhooks: an answer in drops is waited for",
        "outbox/webhooks/pinned.py",
        "self._socket.settimeout(self._deadline.left())\n        return self._socket.recv",
        "self._socket.settimeout(5)\n        return self._socket.recv",
        HTTP_OUT,
    ),
    _mutant(
        "webhooks: any certificate will do",
        "outbox/webhooks/pinned.py",
        "server_hostname=server_hostname)",
        'server_hostname="hooks.example.com")',
        HTTP_OUT,
    ),
    _mutant(
        "webhooks: a redirect delivers",
        "outbox/webhooks/settle.py",
        "200 <= status < 300",
        "200 <= status < 400",
        WEBHOOKS,
    ),
    Mutant(
        "webhooks: an endpoint that rests is sent to",
        [
            Edit(
                "outbox/webhooks/due.py",
                "AND (endpoint.open_until IS NULL OR endpoint.open_until <= clock_timestamp())",
                "",
            ),
            Edit("outbox/webhooks/relay.py", "not breaker.take_probe(endpoint.pk)", "False"),
        ],
        (WEBHOOKS, "-k", "rests"),
    ),
    _mutant(
        "webhooks: everybody tries an endpoint that rests",
        "outbox/webhooks/breaker.py",
        "AND open_until <= clock_timestamp()",
        "",
        WEBHOOKS,
    ),
    _mutant(
        "webhooks: one that fails has as many in flight as any",
        "outbox/webhooks/relay.py",
        "bool(endpoint.failures or endpoint.is_probe",
        "bool(endpoint.is_probe",
        "tests/outbox/webhooks/test_crowd.py",
        "-k",
        "dead",
    ),
    _mutant(
        "webhooks: only the newest secret signs",
        "outbox/webhooks/signature.py",
        "for key in keys)",
        "for key in keys[:1])",
        WEBHOOKS,
    ),
    _mutant(
        "webhooks: 410 costs the event an attempt",
        "outbox/webhooks/settle.py",
        "return DispatchState.PENDING if claims.released([setback]) else None",
        "claims.refused([setback], attempts_max=9)\n        return DispatchState.PENDING",
        WEBHOOKS,
    ),
    _mutant(
        "webhooks: a removed endpoint goes on collecting",
        "outbox/webhooks/endpoints.py",
        "destination.event_types = NOTHING",
        "destination.event_types = []",
        WEBHOOKS,
    ),
    _mutant(
        "webhooks: an answer that nobody can read stops all the others",
        "outbox/webhooks/schedule.py",
        "except (ValueError, OverflowError):",
        "except ValueError:",
        "tests/outbox/webhooks/test_schedule.py",
    ),
    _mutant(
        "webhooks: a fault of ours at one endpoint stops all the others",
        "outbox/webhooks/relay.py",
        "        except Exception:\n",
        "        except ZeroDivisionError:\n",
        *(WEBHOOKS_CROWD, "-k", "fault_of_ours"),
    ),
    _mutant(
        "webhooks: endpoints that hang take all threads",
        "outbox/webhooks/relay.py",
        "return min(1 - busy, self._doubtful_room())",
        "return 1 - busy",
        *(WEBHOOKS_CROWD, "-k", "however_many"),
    ),
    _mutant(
        "webhooks: what is asked for at one endpoint takes all threads",
        "outbox/webhooks/attempts.py",
        "SELECT DISTINCT ON (asked.destination_id) asked.id",
        "SELECT asked.id",
        *(WEBHOOKS_CROWD, "-k", "asked_for_at_one"),
    ),
    _mutant(
        "webhooks: an old address that is gone disables the new one",
        "outbox/webhooks/settle.py",
        'if destination.config["url"] != errand.url:',
        "if False:",
        *(WEBHOOKS, "-k", "old_address"),
    ),
    _mutant(
        "webhooks: a new address waits for the schedule of the old one",
        "outbox/webhooks/endpoints.py",
        "    ).update(next_attempt_at=None)\n",
        "    )\n",
        *(WEBHOOKS, "-k", "new_address or resumes_an"),
    ),
    _mutant(
        "webhooks: a merchant gets what is internal",
        "outbox/webhooks/endpoints.py",
        "return list(settings.OUTBOX_WEBHOOK_TYPES)",
        "return []",
        *(WEBHOOKS, "-k", "without_named"),
    ),
    _mutant(
        "webhooks: a removed endpoint that is resumed is sent to",
        "outbox/webhooks/due.py",
        "      AND endpoint.removed_at IS NULL\n",
        "",
        *(WEBHOOKS, "-k", "somebody_resumes"),
    ),
    _mutant(
        "webhooks: a lost answer of the database is written down twice",
        "outbox/webhooks/settle.py",
        "if again and attempts.is_recorded(errand, run):",
        "if False:",
        *(WEBHOOKS, "-k", "lost_answer"),
    ),
    _mutant(
        "a mark is not tried again, in the outbox and for webhooks",
        "outbox/marking.py",
        "if time.monotonic() + PAUSE_SECONDS >= until:",
        "if True:",
        *(RELAYING, WEBHOOKS, "-k", "comes_back or is_back"),
    ),
    _mutant(
        "a mark whose answer was lost in the outbox is taken for a lost claim",
        "outbox/claims.py",
        "    if again:\n",
        "    if False:\n",
        *(RELAYING, "-k", "answer_is_lost"),
    ),
    _mutant(
        "all of a batch leaves the outbox before any of it is heard of",
        "outbox/destinations/port.py",
        "if part and size > PART_BYTES_MAX:",
        "if False:",
        *("tests/outbox/test_rabbitmq.py", "-k", "takes_too_long"),
    ),
    _mutant(
        "a destination of the outbox that may have published is filled",
        "outbox/destinations/directory.py",
        "dispatches.filter(fence__gt=0)",
        "dispatches.filter(published_at__isnull=False)",
        *("tests/outbox/test_directory.py", "-k", "may_have_been"),
    ),
    _mutant(
        "the outbox waits for events in a worker's only slot",
        "outbox/tasks.py",
        "lingers = only_one and _slots.value != 1",
        "lingers = only_one",
        *("tests/outbox/test_worker.py", "-k", "one_slot"),
    ),
    _mutant(
        "inbox: what the database undoes is told as handled",
        "outbox/inbox.py",
        "        _expect_to_be_kept()\n",
        "",
        *(HEARING, "-k", "does_not_keep"),
    ),
    _mutant(
        "inbox: a handler may end the transaction of its mark",
        "outbox/inbox.py",
        "with connection.execute_wrapper(_refuse_to_end):",
        "if True:",
        *(HEARING, "-k", "by_itself"),
    ),
    _mutant(
        "webhooks: what was asked for is sent for ever",
        "outbox/webhooks/attempts.py",
        "elif errand.asked is not None:",
        "elif False:",
        "tests/outbox/webhooks/test_asked.py",
    ),
    _mutant(
        "any signature will do",
        "payments/providers/hmac_verify.py",
        "if hmac.compare_digest(candidate, expected) and found is None:",
        "if found is None:",
        "tests/providers/test_conformance.py",
    ),
    _mutant(
        "a signature holds for ever",
        "payments/providers/hmac_verify.py",
        "if not -rule.tolerance_future_seconds <= age <= rule.tolerance_past_seconds:",
        "if False:",
        "tests/providers/test_conformance.py",
    ),
    _mutant(
        "what was not stored is acknowledged",
        "payments/views.py",
        "provider.acknowledge(Reply.UNAVAILABLE) if provider",
        "provider.acknowledge(Reply.ACCEPTED) if provider",
        "tests/payments/test_database_trouble.py",
    ),
    _mutant(
        "a commit that no standby has is acknowledged",
        "config/postgresql/base.py",
        "if self._local_commit_only:",
        "if False:",
        "tests/payments/test_database_trouble.py",
    ),
    _mutant(
        "idempotency: whoever holds the record finishes it",
        "idempotency/lease.py",
        "id = %(id)s AND owner_token = %(owner)s AND fence = %(fence)s",
        "id = %(id)s",
        *(KEYS, "-k", "taken_over"),
    ),
    _mutant(
        "idempotency: an answer is overwritten",
        "idempotency/lease.py",
        "WHERE {OURS} AND status = 'PROCESSING' AND {only_if}",
        "WHERE {OURS} AND {only_if}",
        *(KEYS, "-k", "final_status_is_final"),
    ),
    _mutant(
        "idempotency: a lease that runs is taken over",
        "idempotency/lease.py",
        "status = 'PROCESSING' AND lease_until <= {NOW}",
        "status = 'PROCESSING'",
        *(KEYS, "-k", "lease_that_runs"),
    ),
    _mutant(
        "idempotency: the meaning does not matter",
        "idempotency/claims.py",
        "if bytes(digest) != intent.digest:",
        "if False:",
        KEYS,
    ),
    _mutant(
        "idempotency: everybody queues for the key",
        "idempotency/claims.py",
        "CASE WHEN pg_try_advisory_xact_lock(%(lock)s::bigint)",
        "CASE WHEN %(lock)s::bigint IS NOT NULL",
        *(KEYS, "-k", "not_committed"),
    ),
    _mutant(
        "idempotency: whose meaning is being run is not asked",
        "idempotency/claims.py",
        "        case (False,):\n            return Mismatch()",
        "        case (False,):\n            return Running()",
        *(KEYS, "-k", "not_committed"),
    ),
    _mutant(
        "idempotency: a holder who is gone is not looked for",
        "idempotency/claims.py",
        "match look(intent) or _held(intent) or look(intent):",
        "match look(intent) or _held(intent):",
        *(KEYS, "-k", "while_he_is_looked_for"),
    ),
    _mutant(
        "idempotency: a broken recovery keeps the others waiting",
        "idempotency/sweep.py",
        "    except Exception as error:",
        "    except KeyError as error:",
        *("tests/idempotency/test_sweep.py", "-k", "breaks"),
    ),
    _mutant(
        "idempotency: a storm may occupy every thread",
        "idempotency/patience.py",
        "    if not _places.acquire(blocking=False):\n        return None\n",
        "    _places.acquire()\n",
        *("tests/concurrency/test_hot_key.py", "-k", "few_statements and transaction"),
    ),
    _mutant(
        "a broken refund keeps the others waiting",
        "payments/refunds/one_by_one.py",
        "    except Exception as error:",
        "    except KeyError as error:",
        *("tests/payments/refunds/test_one_by_one.py", "-k", "poisoned"),
    ),
    _mutant(
        "an owner who was taken over moves the refund",
        "idempotency/lease.py",
        "id = %(id)s AND owner_token = %(owner)s AND fence = %(fence)s",
        "id = %(id)s",
        *("tests/payments/refunds/test_lifecycle.py", "-k", "somebody_else"),
    ),
    _mutant(
        "a limit does not count",
        "orders/api/limits.py",
        "THEN present.used + 1 ELSE 1 END",
        "THEN present.used ELSE 1 END",
        *("tests/concurrency/test_limits.py", "-k", "at_once"),
    ),
    _mutant(
        "idempotency: an expired lease runs the work again",
        "idempotency/leased.py",
        "finding = recover(intent, claim)",
        "finding: Finding | RetryWithSameKey = RetryWithSameKey()",
        *(LEASES, "-k", "lost_reply"),
    ),
    _mutant(
        "idempotency: a refusal keeps what was written",
        "idempotency/one_transaction.py",
        "            result = work()\n            lifecycle.finish(claim, status, result)",
        "            try:\n                result = work()\n"
        "            except Refused as refusal:\n"
        "                result, status = refusal.result, RecordStatus.FAILED_FINAL\n"
        "            lifecycle.finish(claim, status, result)",
        "tests/idempotency/test_one_transaction.py",
    ),
    _mutant(
        "idempotency: what is undecided is forgotten",
        "idempotency/retention.py",
        "WHERE finished_at < clock_timestamp() - %(horizon)s",
        "WHERE created_at < clock_timestamp() - %(horizon)s",
        *(LEASES, "-k", "past_the_horizon"),
    ),
    _mutant(
        "idempotency: the front lets everybody leave",
        "idempotency/front.py",
        "if redis.call('GET', KEYS[1]) == ARGV[1] then",
        "if true then",
        *(FRONT, "-k", "may_leave"),
    ),
    _mutant(
        "idempotency: the front decides about meanings",
        "idempotency/front.py",
        "return holder is None or holder == mark or not holder.endswith(intent.digest)",
        "return holder is None or holder == mark",
        *(FRONT, "-k", "left or another_meaning"),
    ),
    _mutant(
        "idempotency: numbers are doubles",
        "idempotency/digest.py",
        "        sign, digits, exponent = Decimal(value).as_tuple()",
        "        sign, digits, exponent = Decimal(float(value)).as_tuple()",
        DIGESTS,
    ),
    _mutant(
        "idempotency: the address is no part of the meaning",
        "orders/api/idempotency_key.py",
        "arguments=arguments,",
        "arguments={},",
        *(KEY_ANSWERS, "-k", "two_orders"),
    ),
    _mutant(
        "idempotency: keys belong to the API key",
        "orders/api/idempotency_key.py",
        "scope=scope_of(merchant_of(request), self.name)",
        "scope=Scope(request.auth.prefix, self.name)",
        *(KEY_ANSWERS, "-k", "rotated"),
    ),
    _mutant(
        "idempotency: shape comes before the meaning",
        "orders/api/idempotent.py",
        "    intent = operation.intent(request, key, arguments)\n",
        "    operation.wanted(request)\n    intent = operation.intent(request, key, arguments)\n",
        *(KEY_ANSWERS, "-k", "another_meaning"),
    ),
    _mutant(
        "the simulator finds a refund by its own number before the merchant's",
        "config/simulator/refunds.py",
        "ORDER BY refund_no = ?2 DESC LIMIT 1",
        "ORDER BY number = ?2 DESC LIMIT 1",
        *(SIMULATED, "-k", "by_a_number"),
    ),
    _mutant(
        "the simulator makes a second refund of one number",
        "config/simulator/refunds.py",
        "        if known:",
        "        if known and money.amount_minor > 10**9:",
        *(SIMULATED, "-k", "one_refund"),
    ),
    _mutant(
        "a callback's refund number is not looked for",
        "payments/refunds/ours.py",
        "named |= Q(refund_no=callback.refund_no)",
        "named |= Q(refund_no='')",
        *(OVERTAKEN, "-k", "overtakes_the_answer"),
    ),
    _mutant(
        "an open question explains every difference of its payment",
        "config/simulator/comparison.py",
        "return row.refunded_minor in possible and",
        "return len(possible) > 1 or",
        *(COMPARING, "-k", "explains_its_own"),
    ),
    _mutant(
        "a doubt about one refund explains the others",
        "config/simulator/comparison.py",
        "        if self._ours.asks_about(refund):",
        "        if self._ours.questioned:",
        *(COMPARING, "-k", "does_not_explain"),
    ),
    _mutant(
        "a spent payment refuses at once",
        "payments/refunds/answers.py",
        "if answer.is_spent and _sent_before(claim, VISIBILITY_WINDOW):",
        "if answer.is_spent:",
        *(REFUNDING, "-k", "spent"),
    ),
    _mutant(
        "an accepted refund may stay so for ever",
        "payments/refunds/answers.py",
        "if _sent_before(claim, PENDING_BEFORE_DOUBT):",
        "if False:",
        *(REFUNDING, "-k", "stays_so"),
    ),
    _mutant(
        "who cannot be asked holds orders back",
        "payments/asking.py",
        "if by in reached.found_by",
        "if reached.found_by is not None",
        *(POLLING, "-k", "cannot_be_asked"),
    ),
    _mutant(
        "refunds: room that becomes free is left to nobody",
        "payments/refunds/settling.py",
        "    booking.recount(payment, at=now, now=now)\n",
        "",
        *(ROOMS, "-k", "oldest_first"),
    ),
    _mutant(
        "refunds: the newest takes the room that becomes free",
        "payments/refunds/shares.py",
        "    for claim in sorted(claims, key=lambda each: each.pk):",
        "    for claim in sorted(claims, key=lambda each: -each.pk):",
        *(ROOMS, "-k", "oldest_first"),
    ),
    _mutant(
        "refunds: what waits takes the room of a refund under way",
        "payments/refunds/shares.py",
        "        self.free = room - self.promised",
        "        self.free = room",
        *(ROOMS, "-k", "ours_has_its_room"),
    ),
    _mutant(
        "refunds: a total uses no room of a refund under way",
        "payments/refunds/shares.py",
        "        pool, taken = pool - part, taken + part",
        "        pool = pool - part",
        *(TOLD, "-k", "may_be_the_refund_of_ours"),
    ),
    _mutant(
        "refunds: a total may be a refund that was asked for after it",
        "payments/refunds/shares.py",
        "    return since is None or total.told_at >= since",
        "    return True",
        *(TOLD, "-k", "told_before_we_asked"),
    ),
    _mutant(
        "refunds: what counts at last is still asked about",
        "payments/refunds/booking.py",
        "        if pk in exceeding and pk not in counted.missing:",
        "        if False:",
        *(ROOMS, "-k", "nobodys_here"),
    ),
    _mutant(
        "refunds: what counts at last is taken for ours",
        "payments/refunds/booking.py",
        "        if pk not in explained and pk not in counted.missing:",
        "        if False:",
        *(ROOMS, "-k", "nobodys_here"),
    ),
    _mutant(
        "refunds: a foreign account's refund takes room",
        "payments/refunds/rows.py",
        "    return row.currency == payment.currency and row.stated_account_no in accounts",
        "    return row.currency == payment.currency",
        *(ROOMS, "-k", "disagrees"),
    ),
    _mutant(
        "refunds: a dispute that was lost without room was not lost",
        "payments/refunds/reversals.py",
        " & ~Q(reason=ConflictReason.REVERSAL_EXCEEDS_PAYMENT)",
        "",
        *(ROOMS, "-k", "stays_lost"),
    ),
    _mutant(
        "refunds: a failure before its success is forgotten",
        "payments/refunds/failed.py",
        "    if fact is None or fact.money.currency != payment.currency:",
        "    if fact is not None or fact is None:",
        *(NEWS, "-k", "last_word_unless"),
    ),
    _mutant(
        "refunds: a failure without an amount is forgotten",
        "payments/refunds/told.py",
        "facts.is_single(fact) and facts.failure_was_told(",
        "False and facts.failure_was_told(",
        *(NEWS, "-k", "states_no_money"),
    ),
    _mutant(
        "refunds: the failure is always the last word",
        "payments/refunds/rows.py",
        "    return row.failed_at >= row.occurred_at",
        "    return True",
        *(NEWS, "-k", "stated_to_be_later"),
    ),
    _mutant(
        "refunds: of two at the same time the success is the last word",
        "payments/refunds/rows.py",
        "    return row.failed_at >= row.occurred_at",
        "    return row.failed_at > row.occurred_at",
        *(NEWS, "-k", "last_word_unless"),
    ),
    _mutant(
        "refunds: what goes out again asks nobody again",
        "payments/refunds/repeats.py",
        "    if not was_asked:\n",
        "    if True:\n",
        *(NEWS, "-k", "asks_again"),
    ),
    _mutant(
        "refunds: a repeat that takes up a parked refund leaves its question open",
        "payments/refunds/waiting.py",
        "    questions.answer(ConflictReason.PAYMENT_NOT_FOUND, about, said, payment, now=now)\n",
        "",
        *(NEWS, "-k", "takes_up"),
    ),
    _mutant(
        "refunds: a success after our failure blocks no room",
        "payments/refunds/told.py",
        "    counted = booking.recount(payment, at=fact.occurred_at, now=now, told=row.pk)",
        "    counted = booking.Counted(missing={}, external={})",
        *(NEWS, "-k", "blocks_the_room"),
    ),
    _mutant(
        "refunds: a total after a failure still has what failed",
        "payments/refunds/shares.py",
        "        return total.at < failed.at",
        "        return True",
        *(NEWS, "-k", "what_stands_now"),
    ),
    _mutant(
        "refunds: a total before a failure does not have what failed",
        "payments/refunds/shares.py",
        "        return total.at < failed.at",
        "        return False",
        *(NEWS, "-k", "comes_late"),
    ),
    _mutant(
        "refunds: the same total later is no news",
        "payments/refunds/repeats.py",
        "    if row.is_total and is_later:",
        "    if False:",
        *(NEWS, "-k", "same_total_later"),
    ),
    _mutant(
        "refunds: totals do not yield to the refunds that explain them",
        "payments/refunds/shares.py",
        "        highest = max(highest, left)",
        "        highest = 0",
        REFUND_COURSES,
    ),
    _mutant(
        "refunds: a failure takes from a total what is not in it",
        "payments/refunds/shares.py",
        "            if each.amount <= left and _has_failed_one(total, each):",
        "            if _has_failed_one(total, each):",
        REFUND_COURSES,
        "inbox: every delivery is the first",
        "outbox/inbox.py",
        "        return bool(cursor.rowcount)",
        "        return True",
        *(HEARING, "-k", "repeat or many_at_once"),
    ),
    Mutant(
        "inbox: the mark commits before the effect",
        [
            Edit(
                "outbox/inbox.py", "    with transaction.atomic(durable=True):\n", "    if True:\n"
            ),
            Edit("outbox/inbox.py", "if not connection.in_atomic_block:", "if False:"),
        ],
        (HEARING, "-k", "handler_that_fails"),
    ),
    _mutant(
        "inbox: who waits too long is held against the event",
        "outbox/consumers/attend.py",
        "except (DataError, IntegrityError) as error:",
        "except (DataError, IntegrityError, DatabaseError) as error:",
        *(CONSUMING, "-k", "away_costs"),
    ),
    _mutant(
        "inbox: acknowledged before the commit",
        "outbox/consumers/run.py",
        "    verdict = _verdict(source, subscription, delivery, stopped)\n",
        "    source.done(delivery)\n"
        "    verdict = _verdict(source, subscription, delivery, stopped)\n    return\n",
        CONSUMER_KILLS,
    ),
    _mutant(
        "totals: a refund counts in full each time",
        "orders/totals/counting.py",
        "move.amount_minor - lag(move.amount_minor, 1, 0::bigint) OVER (",
        "move.amount_minor - 0 * lag(move.amount_minor, 1, 0::bigint) OVER (",
        *(COUNTING, "-k", "older_event"),
    ),
    _mutant(
        "totals: a rebuild does not wait for consumers",
        "orders/totals/rebuild.py",
        '    f"SELECT pg_advisory_xact_lock({counting.LOCK})",\n',
        "",
        *(REBUILDING, "-k", "rebuild_waits"),
    ),
)


@dataclass(frozen=True)
class Result:
    """What the tests said, and how long it took them."""

    name: str
    said: str
    seconds: float
    output: str = ""


def main() -> int:
    """Try the mutants; 0 if every one was noticed."""
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    chosen = [mutant for mutant in MUTANTS if word in mutant.name]
    # First without any fault: tests that fail anyway notice nothing.
    sound = [Mutant("none", (), mutant.tests) for mutant in chosen]
    sound = list({tuple(mutant.tests): mutant for mutant in sound}.values())
    with ThreadPoolExecutor(AT_ONCE) as pool:
        broken = [each for each in pool.map(_try, sound) if each.said != "survived"]
        for each in broken:
            _say(f"The tests are not sound: {each.output}")
        if broken:
            return 1
        survivors = 0
        for each in pool.map(_try, chosen):
            _say(f"{each.said:>9}  {each.seconds:5.1f} s  {each.name}")
            if each.said != "killed":
                survivors += 1
                _say(each.output)
    _say(f"\n{len(chosen) - survivors} of {len(chosen)} mutants killed.")
    return int(survivors > 0)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _try(mutant: Mutant) -> Result:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="paidonce-mutant-") as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*_NOT_COPIED))
        for edit in mutant.edits:
            path = tree / edit.file
            text = path.read_text()
            if text.count(edit.old) != 1:
                said = f"{edit.file} has {text.count(edit.old)} times: {edit.old}"
                return Result(mutant.name, "stale", 0, said)
            path.write_text(text.replace(edit.old, edit.new))
        run = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *mutant.tests],
            cwd=tree,
            env=os.environ | {"ROUNDS": "40"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    said = {0: "survived", _TESTS_FAILED: "killed"}.get(run.returncode, "no result")
    return Result(mutant.name, said, time.monotonic() - began, run.stdout[-3000:])


if __name__ == "__main__":
    sys.exit(main())
