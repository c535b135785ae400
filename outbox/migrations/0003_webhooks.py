import uuid

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

# Whoever deletes a dispatch, in SQL too, takes its attempts with it: their retention is the same.
CASCADE = """
    ALTER TABLE outbox_attempt ADD CONSTRAINT attempt_goes_with_its_dispatch
        FOREIGN KEY (dispatch_id) REFERENCES outbox_dispatch (id) ON DELETE CASCADE
"""


class Migration(migrations.Migration):
    dependencies = [
        ("outbox", "0002_destinations"),
    ]

    operations = [
        migrations.CreateModel(
            name="Endpoint",
            fields=[
                (
                    "destination",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="endpoint",
                        serialize=False,
                        to="outbox.destination",
                    ),
                ),
                ("failures", models.PositiveIntegerField(default=0)),
                ("failing_since", models.DateTimeField(blank=True, null=True)),
                ("open_until", models.DateTimeField(blank=True, null=True)),
                ("removed_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("failing_since__isnull", True), ("failures", 0)),
                            models.Q(("failing_since__isnull", False), ("failures__gt", 0)),
                            _connector="OR",
                        ),
                        name="endpoint_failing_since_iff_failing",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="EndpointSecret",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("sealed", models.BinaryField()),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("retires_at", models.DateTimeField(blank=True, null=True)),
                (
                    "destination",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="secrets",
                        to="outbox.destination",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Attempt",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("asked_by", models.CharField(blank=True, max_length=80)),
                ("asked_at", models.DateTimeField(blank=True, null=True)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("at", models.DateTimeField(blank=True, null=True)),
                ("milliseconds", models.PositiveIntegerField(blank=True, null=True)),
                ("status", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("reply", models.CharField(blank=True, max_length=4096)),
                ("error", models.CharField(blank=True, max_length=300)),
                (
                    "destination",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="attempts",
                        to="outbox.destination",
                    ),
                ),
                (
                    "dispatch",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tries",
                        to="outbox.dispatch",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["destination", "at"], name="attempt_of_endpoint"),
                    models.Index(
                        models.F("asked_at"),
                        condition=models.Q(("at__isnull", True)),
                        name="attempt_asked_for",
                    ),
                    models.Index(
                        models.F("at"),
                        condition=models.Q(("dispatch__isnull", True)),
                        name="attempt_test",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("at__isnull", True)),
                        fields=("dispatch",),
                        name="attempt_asked_for_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("at__isnull", True), ("dispatch__isnull", True)),
                        fields=("destination",),
                        name="attempt_test_asked_for_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("at__isnull", True),
                                ("milliseconds__isnull", True),
                                ("status__isnull", True),
                                ("error", ""),
                                ("reply", ""),
                            ),
                            models.Q(("at__isnull", False), ("milliseconds__isnull", False)),
                            _connector="OR",
                        ),
                        name="attempt_made_says_what_became_of_it",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("asked_at__isnull", True), ("asked_by", "")),
                            models.Q(
                                models.Q(("asked_by", ""), _negated=True),
                                ("asked_at__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="attempt_asked_for_says_by_whom",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("at__isnull", False), ("asked_at__isnull", False), _connector="OR"
                        ),
                        name="attempt_is_made_or_asked_for",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("dispatch__isnull", False),
                            ("asked_at__isnull", False),
                            _connector="OR",
                        ),
                        name="attempt_without_dispatch_is_a_test",
                    ),
                ],
            },
        ),
        migrations.RunSQL(
            CASCADE, "ALTER TABLE outbox_attempt DROP CONSTRAINT attempt_goes_with_its_dispatch"
        ),
    ]
