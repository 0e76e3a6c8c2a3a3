"""What the status of the command shows of a move."""

from django_sortable_ids.models import BackfillRun
from tests.backfill.command import printed
from tests.marks import own_tables

pytestmark = own_tables


def test_a_backfill_of_a_move_is_not_left_over_from_a_field():
    BackfillRun.objects.create(target="depot.CustomerKeys.new_key", options={})
    BackfillRun.objects.create(target="depot.Order.gone", options={})
    lines = printed("--status").splitlines()
    assert "  continue with: manage.py migrate" in lines
    (gone,) = (number for number, line in enumerate(lines) if "no longer exists" in line)
    assert lines[gone - 2].startswith("depot.Order.gone: ")
