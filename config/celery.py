"""The worker and the whole clock of the service on one screen."""

import os

from celery import Celery

from config import preflight

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

preflight.refuse_unsafe_settings()
app = Celery("paidonce")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

# A tick that nobody took before the next one is worthless: `expires` keeps them from piling up.
app.conf.beat_schedule = {
    "relay": {"task": "outbox.relay", "schedule": 0.5, "options": {"expires": 2}},
    "webhooks": {
        "task": "outbox.deliver_webhooks",
        "schedule": 1.0,
        "options": {"expires": 2},
    },
    "old webhooks": {
        "task": "outbox.tidy_webhooks",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
    "parked": {"task": "payments.sweep_parked", "schedule": 30.0, "options": {"expires": 30}},
    "old keys": {
        "task": "idempotency.forget_old_keys",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
    "old events": {
        "task": "outbox.forget_published",
        "schedule": 600.0,
        "options": {"expires": 600},
    },
    "slots": {"task": "outbox.check_slots", "schedule": 60.0, "options": {"expires": 60}},
    "inbox": {"task": "outbox.forget_marks", "schedule": 3600.0, "options": {"expires": 3600}},
    "lost keys": {
        "task": "idempotency.recover_expired",
        "schedule": 30.0,
        "options": {"expires": 30},
    },
    "refunds": {"task": "payments.carry_out_refunds", "schedule": 2.0, "options": {"expires": 4}},
    "lost refunds": {
        "task": "payments.recover_refunds",
        "schedule": 10.0,
        "options": {"expires": 10},
    },
    # Right after conflicts were opened: whoever policies answer waits seconds, not a tick.
    "conflicts": {
        "task": "payments.decide_conflicts",
        "schedule": 5.0,
        "options": {"expires": 10},
    },
    "notifications": {"task": "payments.notify", "schedule": 15.0, "options": {"expires": 15}},
    "polling": {"task": "payments.poll", "schedule": 30.0, "options": {"expires": 30}},
    "expiry": {"task": "orders.expire_orders", "schedule": 30.0, "options": {"expires": 30}},
}
