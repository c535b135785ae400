from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("payments", "0004_claims_that_end")]

    operations = [
        migrations.AddField(
            model_name="providertransaction",
            name="failed_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="providertransaction",
            name="failure_told_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddConstraint(
            model_name="providertransaction",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("failed_at__isnull", True), ("failure_told_at__isnull", True)),
                    models.Q(
                        ("failure_told_at__isnull", False), ("is_total", False), ("kind", "REFUND")
                    ),
                    _connector="OR",
                ),
                name="transaction_failure_is_a_refunds",
            ),
        ),
    ]
