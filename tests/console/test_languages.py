"""Everybody reads the console in his language, with his hours; the API speaks English to all."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import translation

from config.access.models import Preferences
from config.console import related
from orders.models import Order
from tests import factories
from tests.console.rooms import Rows, list_of, page_of, pages

pytestmark = pytest.mark.django_db

PREFERENCES = "/admin/me/preferences/"
LANGUAGE = "/admin/me/language/"


def choose(client: Client, language: str = "zh-hans", time_zone: str = "UTC") -> Any:
    return client.post(PREFERENCES, {"language": language, "time_zone": time_zone})


def test_the_language_of_the_browser_is_spoken_before_the_login(client: Client) -> None:
    chinese = client.get("/admin/login/", headers={"Accept-Language": "zh-CN,zh;q=0.9"})
    french = client.get("/admin/login/", headers={"Accept-Language": "fr"})

    assert '<html lang="zh-hans"' in chinese.content.decode()
    assert chinese["Content-Language"] == "zh-hans"
    assert "登录" in chinese.content.decode()
    assert '<html lang="en"' in french.content.decode()


def test_the_menu_offers_both_and_leads_back(superuser: Client) -> None:
    page = superuser.get(list_of(Order)).content.decode()
    answer = superuser.post(LANGUAGE, {"language": "zh-hans", "next": list_of(Order)})

    assert page.count(f'action="{LANGUAGE}"') == 2
    assert "简体中文" in page
    assert answer["Location"] == list_of(Order)
    assert '<html lang="zh-hans"' in superuser.get(answer["Location"]).content.decode()


@pytest.mark.parametrize("away", ["https://evil.example/", "//evil.example/", "javascript:x"])
def test_it_leads_nowhere_else(superuser: Client, away: str) -> None:
    answer = superuser.post(LANGUAGE, {"language": "zh-hans", "next": away})

    assert answer["Location"] == "/admin/"


def test_no_other_language_is_taken(superuser: Client) -> None:
    superuser.post(LANGUAGE, {"language": "../../x", "next": "/admin/"})

    assert not Preferences.objects.exclude(language="").exists()
    assert '<html lang="en"' in superuser.get("/admin/").content.decode()
    assert superuser.get(LANGUAGE).status_code == 405


def test_both_are_kept_for_the_user_wherever_he_logs_in() -> None:
    anna = User.objects.create_superuser("anna")
    here, there = Client(), Client()
    here.force_login(anna)
    answer = choose(here, time_zone="Asia/Shanghai")
    there.force_login(anna)

    page = there.get("/admin/").content.decode()

    assert answer.status_code == 302
    assert '<html lang="zh-hans"' in page
    assert "时间按 Asia/Shanghai 显示" in page
    assert "您的语言和时区已保存" in here.get(PREFERENCES).content.decode()


def test_one_who_has_chosen_is_not_overruled_by_a_browser(superuser: Client) -> None:
    choose(superuser, language="en")

    page = superuser.get("/admin/", headers={"Accept-Language": "zh-CN"}).content.decode()
    assert '<html lang="en"' in page


def test_times_are_those_of_the_reader_and_say_so(superuser: Client, rows: Rows) -> None:
    order = factories.OrderFactory.create(created_at=datetime(2031, 7, 4, 18, 30, tzinfo=UTC))
    in_utc = superuser.get(page_of(order)).content.decode()
    choose(superuser, language="en", time_zone="Europe/Berlin")
    in_berlin = superuser.get(page_of(order)).content.decode()
    listed = superuser.get(list_of(Order)).content.decode()

    assert "2031-07-04 18:30:00 UTC" in in_utc
    assert "Times in UTC" in in_utc
    assert "2031-07-04 20:30:00 CEST" in in_berlin
    assert "2031-07-04 20:30:00 CEST" in listed
    assert "Times in Europe/Berlin" in in_berlin


@pytest.mark.parametrize(("zone", "day"), [("UTC", "2031-07-04"), ("Asia/Shanghai", "2031-07-05")])
def test_days_to_filter_by_are_those_of_the_reader(superuser: Client, zone: str, day: str) -> None:
    factories.OrderFactory.create(created_at=datetime(2031, 7, 4, 18, 30, tzinfo=UTC))
    choose(superuser, language="en", time_zone=zone)

    answer = superuser.get(f"{list_of(Order)}?created_at_from_0={day}&created_at_to_0={day}")

    assert len(answer.context["cl"].result_list) == 1


@pytest.mark.parametrize("zone", ["", "Mars/Olympus", "Etc/GMT+5", "../../etc/passwd"])
def test_what_is_no_place_is_refused(superuser: Client, zone: str) -> None:
    assert choose(superuser, time_zone=zone).status_code == 200
    assert not Preferences.objects.exists()


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize(
    ("minor", "currency", "shown"),
    [
        (123456789, "EUR", "1,234,567.89 EUR"),
        (123456789, "JPY", "123,456,789 JPY"),
        (1234567, "KWD", "1,234.567 KWD"),
        (-5, "USD", "-0.05 USD"),
        (100, "CNY", "1.00 CNY"),
        (9223372036854775807, "USD", "92,233,720,368,547,758.07 USD"),
        (12, "ZZZ", "12 minor units of ZZZ"),
    ],
)
def test_amounts_have_the_decimals_of_their_currency(
    language: str, minor: int, currency: str, shown: str
) -> None:
    with translation.override(language):
        assert related.money(minor, currency) == shown


def test_every_page_answers_in_chinese(superuser: Client, rows: Rows) -> None:
    choose(superuser)

    for page in pages(rows):
        answer = superuser.get(page)
        assert (answer.status_code, answer["Content-Language"]) == (200, "zh-hans"), page


def test_names_of_columns_are_chinese_too(superuser: Client, rows: Rows) -> None:
    choose(superuser)

    listed = superuser.get(list_of(Order)).content.decode()
    page = superuser.get(page_of(rows[Order])).content.decode()

    for word in ("订单号", "商户", "创建时间", "金额"):
        assert word in listed, word
    for word in ("资金", "冲突", "投递", "版本"):
        assert word in page, word
    assert "WAIT_PAY" in page


def test_the_api_speaks_english_whatever_the_browser_likes(client: Client) -> None:
    answer = client.get("/v1/orders", headers={"Accept-Language": "zh-CN"})

    assert answer.content.decode().isascii()
    assert "Content-Language" not in answer
