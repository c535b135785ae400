"""Every sentence of the console has its Chinese, in files that say what the code says."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pytest
from babel.messages.pofile import read_po
from django.core.management import CommandError, call_command

from config.translations import catalog, source, wanted


def test_every_sentence_is_translated_and_compiled() -> None:
    call_command("messages", check=True)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (lambda words: words.add("A new sentence."), "no words yet: A new sentence."),
        (lambda words: words.delete("Orders"), "not what the code says"),
    ],
)
def test_what_is_missing_is_named(monkeypatch: Any, tmp_path: Any, changed: Any, says: str) -> None:
    kept = catalog.read()
    changed(kept)
    for name, content in (("PO", catalog.po_bytes(kept)), ("MO", catalog.mo_bytes(kept))):
        path = tmp_path / name
        path.write_bytes(content)
        monkeypatch.setattr(catalog, name, path)
    if "new" in says:
        more = dict(wanted.wanted()) | {"A new sentence.": "here"}
        monkeypatch.setattr(wanted, "wanted", lambda: more)

    with pytest.raises(CommandError, match=says):
        call_command("messages", check=True)


def test_words_with_other_placeholders_are_named() -> None:
    kept = catalog.read()
    kept["%(destination)s is paused."].string = "%(endpoint)s 已暂停。"

    assert catalog.misnamed(kept) == ["%(destination)s is paused."]


def test_what_the_theme_of_another_release_says_stays() -> None:
    kept = catalog.read()
    kept.add("Of another release", "另一个版本", locations=[(wanted.THEME, 1)])
    kept.add("Ours once", "曾经", locations=[("config/console/orders.py", 1)])
    fresh = catalog.updated(kept)

    assert fresh["Of another release"].string == "另一个版本"
    assert fresh.get("Ours once") is None
    assert read_po(BytesIO(catalog.po_bytes(fresh)), locale=wanted.LOCALE)["Orders"].string


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('_("One.")', ["One."]),
        ('gettext_lazy("One " "sentence.") % {"a": 1}', ["One sentence."]),
        ('translation.gettext("One.")', ["One."]),
        ('ngettext("one", "many", n)', [("one", "many")]),
        ('other("None of them")', []),
    ],
)
def test_sentences_are_found_in_code(code: str, found: list[source.Message]) -> None:
    assert list(source.in_python(code)) == found


@pytest.mark.parametrize("code", ["_(text)", '_(f"{a} b")', '_("a" + b)', 'ngettext("a", b, n)'])
def test_what_is_put_together_is_refused(code: str) -> None:
    with pytest.raises(ValueError, match="line 1: only whole sentences"):
        list(source.in_python(code))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{% translate "One." %}', ["One."]),
        ("{% trans 'One.' as one %}", ["One."]),
        ("{{ title|default:_('One.') }}", ["One."]),
        ("{% blocktranslate %}{{ a }} of {{ b }}{% endblocktranslate %}", ["%(a)s of %(b)s"]),
        (
            "{% blocktranslate trimmed with a=b.c %}\n 5% of\n {{ a }}\n{% endblocktranslate %}",
            ["5%% of %(a)s"],
        ),
        (
            "{% blocktrans count n=n %}one{% plural %}{{ n }}{% endblocktrans %}",
            [("one", "%(n)s")],
        ),
        ('{% comment %}{% translate "No." %}{% endcomment %}', []),
    ],
)
def test_sentences_are_found_in_templates(text: str, found: list[source.Message]) -> None:
    assert list(source.in_template(text)) == found


def _texts(found: Iterator[tuple[int, str]]) -> list[str]:
    return [text for _, text in found]


def test_what_no_translator_sees_is_listed() -> None:
    code = (
        '"""Module."""\nA = "Read by people"\n_("Marked words here")\nshow(description="amount")\n'
    )
    page = '<p title="Read aloud">Shown {{ x }}</p>{% translate "Marked" %}<b>{{ y }}</b>'

    assert list(source.left_in_python(code)) == [(2, "Read by people"), (4, "amount")]
    assert sorted(_texts(source.left_in_template(page))) == ["Read aloud", "Shown"]
