"""Samples of WeChat Pay v2: flat XML."""

from typing import Final

from payments.callback import Kind
from payments.providers.samples.forms import BEIJING, YUAN, encoded, only_yuan
from payments.providers.samples.occurrence import Hand, Made, Occurrence
from payments.providers.stated_money import MINOR
from payments.providers.wechatpay_v2_sign import refund_xml, signed_xml

_REFUNDS: Final = {Kind.REFUNDED: "SUCCESS", Kind.REFUND_FAILED: "CHANGE"}


def wechatpay_v2(told: Occurrence, hand: Hand) -> Made:
    """A signed payment, or an encrypted refund that nobody signed."""
    only_yuan(told)
    amount = str(MINOR.written(told.money))
    time, api_key = told.at.astimezone(BEIJING), hand.secret().material
    who = {"mch_id": hand.account.account_no, "return_code": "SUCCESS"}
    appids = hand.account.settings.get("appids")
    who |= {"appid": appids[0]} if appids else {}
    if told.kind in _REFUNDS:
        inside = {
            "out_refund_no": told.txn_no,
            "out_trade_no": told.order_no,
            "refund_fee": amount,
            "refund_id": told.txn_no,
            "refund_status": _REFUNDS[told.kind],
            "success_time": f"{time:%Y-%m-%d %H:%M:%S}",
            "transaction_id": told.payment_no,
        }
        body = refund_xml(encoded(who), encoded(inside), api_key)
    else:
        payment = {
            "fee_type": YUAN,
            "out_trade_no": told.order_no,
            "result_code": "SUCCESS" if told.kind is Kind.PAID else "FAIL",
            "time_end": f"{time:%Y%m%d%H%M%S}",
            "total_fee": amount,
            "transaction_id": told.txn_no,
        }
        md5 = hand.account.settings.get("legacy_md5") is True
        body = signed_xml(encoded(who | payment), api_key, legacy_md5=md5)
    yield hand.request(body, content_type="text/xml")
