"""The commands that make accounts and change their keys."""

import io
import json
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from structlog.testing import capture_logs

from payments.accounts import stored_key
from payments.models import AccountKey, Delivery, ProviderAccount
from payments.providers.port import Key
from tests import processes
from tests.factories import STRIPE_SECRET, MerchantFactory, ProviderAccountFactory
from tests.payments.over_http import custom_body, stripe_paid
from tests.providers.rsa_senders import private_key, public_pem, unionpay_chain
from tests.signing import CUSTOM_SECRET, CUSTOM_SETTINGS, signed_custom, signed_stripe

pytestmark = pytest.mark.django_db(transaction=True)

NEW_SECRET = "whsec_tests_next_year_7Tq1VbX9"


def present() -> datetime:
    return datetime.fromtimestamp(time.time(), UTC)


class Terminal:
    """Runs commands with a secret on standard input."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def run(self, *arguments: str, secret: str = "") -> str:
        written = io.StringIO()
        typed = io.TextIOWrapper(io.BytesIO(secret.encode()))
        self._monkeypatch.setattr(sys, "stdin", typed)
        call_command(*arguments, stdout=written)
        return written.getvalue()

    def refused(self, *arguments: str, secret: str = "") -> str:
        """What the command says when it refuses."""
        with pytest.raises(CommandError) as refusal:
            self.run(*arguments, secret=secret)
        return str(refusal.value)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    return Terminal(monkeypatch)


def create(*more: str, provider: str = "stripe", name: str = "main") -> tuple[str, ...]:
    return ("create_account", "acme", provider, name, "--account-no=acct_1", "--live", *more)


def accepts(account: ProviderAccount, secret: str) -> bool:
    body = stripe_paid("1001")
    headers = signed_stripe(body, secret, present())
    answer = _post(account, body, headers)
    assert answer in {200, 401}
    return answer == 200


def _post(account: ProviderAccount, body: bytes, headers: dict[str, str]) -> int:
    content_type = headers.pop("Content-Type")
    path = f"/callbacks/{account.endpoint}"
    answer: Any = Client().post(path, body, content_type=content_type, headers=headers)
    return int(answer.status_code)


def test_a_secret_comes_through_a_pipe_and_the_account_works() -> None:
    MerchantFactory.create(code="acme")
    ran = subprocess.run(
        [sys.executable, "manage.py", *create("--key-id=2026")],
        cwd=processes.ROOT,
        env=processes.environment(PUBLIC_URL="https://pay.example.org"),
        input=f"{STRIPE_SECRET}\n",
        capture_output=True,
        text=True,
        check=True,
    )

    assert ran.stdout == "Callbacks go to https://pay.example.org/callbacks/stripe/main\n"
    account = ProviderAccount.objects.get()
    assert (account.account_no, account.live, account.merchant.code) == ("acct_1", True, "acme")
    assert accepts(account, STRIPE_SECRET)
    assert Delivery.objects.get().key_id == "2026"


def test_a_custom_account_is_made_from_a_file(terminal: Terminal, tmp_path: Path) -> None:
    MerchantFactory.create(code="acme")
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps(CUSTOM_SETTINGS))

    terminal.run(*create(f"--settings-file={settings}", provider="custom"), secret=CUSTOM_SECRET)

    body = custom_body("1001")
    assert _post(ProviderAccount.objects.get(), body, signed_custom(body)) == 200


PUBLIC_KEY_ID = "PUB_KEY_ID_0114232134912410000000000000"


def wechatpay_keys(folder: Path) -> list[str]:
    """What names an account's two keys, each in a file."""
    (folder / "public.pem").write_bytes(public_pem(private_key("wechatpay")))
    (folder / "apiv3").write_bytes(b"0123456789abcdef0123456789ABCDEF\n")
    return [
        f"--key=signature:{PUBLIC_KEY_ID}:{folder / 'public.pem'}",
        f"--key=decryption:2026:{folder / 'apiv3'}",
    ]


def test_an_account_is_made_with_several_keys(terminal: Terminal, tmp_path: Path) -> None:
    MerchantFactory.create(code="acme")

    terminal.run(*create(*wechatpay_keys(tmp_path), "--confirm", provider="wechatpay_v3"))

    account = ProviderAccount.objects.get()
    assert account.confirm is True
    assert [stored_key(row) for row in account.keys.order_by("id")] == [
        Key(PUBLIC_KEY_ID, "signature", public_pem(private_key("wechatpay")).rstrip(b"\n")),
        Key("2026", "decryption", b"0123456789abcdef0123456789ABCDEF"),
    ]


def test_a_provider_without_keys_asks_for_none(terminal: Terminal) -> None:
    MerchantFactory.create(code="acme")

    terminal.run(*create(provider="mollie_classic"), secret="must not be read")

    account = ProviderAccount.objects.get()
    assert (account.confirm, account.keys.count()) == (None, 0)


def test_a_key_of_the_providers_only_purpose_needs_not_name_it(
    terminal: Terminal, tmp_path: Path
) -> None:
    MerchantFactory.create(code="acme")
    middle, root = (tmp_path / name for name in ("middle.pem", "root.pem"))
    middle.write_bytes(unionpay_chain()[1])
    root.write_bytes(unionpay_chain()[2])
    terminal.run(*create(f"--key-file={middle}", "--key-id=middle", provider="unionpay"))

    said = terminal.run("add_key", "unionpay/main", "--key-id=root", f"--key-file={root}")

    assert said == "unionpay/main now also has, as certificate, key root.\n"
    keys = AccountKey.objects.order_by("id").values_list("purpose", "key_id")
    assert list(keys) == [("certificate", "middle"), ("certificate", "root")]


def test_an_account_that_lacks_a_key_is_refused(terminal: Terminal, tmp_path: Path) -> None:
    MerchantFactory.create(code="acme")
    public, _ = wechatpay_keys(tmp_path)

    said = terminal.refused(*create(public, provider="wechatpay_v3"))

    assert said == (
        "a key with purpose decryption is missing: the APIv3 key, 32 letters and digits"
    )
    assert ProviderAccount.objects.count() == 0


@pytest.mark.parametrize(
    ("written", "words"),
    {
        "signature:PUB_KEY_ID_1": "is not PURPOSE:KEY_ID:FILE",
        "signature::file": "is not PURPOSE:KEY_ID:FILE",
        "signature:PUB_KEY_ID_1:/nonexistent": "/nonexistent: No such file or directory",
    }.items(),
)
def test_a_key_that_is_not_there_is_refused(terminal: Terminal, written: str, words: str) -> None:
    MerchantFactory.create(code="acme")

    assert words in terminal.refused(*create(f"--key={written}", provider="wechatpay_v3"))


def test_a_new_key_is_judged_together_with_those_that_there_are(
    terminal: Terminal, tmp_path: Path
) -> None:
    MerchantFactory.create(code="acme")
    terminal.run(*create(*wechatpay_keys(tmp_path), provider="wechatpay_v3"))
    AccountKey.objects.filter(purpose="decryption").delete()
    new = ("add_key", "wechatpay_v3/main", "--key-id=PUB_KEY_ID_2")
    file = f"--key-file={tmp_path / 'public.pem'}"

    said = [terminal.refused(*new, file), terminal.refused(*new, file, "--purpose=signature")]

    assert said == [
        "say what the key is for, by --purpose: signature, certificate, decryption",
        "a key with purpose decryption is missing: the APIv3 key, 32 letters and digits",
    ]
    assert AccountKey.objects.count() == 1


def test_a_key_is_ended_for_one_purpose(terminal: Terminal, tmp_path: Path) -> None:
    MerchantFactory.create(code="acme")
    terminal.run(*create(*wechatpay_keys(tmp_path), provider="wechatpay_v3"))
    AccountKey.objects.filter(purpose="decryption").update(key_id=PUBLIC_KEY_ID)
    end = "2026-12-07T00:00:00+00:00"
    ended = (f"--retire={PUBLIC_KEY_ID}", f"--not-after={end}", "--purpose=decryption")

    terminal.run("add_key", "wechatpay_v3/main", *ended)

    (row,) = AccountKey.objects.exclude(not_after=None)
    assert (row.purpose, row.not_after) == ("decryption", datetime.fromisoformat(end))


REFUSED: dict[str, tuple[tuple[str, ...], str, str]] = {
    "another merchant": (
        ("create_account", "nobody", "stripe", "x", "--account-no=1", "--live"),
        STRIPE_SECRET,
        "There is no merchant 'nobody': create_merchant.",
    ),
    "no secret": (create(), "", "whsec_"),
    "a secret of another form": (create(), "sk_live_0123456789abcdefghij", "whsec_"),
    "a short secret": (create(), "whsec_abc", "first"),
    "a secret of one letter": (create(), "whsec_aaaaaaaaaaaaaaaaaaaaaaaa", "first"),
    "a name that cannot be called": (create(name="ma in"), STRIPE_SECRET, "name: "),
    "a name beyond ASCII": (create(name="\u00fcber"), STRIPE_SECRET, "name: "),
    "a name that is too long": (create(name="x" * 61), STRIPE_SECRET, "name: "),
    "no name for the key": (create("--key-id="), STRIPE_SECRET, "key_id: "),
    "an account number that is too long": (
        (*create()[:4], f"--account-no={'1' * 129}", "--live"),
        STRIPE_SECRET,
        "account_no: ",
    ),
    "no scheme": (create(provider="custom"), CUSTOM_SECRET, "settings.scheme is missing"),
    "a purpose that is another's": (
        create("--purpose=decryption"),
        STRIPE_SECRET,
        "this provider has no keys with purpose 'decryption'; it has: signature",
    ),
    "what nobody signs, at once": (
        create("--no-confirm", provider="xendit"),
        "xnd_tests_0123456789",
        "xendit signs nothing, so nothing moves before its API has confirmed it",
    ),
    "no such file": (create("--settings-file=/nonexistent"), STRIPE_SECRET, "/nonexistent: "),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_account_that_could_not_be_safe_or_work_is_refused_and_not_made(
    terminal: Terminal, case: str
) -> None:
    MerchantFactory.create(code="acme")
    arguments, secret, words = REFUSED[case]

    said = terminal.refused(*arguments, secret=secret)

    assert words in said
    assert not secret or secret not in said
    assert (ProviderAccount.objects.count(), AccountKey.objects.count()) == (0, 0)


FILES = {
    "[]": "is not a JSON object.",
    "{": "settings.json: ",
    '{"order_key": 1}': "settings.order_key must be text",
    '{"order_kee": "x"}': "settings.order_kee is not a known setting",
}


@pytest.mark.parametrize("content", FILES)
def test_a_file_of_settings_that_is_wrong_is_refused(
    terminal: Terminal, tmp_path: Path, content: str
) -> None:
    MerchantFactory.create(code="acme")
    settings = tmp_path / "settings.json"
    settings.write_text(content)

    said = terminal.refused(*create(f"--settings-file={settings}"), secret=STRIPE_SECRET)

    assert FILES[content] in said
    assert ProviderAccount.objects.count() == 0


def test_an_address_and_an_account_exist_once(terminal: Terminal) -> None:
    MerchantFactory.create(code="acme")
    terminal.run(*create(), secret=STRIPE_SECRET)
    said = "This endpoint, or this account in this mode, exists already."

    assert terminal.refused(*create(), secret=STRIPE_SECRET) == said
    assert terminal.refused(*create(name="other"), secret=STRIPE_SECRET) == said
    assert ProviderAccount.objects.count() == 1


def test_a_secret_is_rotated_without_a_gap(terminal: Terminal) -> None:
    account = ProviderAccountFactory.create(provider="stripe", name="main")
    old = account.keys.get()

    said = terminal.run("add_key", "stripe/main", "--key-id=2027", secret=f"{NEW_SECRET}\r\n")
    assert said == "stripe/main now also verifies with key 2027.\n"
    assert [accepts(account, STRIPE_SECRET), accepts(account, NEW_SECRET)] == [True, True]
    assert list(Delivery.objects.order_by("id").values_list("key_id", flat=True)) == [
        old.key_id,
        "2027",
    ]

    later = (present() + timedelta(days=7)).isoformat()
    terminal.run("add_key", "stripe/main", f"--retire={old.key_id}", f"--not-after={later}")
    assert accepts(account, STRIPE_SECRET)
    assert f"until {later[:10]} {later[11:16]} UTC; keep: " in terminal.run("keys", "stripe/main")
    past = (present() - timedelta(seconds=1)).isoformat()
    said = terminal.run("add_key", "stripe/main", f"--retire={old.key_id}", f"--not-after={past}")
    assert said == f"Key {old.key_id} of stripe/main ends at {past}.\n"
    assert [accepts(account, STRIPE_SECRET), accepts(account, NEW_SECRET)] == [False, True]


def test_retiring_the_only_key_that_has_verified_anything_is_warned_of(terminal: Terminal) -> None:
    account = ProviderAccountFactory.create(provider="stripe", name="main")
    old = account.keys.get()
    terminal.run("add_key", "stripe/main", "--key-id=2027", secret=NEW_SECRET)
    retire = (
        "add_key",
        "stripe/main",
        f"--retire={old.key_id}",
        "--not-after=2099-01-01T00:00:00Z",
    )

    assert "Warning: no other key has verified anything yet" in terminal.run(*retire)
    assert accepts(account, NEW_SECRET)
    assert "Warning" not in terminal.run(*retire)


KEY_REFUSALS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "another account": (("stripe/x", "--key-id=b"), NEW_SECRET, "There is no account 'stripe/x'."),
    "no account": (("main", "--key-id=b"), NEW_SECRET, "There is no account 'main'."),
    "a weak secret": (("stripe/main", "--key-id=b"), "whsec_a", "'b'"),
    "no secret": (("stripe/main", "--key-id=b"), "", "'b'"),
    "a known key": (("stripe/main", "--key-id=a"), NEW_SECRET, "Key 'a' exists already."),
    "a key without a name": (("stripe/main", "--key-id="), NEW_SECRET, "key_id: "),
    "retiring without a time": (("stripe/main", "--retire=a"), "", "--retire needs --not-after"),
    "retiring at a time without a zone": (
        ("stripe/main", "--retire=a", "--not-after=2026-12-07T00:00:00"),
        "",
        "--retire needs --not-after with a zone",
    ),
    "retiring at no time": (
        ("stripe/main", "--retire=a", "--not-after=tomorrow"),
        "",
        "--retire needs --not-after",
    ),
    "retiring an unknown key": (
        ("stripe/main", "--retire=c", "--not-after=2026-12-07T00:00:00Z"),
        "",
        "stripe/main has no key 'c'.",
    ),
    "neither": (("stripe/main",), "", "one of the arguments --key-id --retire is required"),
}


@pytest.mark.parametrize("case", KEY_REFUSALS)
def test_a_key_that_could_not_work_is_refused_and_nothing_changes(
    terminal: Terminal, case: str
) -> None:
    account = ProviderAccountFactory.create(provider="stripe", name="main")
    account.keys.update(key_id="a")
    arguments, secret, words = KEY_REFUSALS[case]

    said = terminal.refused("add_key", *arguments, secret=secret)

    assert words in said
    assert not secret or secret not in said
    assert list(account.keys.values_list("key_id", "not_after")) == [("a", None)]


def test_whether_payments_wait_is_said_anew_and_written_down(terminal: Terminal) -> None:
    account: ProviderAccount = ProviderAccountFactory.create(name="main")
    said = []
    with capture_logs() as logs:
        for option in ("--confirm", "--no-confirm", "--default"):
            terminal.run("set_confirm", "stripe/main", option)
            account.refresh_from_db()
            said.append(account.confirm)

    assert said == [True, False, None]
    changes = [line for line in logs if line["event"] == "account changed"]
    assert [(line["before"], line["after"]) for line in changes] == [
        (None, True),
        (True, False),
        (False, None),
    ]
    assert {line["endpoint"] for line in changes} == {"stripe/main"}
    assert all(line["by"] for line in changes)


def test_where_nothing_is_signed_payments_go_on_waiting(terminal: Terminal) -> None:
    ProviderAccountFactory.create(provider="mollie_classic", name="main", secret="unused")

    refusal = terminal.refused("set_confirm", "mollie_classic/main", "--no-confirm")

    assert "signs nothing" in refusal
    assert ProviderAccount.objects.get().confirm is None
    assert "no account" in terminal.refused("set_confirm", "stripe/nobody", "--confirm")


def test_a_custom_account_whose_payments_would_find_no_order_is_refused(
    terminal: Terminal, tmp_path: Path
) -> None:
    MerchantFactory.create(code="acme")
    path = tmp_path / "settings.json"
    fields = {name: at for name, at in CUSTOM_SETTINGS["fields"].items() if name != "order"}
    path.write_text(json.dumps({**CUSTOM_SETTINGS, "fields": fields}))

    refusal = terminal.refused(
        *create("--settings-file", str(path), provider="custom"), secret=CUSTOM_SECRET
    )

    assert refusal.startswith("settings.fields.order is missing")
    assert not ProviderAccount.objects.exists()
