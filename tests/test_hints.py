"""Where messages say that more is documented."""

from django_sortable_ids.checks import message
from django_sortable_ids.errors import documented, see
from django_sortable_ids.fields import UUIDv7Field


def test_without_an_address_the_number_is_named():
    documented.cache_clear()
    assert see("E009") == "See E009 in the documentation."


def test_the_address_of_the_project_is_that_of_its_pages(monkeypatch, tmp_path):
    folder = tmp_path / "django_sortable_ids-99.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(
        "Metadata-Version: 2.4\nName: django-sortable-ids\nVersion: 99\n"
        "Project-URL: Source, https://example.org/source\n"
        "Project-URL: Documentation, https://example.org/docs/\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    documented.cache_clear()
    try:
        assert see("E009") == "See E009: https://example.org/docs/reference/errors.html#e009."
        (error,) = UUIDv7Field(prefix="Ord").check()
        assert error.hint.endswith("https://example.org/docs/reference/errors.html#e013.")
    finally:
        documented.cache_clear()


def test_a_hint_ends_with_the_place():
    documented.cache_clear()
    assert message("W002").hint.endswith("; or update Django. See W002 in the documentation.")
