"""The merchants' calls about refunds: each reads its request and makes one call of the domain."""

from functools import partial

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from orders.api import problem_types
from orders.api.authentication import merchant_of
from orders.api.idempotency_key import Wanted
from orders.api.idempotent import idempotent
from orders.api.idempotent_answers import REPLAYED_HEADER
from orders.api.problems import Problem
from orders.api.views import ApiView, once_each, valid
from orders.models import Order
from orders.money import Money
from payments.api import schema
from payments.api.serializers import (
    NewRefundSerializer,
    RefundQuerySerializer,
    RefundSerializer,
)
from payments.refunds import reading
from payments.refunds.access import client_for
from payments.refunds.request import (
    Asked,
    NoSuchOrder,
    NotRefundable,
    RefundExceeds,
    RefundExists,
    RefundNoNotTaken,
    enter,
)


class OrderRefundsView(ApiView):
    """The refunds of one order."""

    @extend_schema(**schema.REQUEST_REFUND)
    @idempotent(
        operation="request_refund",
        path="/v1/orders/{order_no}/refunds",
        shape=NewRefundSerializer,
    )
    def post(self, request: Request, wanted: Wanted, order_no: str) -> Response:
        """Refund a payment."""
        now = timezone.now()
        asked = Asked(
            order_no=order_no,
            refund_no=wanted["refund_no"],
            money=None if wanted["amount"] is None else Money(**wanted["amount"]),
            payment=wanted["payment"] or "",
            reason=wanted["reason"],
        )
        try:
            requested = enter(
                merchant=merchant_of(request),
                asked=asked,
                client_for=partial(client_for, now=now),
                now=now,
            )
        except NoSuchOrder as error:
            raise Http404 from error
        except NotRefundable as error:
            raise Problem(problem_types.NOT_REFUNDABLE, str(error)) from error
        except RefundNoNotTaken as error:
            raise ValidationError({"refund_no": [str(error)]}) from error
        except RefundExceeds as error:
            raise Problem(problem_types.REFUND_EXCEEDS, f"{error.left} is left.") from error
        except RefundExists as error:
            raise _refund_exists(asked.refund_no, error) from error
        headers = {REPLAYED_HEADER: "true"} if requested.repeated else None
        return Response(RefundSerializer(requested.refund).data, status=201, headers=headers)

    @extend_schema(**schema.LIST_REFUNDS)
    def get(self, request: Request, order_no: str) -> Response:
        """List an order's refunds."""
        merchant = merchant_of(request)
        asked = valid(RefundQuerySerializer(data=once_each(request)))
        if not Order.objects.filter(merchant=merchant, order_no=order_no).exists():
            raise Http404
        page, following = reading.of_order(merchant, order_no, **asked)
        return Response({"refunds": RefundSerializer(page, many=True).data, "next": following})


class RefundView(ApiView):
    """One refund."""

    @extend_schema(**schema.READ_REFUND)
    def get(self, request: Request, refund_no: str) -> Response:
        """Read a refund."""
        refund = reading.find(merchant_of(request), refund_no)
        if refund is None:
            raise Http404
        return Response(RefundSerializer(refund).data)


def _refund_exists(refund_no: str, error: RefundExists) -> Problem:
    return Problem(
        problem_types.REFUND_EXISTS,
        f"Refund {refund_no} exists with other content.",
        [
            {"pointer": f"#/{name}", "detail": "The existing refund has another value."}
            for name in error.differing
        ],
    )
