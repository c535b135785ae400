"""The addresses of refunds, below the API's prefix and before the orders' own."""

from orders.api.urls import both
from payments.api.views import OrderRefundsView, RefundView

urlpatterns = [
    *both("orders/<order_no:order_no>/refunds", OrderRefundsView),
    *both("refunds/<order_no:refund_no>", RefundView),
]
