"""What the checks say of masked ids."""

from django_sortable_ids.checks.definitions import check_masks
from django_sortable_ids.fields import UUIDv7Field

from .test_definitions import define

KEY = "f0debc9a785634121032547698badcfe"


def test_masked_ids_need_a_key(settings):
    settings.SORTABLE_IDS = {}
    found = {(message.id, str(message.obj)) for message in check_masks()}
    assert found == {
        ("sortable_ids.E011", "old_ids.MaskedUser.id"),
        ("sortable_ids.E011", "old_ids.Secret.id"),
        ("sortable_ids.E011", "testapp.MaskedKey.id"),
        ("sortable_ids.E011", "testapp.MaskedPart.code"),
    }
    message = check_masks()[0]
    assert f"{message.msg} {message.hint}".count("Generate one with") == 1
    settings.SORTABLE_IDS = {"MASK_KEYS": ["x"]}
    message = check_masks()[0]
    assert "32 hexadecimal digits" in message.msg
    for fine in ({"MASK_KEYS": [KEY]}, 7, {"worker": 1}):
        settings.SORTABLE_IDS = fine
        assert check_masks() == []


def test_a_masked_key_of_users_is_a_warning(settings):
    assert check_masks() == []
    settings.AUTH_USER_MODEL = "old_ids.MaskedUser"
    (warning,) = check_masks()
    assert (warning.id, str(warning.obj)) == ("sortable_ids.W005", "old_ids.MaskedUser.id")


def test_models_without_masked_ids(isolated, settings):
    define("Plain", id=UUIDv7Field(primary_key=True))
    settings.SORTABLE_IDS = {}
    assert check_masks(isolated.get_app_configs()) == []
