"""What an endpoint receives, judged by the receivers' own library."""

import base64
import json
import time
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from standardwebhooks import Webhook, WebhookVerificationError

from outbox.destinations.port import Message
from outbox.webhooks.message import body_of, headers_of
from outbox.webhooks.secrets import Key
from outbox.webhooks.signature import NoSecret, new_secret, sign


def message(payload: object = None) -> Message:
    return Message(
        id=uuid4(),
        type="order.paid",
        aggregate_type="order",
        aggregate_id="acme/A-1",
        seq=3,
        created_at=datetime(2026, 3, 1, 12, 0, tzinfo=UTC),
        payload=json.dumps(payload or {"order_no": "A-1"}, ensure_ascii=False).encode(),
        traceparent="00-" + "a" * 32 + "-" + "b" * 16 + "-01",
    )


def test_a_receiver_verifies_it_with_any_secret_in_force_and_with_no_other() -> None:
    old, new, strange = new_secret(), new_secret(), new_secret()
    sent = message({"order_no": "A-1", "payer": "Zoë \U0001f600"})
    body = body_of(sent)
    headers = headers_of(sent, body, [new.encode(), old.encode()], timestamp=int(time.time()))
    for secret in (old, new):
        read = Webhook(secret).verify(body, headers)
        assert read == {
            "type": "order.paid",
            "timestamp": "2026-03-01T12:00:00Z",
            "data": {"order_no": "A-1", "payer": "Zoë \U0001f600"},
        }
    for secret, seen in ((strange, body), (new, body + b" ")):
        with pytest.raises(WebhookVerificationError):
            Webhook(secret).verify(seen, headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(new).verify(body, headers | {"webhook-id": str(uuid4())})


def test_the_signature_is_the_one_of_the_specification() -> None:
    # The example of the specification's own libraries.
    secret = b"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    signature = sign(
        [secret],
        message_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp=1614265330,
        body=b'{"test": 2432232314}',
    )
    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_nothing_goes_unsigned() -> None:
    with pytest.raises(NoSecret):
        headers_of(message(), b"{}", [], timestamp=1)


def test_a_secret_is_as_the_standard_wants_it_and_shows_itself_nowhere() -> None:
    secret = new_secret()
    assert secret.startswith("whsec_")
    assert len(base64.b64decode(secret.removeprefix("whsec_"))) == 32
    assert new_secret() != secret
    assert secret[6:] not in repr(Key(secret.encode()))


def test_the_attributes_of_the_event_travel_as_headers() -> None:
    sent = message()
    headers = headers_of(sent, b"{}", [new_secret().encode()], timestamp=1700000000)
    assert headers["webhook-id"] == headers["ce-id"] == str(sent.id)
    assert headers["webhook-timestamp"] == "1700000000"
    assert headers["ce-subject"] == "order/acme/A-1"
    assert headers["ce-sequence"] == "0000000003"
    assert headers["ce-specversion"] == "1.0"
    assert headers["traceparent"] == sent.traceparent
    assert headers["content-type"] == "application/json"
    assert not headers.keys() & {"ce-datacontenttype", "ce-traceparent"}


@settings(max_examples=25, deadline=None)
@given(st.dictionaries(st.text(max_size=10), st.text(max_size=40), max_size=4))
def test_any_payload_is_one_document(payload: dict[str, str]) -> None:
    sent = message({"x": payload})
    assert json.loads(body_of(sent)) == {
        "type": "order.paid",
        "timestamp": "2026-03-01T12:00:00Z",
        "data": {"x": payload},
    }
