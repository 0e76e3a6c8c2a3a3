"""Schemes as users write them, and their fields."""

import uuid

from django_sortable_ids import schemes
from django_sortable_ids.fields import SortableIntegerField, SortableTextField, SortableUUIDField

SHORT96 = schemes.TimeScheme(
    name="short96",
    title="short id",
    specification="48 bits of ms, 48 random bits, 17 characters of base 62",
    bits=96,
    value_type=str,
    text_forms=(("canonical", schemes.Digits(schemes.alphabets.BASE62, 17)),),
    layout=schemes.Layout(ticks=1 << 48, suffixes=1 << 48),
    tick_ns=schemes.MILLISECOND,
)
SAFE53 = schemes.Integer(
    name="safe53",
    title="safe integer",
    specification="time 41 | worker 5 | sequence 7, in ms from 2020-01-01",
    digits=53,
    time=41,
    worker=5,
    epoch_ms=1_577_836_800_000,
).scheme()
BAIDU = schemes.Integer(
    name="baidu",
    title="Baidu uid",
    specification="https://github.com/baidu/uid-generator",
    time=28,
    worker=22,
    epoch_ms=1_463_673_600_000,  # 2016-05-20 in China
    tick_ns=schemes.SECOND,
).scheme()
UUID8 = schemes.TimeScheme(
    name="uuid8_us",
    title="UUIDv8 of microseconds",
    specification="time 54 | version 8 | ...",
    bits=128,
    value_type=uuid.UUID,
    text_forms=(("canonical", schemes.UUIDText()),),
    layout=schemes.Layout(ticks=1 << 54, suffixes=1 << 68, template=schemes.UUIDTemplate(8)),
    tick_ns=1_000,
)
TICKETS = schemes.TimeScheme(
    name="tickets",
    title="ticket",
    specification="8 characters of ms in base 36, 5 of random digits in the same",
    bits=68,
    value_type=str,
    text_forms=(("canonical", schemes.Digits(schemes.alphabets.BASE36_LOWER, 13, fold="lower")),),
    stored_as_text=True,
    layout=schemes.Layout(ticks=36**8, suffixes=36**5),
    tick_ns=schemes.MILLISECOND,
)
HALF_HOURS = schemes.TimeScheme(
    name="half_hours",
    title="half hour",
    specification="20 bits of half hours from 2000-01-01, 41 random bits, newest first",
    bits=61,
    value_type=str,
    text_forms=(("canonical", schemes.Digits(schemes.alphabets.CROCKFORD, 13, fold="upper")),),
    layout=schemes.Layout(ticks=1 << 20, suffixes=1 << 41, descending=True),
    epoch_ns=946_684_800 * schemes.SECOND,
    tick_ns=1800 * schemes.SECOND,
)
SCHEMES = (SHORT96, SAFE53, BAIDU, UUID8, TICKETS, HALF_HOURS)


class Short96Field(SortableTextField):
    scheme_name = "short96"


class Safe53Field(SortableIntegerField):
    scheme_name = "safe53"


class BaiduField(SortableIntegerField):
    scheme_name = "baidu"


class UUIDv8Field(SortableUUIDField):
    scheme_name = "uuid8_us"


class TicketField(SortableTextField):
    scheme_name = "tickets"


class HalfHourField(SortableTextField):
    scheme_name = "half_hours"


COLUMNS = (
    (Short96Field, {}),
    (Short96Field, {"storage": "char"}),
    (Safe53Field, {}),
    (BaiduField, {}),
    (UUIDv8Field, {}),
    (UUIDv8Field, {"storage": "char36"}),
    (TicketField, {}),
    (HalfHourField, {}),
    (HalfHourField, {"storage": "char"}),
)
