"""What schemes say of malformed texts, in the languages of the package."""

import pickle

import pytest
from django.core.exceptions import ValidationError
from django.utils import translation

from django_sortable_ids.fields import ULIDField
from django_sortable_ids.fields.values.phrases import TEMPLATES, translated
from django_sortable_ids.schemes import InvalidID, all_schemes, get
from django_sortable_ids.schemes.phrases import Phrase
from tests.combinations import in_one_case
from tests.translations import LANGUAGES

MALFORMED = ["", "x", "\0" * 26, "é" * 20, "Z" * 26, "z" * 32, "9" * 20, "f" * 32, "cé" + "-" * 23]
SCHEMES = [*all_schemes(), get("lexical_sequence", template="INV-{year}-{number}", width=5)]


def refusals():
    """Of every form of every scheme."""
    for scheme in SCHEMES:
        yield scheme.expectation()
        for encoding, _ in scheme.text_forms:
            for text in MALFORMED:
                try:
                    scheme.parse(text, encoding)
                except InvalidID as error:
                    yield str(error)


def phrases(text):
    """The phrase, and those in it."""
    assert isinstance(text, Phrase), text
    yield text
    for value in text.values.values():
        if isinstance(value, Phrase):
            yield from phrases(value)


@pytest.fixture(scope="module")
def said():
    return {phrase.template: phrase for text in refusals() for phrase in phrases(text)}


def test_all_that_schemes_say_can_be_translated(said):
    with translation.override(None):
        known = {str(template) for template in TEMPLATES}
    assert set(said) <= known
    assert len(said) > 15
    reasons = {
        phrase.values["reason"]
        for phrase in (next(phrases(text)) for text in refusals())
        if "reason" in phrase.values
    }
    assert all(isinstance(each, Phrase) for each in reasons)


@in_one_case("language", LANGUAGES)
def test_each_is_translated(language, said):
    with translation.override(language):
        for template, phrase in said.items():
            if phrase.values:
                words = translated(Phrase(template, **dict.fromkeys(phrase.values, 0)))
                assert words != str(Phrase(template, **dict.fromkeys(phrase.values, 0)))
            assert translated(phrase) != str(phrase)


@in_one_case(
    ("language", "message"),
    [
        (
            "de",
            "„x“ ist als ULID nicht gültig. Erwartet: „ord_“ und 26 Zeichen aus 0-9A-HJKMNP-TV-Z, "
            "groß oder klein geschrieben, zum Beispiel ord_01KDVDNA00PVDPVDPVDPVDPVDM.",
        ),
        (
            "en",
            "“x” is not a valid ULID. Expected “ord_” and 26 characters of 0-9A-HJKMNP-TV-Z, in "
            "any case, such as ord_01KDVDNA00PVDPVDPVDPVDPVDM.",
        ),
    ],
)
def test_the_error_of_a_form_is_in_one_language(language, message):
    field = ULIDField(prefix="ord")
    with translation.override(language), pytest.raises(ValidationError) as error:
        field.to_python("x")
    with translation.override(language):
        assert error.value.messages == [message]


def test_of_own_forms_the_english_text():
    assert translated("a colour") == "a colour"


def test_an_exception_keeps_the_phrase_and_can_be_pickled():
    with pytest.raises(InvalidID) as error:
        get("ulid").parse("x")
    assert str(error.value).values["reason"] == "it has 1 characters, not 26"
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)
    phrase = Phrase("%(count)d bars", count=3)
    assert (pickle.loads(pickle.dumps(phrase)), f"{phrase}", phrase + "!") == (
        "3 bars",
        "3 bars",
        "3 bars!",
    )
