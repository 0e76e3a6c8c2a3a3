"""Random rows of the graph: plain data, before any key is moved."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from django_sortable_ids.schemes import get

Rows = dict[str, list[dict[str, Any]]]
"""By the name of the model, or ``Model.field`` of an automatic many-to-many table."""

HOUR = timedelta(hours=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MOMENTS = [
    datetime(2024, 5, 17, 9, tzinfo=UTC),
    # The hours that occur twice in New York and in Berlin, and those that never occur.
    *(datetime(2024, 11, 3, hour, 30, tzinfo=UTC) for hour in (4, 5, 6)),
    *(datetime(2024, 10, 27, hour, 30, tzinfo=UTC) for hour in (0, 1)),
    datetime(2024, 3, 10, 6, 59, 59, 999_999, tzinfo=UTC),
    datetime(2010, 11, 4, 1, 42, 55, tzinfo=UTC),  # Snowflakes begin 0.343 s before.
    datetime(2031, 1, 1, tzinfo=UTC),
]
times = st.sampled_from(MOMENTS) | st.builds(
    lambda start, microseconds: start + timedelta(microseconds=microseconds),
    st.sampled_from(MOMENTS[:7]),
    st.integers(0, 2000),
)
texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20
) | st.sampled_from(["", "'", '"; --', "%s %(a)s", "\\", "`x`", "é\u0301 \U0001f600", "NULL"])
numbers = st.integers(-(2**31), 2**31 - 2).filter(bool)
"""Keys of integer columns, in whose order there may be gaps. MySQL has no key 0."""
sortable = st.builds(
    lambda start, more: (start << 80) + more,
    st.integers(0, 1_700_000_000_000) | st.sampled_from([1_700_000_000_000, 1_700_000_000_001]),
    st.integers(0, 2**80 - 1) | st.integers(0, 3),
)
"""Bits of ULIDs of times before now, also several of one tick that count up."""


class Draw:
    """Rows, table by table: a row refers to those that are drawn before it."""

    def __init__(self, draw: Any, most: int) -> None:
        self.draw = draw
        self.most = most
        self.rows: Rows = {}

    def some(self, name: str, *, keys: Any = numbers, of: str = "", **values: Any) -> None:
        """Add up to ``most`` rows. ``of`` is a model each row of which has one or none."""
        if of:
            found = [each for each in self.keys(of) if self.draw(st.booleans())]
        else:
            found = self.draw(st.lists(keys, unique=True, max_size=self.most))
        rows = self.rows[name] = [{"pk": key, "mark": mark} for mark, key in enumerate(found, 1)]
        for row in rows:
            row |= {field: self.draw(strategy) for field, strategy in values.items()}

    def keys(self, name: str) -> list[Any]:
        return [each["pk"] for each in self.rows[name]]

    def refer(self, name: str, field: str, to: str, *, unique: bool = False) -> None:
        """A nullable reference of each row to any row of a model, also to itself."""
        free = self.keys(to)
        for row in self.rows[name]:
            row[field] = self.draw(st.sampled_from([None, *free]))
            if unique and row[field] is not None:
                free.remove(row[field])

    def require(self, name: str, field: str, to: str) -> None:
        """The reference is not NULL; without a row to refer to, there are no rows."""
        if not self.keys(to):
            self.rows[name] = []
        for row in self.rows[name]:
            row[field] = self.draw(st.sampled_from(self.keys(to)))

    def pair(self, name: str, **models: str) -> None:
        """Add rows of a many-to-many table."""
        pairs = st.tuples(*(st.sampled_from(self.keys(each) or [None]) for each in models.values()))
        found = self.draw(st.lists(pairs, unique=True, max_size=self.most))
        self.rows[name] = [
            dict(zip(models, each, strict=True)) for each in found if None not in each
        ]

    def distinct(self, name: str, *fields: str) -> None:
        """Keep one row of those that are equal in these fields."""
        found = {tuple(row[each] for each in fields): row for row in self.rows[name]}
        self.rows[name] = list(found.values())


@st.composite
def rows(draw: Any, most: int = 5) -> Rows:
    """A graph with at most so many rows in each table."""
    to = Draw(draw, most)
    to.some("User", date_joined=times)
    to.some("Country", keys=st.sampled_from(["DE", "FR", "xx", "é"]))
    to.some("Customer", text=texts, created_at=times, level=st.integers(0, 9))
    for number, row in enumerate(to.rows["Customer"]):
        # Unique in every collation.
        row["name"] = f"{number:04} {draw(texts)}"
    to.some("Club")
    to.refer("Customer", "invited_by_id", "Customer")
    to.refer("Customer", "home_id", "Club")
    to.refer("Customer", "country_id", "Country")
    to.refer("Customer", "user_id", "User", unique=True)
    to.refer("Club", "founder_id", "Customer")
    to.pair("Customer.friends", from_customer_id="Customer", to_customer_id="Customer")
    to.some("Vip", of="Customer", rank=numbers)
    to.some("GoldVip", of="Vip", medals=numbers)
    to.some("Profile", of="Customer")
    to.some("Membership")
    to.require("Membership", "club_id", "Club")
    to.require("Membership", "customer_id", "Customer")
    to.distinct("Membership", "club_id", "customer_id")
    to.some("Note")
    to.refer("Note", "profile_id", "Profile")
    to.refer("Note", "vip_id", "GoldVip")
    to.some("Badge")
    to.require("Badge", "holder_id", "Customer")
    to.distinct("Badge", "holder_id")
    to.some("Loan")
    to.require("Loan", "badge_id", "Badge")
    holders = {row["pk"]: row["holder_id"] for row in to.rows["Badge"]}
    for row in to.rows["Loan"]:
        row["badge_id"] = holders[row["badge_id"]]
    to.some("Review")
    to.require("Review", "customer_id", "Customer")
    names = {row["pk"]: row["name"] for row in to.rows["Customer"]}
    for row in to.rows["Review"]:
        row["customer_id"] = names[row["customer_id"]]
    to.some("Tag")
    to.pair("Tag.customers", tag_id="Tag", customer_id="Customer")
    to.some("Ledger")
    to.require("Ledger", "customer_id", "Customer")
    to.some("Order", number=st.integers(0, 3))
    to.require("Order", "customer_id", "Customer")
    to.distinct("Order", "customer_id", "number")
    to.refer("Order", "shown_to_id", "Customer")
    to.some("Parcel", keys=st.uuids(version=4), sent_at=times)
    to.refer("Parcel", "order_id", "Order")
    to.refer("Parcel", "inside_id", "Parcel")
    to.some("Event", keys=sortable.map(get("ulid").from_int))
    to.refer("Event", "parcel_id", "Parcel")
    to.refer("Event", "cause_id", "Event")
    to.some("Scan", keys=sortable.map(get("hexulid").from_int))
    to.refer("Scan", "event_id", "Event")
    to.refer("Scan", "former_id", "Scan", unique=True)
    _generic(to, "Comment")
    to.refer("Comment", "author_id", "Customer")
    _generic(to, "LogEntry")
    to.require("LogEntry", "user_id", "User")
    return to.rows


def drawn(number: int, most: int = 5) -> Rows:
    """Random rows, the same for the same seed: the most of 20 graphs."""
    found: list[Rows] = []

    @seed(number)
    @settings(
        max_examples=20,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(rows(most))
    def collect(each: Rows) -> None:
        found.append(each)

    collect()
    return max(found, key=lambda each: sum(map(len, each.values())))


TARGETS = ["User", "Customer", "Vip", "GoldVip", "Profile", "Club", "Order", "Parcel", "Event"]
TARGETS += ["Scan", "Country", "Tag", "Regular"]


def _generic(to: Draw, name: str) -> None:
    """Generic references: to a row of each model, to none, and texts that are no key."""
    to.some(name, kind=st.sampled_from(TARGETS))
    for row in to.rows[name]:
        row["object_id"] = to.draw(st.sampled_from(["", "x", "2147483647", str(EPOCH)]))
    for mark, kind in enumerate(TARGETS, 10**6):
        # Rows of a proxy are those of its model.
        for key in to.keys("Customer" if kind == "Regular" else kind)[:1]:
            to.rows[name].append({"pk": mark, "mark": mark, "kind": kind, "object_id": str(key)})
