"""Uses of a column that are wrong, or may be, once its values are other ones."""

from __future__ import annotations

from collections.abc import Iterator

from ...schema.sql_tokens import Token
from .text import Name, Text, is_name

_OPERATORS = frozenset("=<>!+-*/%|&^~:")
_COMPARISONS = {"=", "==", "<>", "!=", "<", ">", "<=", ">=", "<=>"}
_WORDS = {
    *("IS", "IN", "NOT", "LIKE", "BETWEEN", "DIV", "MOD", "REGEXP", "RLIKE", "GLOB", "MATCH"),
    *("ILIKE", "SIMILAR", "ISNULL", "NOTNULL", "COLLATE"),
}
_SAFE_FUNCTIONS = {
    *("count", "json", "json_object", "json_array", "json_group_array", "json_arrayagg"),
    *("json_objectagg", "json_build_object", "json_build_array", "jsonb_build_object", "json_agg"),
    *("jsonb_agg", "jsonb_build_array", "to_json", "to_jsonb", "array_agg"),
}
"""Functions whose result contains the key as any other value."""
_BEFORE_SUBQUERY = {
    *("IN", "VALUES", "VALUE", "AND", "OR", "ON", "WHERE", "EXISTS", "NOT", "SELECT", "FROM"),
    *("JOIN", "OVER", "BY", "AS", "WHEN", "THEN", "ELSE", "IF", "UNION", "ALL", "DISTINCT", "ANY"),
    *("HAVING", "SET", "RETURN", "ELSEIF", "ELSIF", "WHILE", "EXCEPT", "INTERSECT", "CASE"),
}
"""Words that are no functions where a parenthesis follows."""
_STARTS_ITEM = {
    *("SELECT", "DISTINCT", "ALL", "BY", ",", "(", "OF", "RETURNING", "SET", "THEN", "ELSE"),
    *("EXISTS", "FROM", "JOIN", "UNION"),
}


def wrong_uses(text: Text, ignored: set[int]) -> Iterator[str]:
    """What the text does with each column that changes. ``ignored`` are the places of names that
    are no values."""
    for name in text.names:
        is_alias = text.at(name.start - 1).keyword == "AS"
        if name.start not in ignored and not is_alias and text.is_changed(name):
            reason = _wrong(text, name)
            if reason:
                yield reason


def _wrong(text: Text, name: Name) -> str | None:
    start, end = _whole(text, name)
    before, after = text.at(start - 1), text.at(end + 1)
    is_compared = False
    if after.text in _OPERATORS or after.keyword in _WORDS:
        if not _is_right_safe(text, end + 1):
            return f"compares or computes with {name}"
        is_compared = True
    if before.text in _OPERATORS or before.keyword in _WORDS or _is_distinct(text, start - 1):
        if not _is_left_safe(text, start - 1):
            return f"compares or computes with {name}"
        is_compared = True
    if after.keyword == "INTO":
        return f"reads {name} into a variable"
    if before.keyword == "RETURN":
        return f"returns {name}"
    if is_compared:
        return None
    if (before.keyword or before.text) not in _STARTS_ITEM:
        return f"uses {name}"
    function = function_around(text, start)
    if function is None or function in _SAFE_FUNCTIONS:
        return None
    if function == "using":
        return None if text.is_surely_changed(name) else f"joins tables by {name}"
    return f"passes {name} to {function}()"


def _whole(text: Text, name: Name) -> tuple[int, int]:
    """The places of the name, with the parentheses or the query in them that has its value."""
    start, end = name.start, name.end
    while True:
        if text.at(start - 1).keyword in ("SELECT", "DISTINCT"):
            query = text.query_around(start, end)
            if text.at(query.start).text != "(":
                return start, end
            start, end = query.start, query.stop - 1
        elif text.at(start - 1).text == "(" and text.at(end + 1).text == ")":
            if _is_call(text.at(start - 2)):
                return start, end
            start, end = start - 1, end + 1
        else:
            return start, end


def _is_call(before: Token) -> bool:
    """Whether a parenthesis after that token has the arguments of a function."""
    return is_name(before) and before.keyword not in _BEFORE_SUBQUERY


def _is_distinct(text: Text, place: int) -> bool:
    """Whether ``IS DISTINCT FROM`` ends there."""
    return [text.at(place - n).keyword for n in (1, 0)] == ["DISTINCT", "FROM"]


def _is_right_safe(text: Text, place: int) -> bool:
    """Whether what follows the name keeps its meaning: an operator at ``place``, and its other
    side."""
    words = [text.at(place + n).keyword for n in range(3)]
    if words[0] in ("ISNULL", "NOTNULL") or words[:2] == ["NOT", "NULL"]:
        return True
    if words[0] == "IS":
        place += 1 + (words[1] == "NOT")
        if text.at(place).keyword == "DISTINCT":
            place += 2
        return _is_operand(text, place)
    if words[0] == "IN" or words[:2] == ["NOT", "IN"]:
        return _is_subquery(text, place + 1 + (words[0] == "NOT"))
    if text.at(place).text == "%" and words[1] in ("TYPE", "ROWTYPE"):
        return True
    operator, place = _operator(text, place)
    return operator in _COMPARISONS and _is_operand(text, place)


def _operator(text: Text, place: int) -> tuple[str, int]:
    """The operator that starts there, and the place after it."""
    found = ""
    while text.at(place).text in _OPERATORS:
        found += text.at(place).text
        place += 1
    return found, place


def _is_operand(text: Text, place: int) -> bool:
    while text.at(place).text == "(" and text.at(place + 1).keyword != "SELECT":
        place += 1
    if text.at(place).keyword == "NULL":
        return True
    if text.at(place).text == "(":
        return _is_subquery(text, place)
    name = text.starting(place)
    return name is not None and text.is_surely_changed(name)


def _is_subquery(text: Text, place: int) -> bool:
    """Whether a query there, in parentheses, gives keys that change."""
    place += 1
    if text.at(place).keyword != "SELECT":
        return False
    place += 1 + (text.at(place + 1).keyword == "DISTINCT")
    name = text.starting(place)
    is_key = name is not None and text.is_surely_changed(name)
    return is_key and name is not None and text.at(name.end + 1).keyword == "FROM"


def _is_left_safe(text: Text, place: int) -> bool:
    """Whether what precedes the name keeps its meaning: the last token of an operator at ``place``,
    and its other side."""
    if text.at(place).keyword == "FROM":
        place -= 2
    if text.at(place).keyword == "IN":
        return _is_operand_before(text, place - 1 - (text.at(place - 1).keyword == "NOT"))
    if text.at(place).keyword == "NOT":
        place -= 1
    if text.at(place).keyword == "IS":
        return _is_operand_before(text, place - 1)
    found = ""
    while text.at(place).text in _OPERATORS:
        found = text.at(place).text + found
        place -= 1
    return found in _COMPARISONS and _is_operand_before(text, place)


def _is_operand_before(text: Text, place: int) -> bool:
    while text.at(place).text == ")":
        place -= 1
    if text.at(place).keyword == "NULL":
        return True
    name = text.ending(place)
    return name is not None and text.is_surely_changed(name)


def function_around(text: Text, place: int) -> str | None:
    """The name of the function, or ``using``, that has the place in its arguments; None if no
    function has."""
    depth = 0
    for start in range(place - 1, -1, -1):
        token = text.at(start).text
        depth += (token == ")") - (token == "(")
        if depth < 0:
            opening = text.at(start - 1)
            return opening.name.lower() if _is_call(opening) else None
    return None
