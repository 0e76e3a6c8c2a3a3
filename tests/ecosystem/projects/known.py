"""The reasons of the tests that fail only with sortable keys."""

from __future__ import annotations

import re
from dataclasses import dataclass

ARITHMETIC = "the project calculates with a key"
ASSERTS = "the test expects an id of its own, such as 1"
INT = "the project calls int() on a key, or formats it with %d"
JSON = "the project writes a key with json.dumps()"
DIGITS = "the project looks for a key with a pattern of digits"
FIXTURE = "the test loads rows again that migrations inserted, and their numbers are other ids now"
HYPHENS = "the project splits a text at its last hyphen, and a UUID has its own"
COLUMN = "the project keeps a key in an IntegerField that is no foreign key"
OLD_KEY = "the test lists the fields of a model, which has one for its old key now"
MIGRATIONS = "the tables are created from the models, without the project's migrations"
ORDER_OF_TESTS = "the test depends on others that ran before it, also without these keys"
SESSION = "the project keeps a UUID in a session or a cookie, which gives it back as text"
VALUE_ERROR = "the test expects an IntegerField's error for malformed input"
REST_TEXT = "REST gives keys of 64 bits as text, so that JavaScript keeps their digits"
REST_UUID = "REST gives a UUID as text; the test compares it with the UUID"


@dataclass(frozen=True)
class Known:
    """Failures of a project whose test and whose error match a pattern."""

    project: str
    title: str
    test: str = ""
    error: str = ""

    def matches(self, project: str, test: str, error: str) -> bool:
        return (
            project == self.project
            and bool(re.search(self.test, test))
            and bool(re.search(self.error, error))
        )


_OSCARS_WIZARD = "TestCreateOfferWizardStepView|TestUpdateOfferWizardStepView"
KNOWN = (
    Known("oscar", OLD_KEY, error="'old_id': None"),
    Known("oscar", JSON, error="UUID is not JSON serializable"),
    Known("oscar", ARITHMETIC, error=r"unsupported operand type\(s\) for \+: 'int'"),
    Known("oscar", INT, error=r"invalid literal for int\(\)|%d format"),
    Known("oscar", COLUMN, error="too large to convert to SQLite|integer out of range"),
    Known("oscar", COLUMN, error="'(offer|voucher|entity_object)_id' expected a number"),
    Known("oscar", COLUMN, error="operator does not exist: uuid = integer"),
    Known(
        "oscar", COLUMN, error="Out of range value for column '(offer|voucher|entity_object)_id'"
    ),
    Known("oscar", COLUMN, error="Illegal parameter data types uuid and int"),
    Known("oscar", COLUMN, test="test_category_materialized", error="1 != 2"),
    Known("oscar", COLUMN, test="records_use", error="You can only follow redirect responses"),
    Known("oscar", INT, error="KeyError: '(order|line)_form_[0-9]+'"),
    Known("oscar", ASSERTS, test="test_respects_maximum_applications_field", error="KeyError: 1"),
    Known("oscar", ASSERTS, test="test_bulk_editing_review_status", error="0 != 1"),
    Known("oscar", ASSERTS, test="test_generator_queryset_and_annotation", error="!= 2"),
    Known("oscar", SESSION, test="test_id_gets_added_to_cookie", error="False is not true"),
    Known("oscar", MIGRATIONS, error="catalogue_product_category_hierarchy"),
    Known("oscar", ORDER_OF_TESTS, test="ThankYouViewTestCase|test_is_public_off"),
    Known("oscar", VALUE_ERROR, test="test_multi_option_recursion_error"),
    Known("oscar", MIGRATIONS, test="TestForMigrations"),
    Known("oscar", SESSION, test=_OSCARS_WIZARD, error=r"UUID\("),
    Known("helpdesk", INT, error=r"invalid literal for int\(\)|%d format"),
    Known("helpdesk", JSON, error="UUID is not JSON serializable"),
    Known("helpdesk", DIGITS, test="test_num_to_link"),
    Known("helpdesk", ASSERTS, error=r"\[1, 2\]|'id': [12]\b|queue-1|kbitem=1|\[test-1\]"),
    Known("helpdesk", ASSERTS, test="test_get_email", error="No Ticket matches"),
    Known(
        "helpdesk",
        ASSERTS,
        test="test_create_api_ticket_with_attachment|test_cansavequery|test_edit_checklist|field_autofill",
    ),
    Known("helpdesk", FIXTURE, error="EmailTemplate -- it returned 2!"),
    Known("helpdesk", HYPHENS, error="403 != "),
    Known("helpdesk", ORDER_OF_TESTS, test="exclude_queues", error="FollowUp matching query"),
    Known("helpdesk", ORDER_OF_TESTS, test="followup_via_api", error="KeyError: 'id'"),
    Known("helpdesk", REST_UUID, test="test_get_user_tickets", error=r"UUID\("),
    Known("helpdesk", REST_TEXT, test="test_get_user_tickets", error="[0-9]{19}"),
    *(
        known
        for project in ("allauth", "allauth-users")
        for known in (
            Known(project, JSON, error="UUID is not JSON serializable"),
            Known(project, ASSERTS, test="test_signup_conflict"),
            Known(project, REST_UUID, test="test_auth_password_success", error="'status': 200"),
            Known(project, REST_UUID, error=r"assert '[0-9a-f-]{36}' == UUID"),
            Known(project, SESSION, test="mfa.base.test_views.test_reauthentication"),
        )
    ),
)
UNCLASSED = "unclassed"


def title_of(project: str, test: str, error: str) -> str:
    """The title of the first class that matches, or ``UNCLASSED``."""
    found = (each.title for each in KNOWN if each.matches(project, test, error))
    return next(found, UNCLASSED)
