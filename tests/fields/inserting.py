"""A process that inserts rows with a sequence into the table ``numbered`` until it is killed.

Each number is printed once its row is committed.
"""

import sys

import django

django.setup()

from django.db import models  # noqa: E402

from django_sortable_ids.fields import LexicalSequenceField  # noqa: E402


class Numbered(models.Model):
    number = LexicalSequenceField(null=True, unique=True, charset="numeric", width=6, block=7)

    class Meta:
        app_label = "testapp"
        db_table = "numbered"

    def __str__(self):
        return self.number


for _ in range(int(sys.argv[1])):
    print(Numbered.objects.create().number, flush=True)
