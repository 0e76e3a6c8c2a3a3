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
    deletions = [line for line in lines if "DELETE" in line]
    assert len(deletions) == 1
    assert "'depot.Order.gone'" in deletions[0]
