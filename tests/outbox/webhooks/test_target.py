"""Which URLs a merchant may give, and which addresses they may lead to."""

from ipaddress import ip_address

import pytest
from pytest_django import Settings

from outbox.webhooks.networks import Address, is_allowed
from outbox.webhooks.resolve import Resolver
from outbox.webhooks.saving import check_url
from outbox.webhooks.target import URL_LENGTH_MAX, BadTarget, check_addresses, read

GOOD = {
    "https://shop.example.com": "https://shop.example.com/",
    "https://shop.example.com:443/hooks": "https://shop.example.com/hooks",
    "https://Shop.EXAMPLE.com:8443/a%2Fb?token=1&x": "https://shop.example.com:8443/a%2Fb?token=1&x",
    "https://xn--bcher-kva.example/hook": "https://xn--bcher-kva.example/hook",
    "https://93.184.216.34/hook": "https://93.184.216.34/hook",
    "https://[2606:2800:220:1::1]:8443/": "https://[2606:2800:220:1::1]:8443/",
}


@pytest.mark.parametrize(("url", "read_as"), GOOD.items())
def test_a_public_https_address_is_taken(url: str, read_as: str) -> None:
    assert read(url, private=False).url == read_as
    assert read(read_as, private=False).url == read_as


LOOPBACK_FORMS = (
    *("127.0.0.1", "127.1", "127.0.1", "2130706433", "017700000001", "0177.0.0.1", "0x7f.1"),
    *("0x7f000001", "0x7f.0.0.0x1", "127.0.0.01", "127.00.0.1", "127.0.0.1.", "0", "0x"),
    *("[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"),
    *("[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]"),
    *("[2001:0:7f00:1::]", "[::ffff:0:127.0.0.1]", "[fe80::1%25eth0]", "[fe80::1%eth0]"),
    *("localhost", "LOCALHOST", "a.localhost", "localhost.", "%31%32%37.0.0.1", "127。0。0。1"),
    *("①②⑦.0.0.1", "[::1", "::1", "[127.0.0.1]", "127.0.0.1%00.example.com"),
)
PRIVATE = (
    *("10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
    *("100.100.100.200", "0.0.0.1", "192.0.0.192", "192.0.2.1", "198.18.0.1", "198.51.100.1"),
    *("203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "168.63.129.16"),
    *("192.88.99.1", "[fc00::1]", "[fd00:ec2::254]", "[fe80::1]", "[fec0::1]", "[ff02::1]"),
    *("[::ffff:8.8.8.8]", "[64:ff9b::808:808]", "[2002:808:808::]", "[2001:db8::1]"),
    *("[2001:10::1]", "[100::1]", "[3fff::1]", "[5f00::1]", "[4000::1]"),
)
NAMES = (
    *("metadata", "metadata.google.internal", "instance-data", "kubernetes.default.svc"),
    *(
        "db.local",
        "router.lan",
        "router.home.arpa",
        "wiki.corp",
        "intranet",
        "1.0.0.127.in-addr.arpa",
    ),
    *(
        "",
        ".",
        "a..b",
        "-a.com",
        "a-.com",
        f"{'a' * 64}.com",
        f"{'a.' * 130}com",
        "a b.com",
        "ex*mple.com",
    ),
)


@pytest.mark.parametrize("host", [*LOOPBACK_FORMS, *PRIVATE, *NAMES])
def test_no_form_of_an_address_of_ours_is_taken(host: str) -> None:
    with pytest.raises(BadTarget):
        read(f"https://{host}/hook", private=False)


@pytest.mark.parametrize(
    "url",
    [
        *("http://shop.example.com/", "ftp://shop.example.com/", "gopher://shop.example.com/"),
        *(
            "file:///etc/passwd",
            "//shop.example.com/",
            "shop.example.com",
            "",
            "https:",
            "https://",
        ),
        *("https:/shop.example.com", "https:///hook", "javascript:alert(1)"),
        *("https://user@shop.example.com/", "https://user:pass@shop.example.com/"),
        *("https://shop.example.com@127.0.0.1/", "https://127.0.0.1#@shop.example.com/"),
        *("https://shop.example.com\\@127.0.0.1/", "https:\\\\127.0.0.1\\"),
        *("https://shop.example.com:22/", "https://shop.example.com:25/", "https://a.com:80/"),
        *("https://shop.example.com:0/", "https://shop.example.com:65536/", "https://a.com:/"),
        *("https://shop.example.com:0443/", "https://shop.example.com:+443/", "https://a.com:x/"),
        *("https://[::1]shop.example.com/", "https://[2606:2800::1]x:443/", "https://a.com:1:2/"),
        *(
            "https://shop.example.com/#x",
            "https://shop.example.com/ x",
            "https://shop.example.com/\n",
        ),
        *(
            " https://shop.example.com/",
            "https://shop.example.com/\x00",
            "https://shop.example.com/ä",
        ),
        "https://shop.example.com/" + "x" * URL_LENGTH_MAX,
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(url: str) -> None:
    with pytest.raises(BadTarget) as refused:
        read(url, private=False)
    # Addresses may hold a token of the merchant's.
    assert "shop.example.com" not in str(refused.value)


def test_development_may_use_its_own_machine_but_no_metadata() -> None:
    for url in (
        "http://127.0.0.1:8010/x",
        "http://localhost:80/",
        "https://[::1]:22/",
        "http://db/",
    ):
        assert read(url, private=True).host
    for host in (
        "169.254.169.254",
        "100.64.0.1",
        "[::ffff:127.0.0.1]",
        "0.0.0.1",
        "0x7f.1",
        "u@db",
    ):
        with pytest.raises(BadTarget):
            read(f"http://{host}/", private=True)


def test_one_address_that_is_not_public_spoils_a_name() -> None:
    public, private = ip_address("93.184.216.34"), ip_address("10.0.0.1")
    check_addresses([public], private=False)
    for addresses in ([public, private], [private], [], [public, ip_address("::1")]):
        with pytest.raises(BadTarget):
            check_addresses(addresses, private=False)


@pytest.mark.parametrize(
    "address",
    [*("1.1.1.1", "9.255.255.255", "11.0.0.0", "172.15.255.255", "172.32.0.0", "100.63.255.255"),
     *("100.128.0.0", "192.167.255.255", "192.169.0.0", "223.255.255.255", "2001:200::1"),
     *("2400::1", "3ffe:ffff::1", "2a00:1450:4001::1")],
)  # fmt: skip
def test_the_neighbours_of_what_is_refused_are_allowed(address: str) -> None:
    assert is_allowed(ip_address(address), private=False)


def test_where_a_name_leads_is_looked_at_when_it_is_saved(settings: Settings) -> None:
    settings.OUTBOX_WEBHOOK_ALLOW_PRIVATE = False

    def leads_to(*addresses: str) -> Resolver:
        return lambda _host, _seconds_max: [ip_address(text) for text in addresses]

    def unknown(_host: str, _seconds_max: float) -> list[Address]:
        raise TimeoutError

    url = "https://shop.example.com/"
    for resolver in (leads_to("93.184.216.34"), unknown):
        check_url(url, resolver=resolver)
    for resolver in (leads_to("10.0.0.1"), leads_to("93.184.216.34", "::1"), leads_to()):
        with pytest.raises(BadTarget):
            check_url(url, resolver=resolver)
