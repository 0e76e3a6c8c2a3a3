"""The JSON documents of ``--json``; docs/reference/json.md describes their keys."""

from collections.abc import Iterable, Mapping
from typing import Any

from ...backfill.planning.plan import Plan
from ...backfill.target import Target
from ...reporting.report import Entry
from ...reporting.work import Work


def of_target(target: Target) -> dict[str, Any]:
    return {
        "field": target.label,
        "database": target.using,
        "scheme": target.field.scheme.name,
        "created_from": target.created_from,
        "convert_from": target.convert_from,
        "on_null": target.on_null,
        "on_out_of_range": target.on_out_of_range,
    }


def of_plan(plan: Plan) -> dict[str, Any]:
    slow, fast = plan.estimate.rates
    return {
        **of_target(plan.target),
        "order": list(plan.target.order),
        "rows_without_id": plan.rows,
        "rows_filled_before": plan.filled_before,
        "batch_size": plan.batch_size,
        "estimate": {
            "seconds_at_least": round(plan.rows / fast, 1),
            "seconds_at_most": round(plan.rows / slow, 1),
            "bytes_of_ids": plan.estimate.id_bytes,
            "bytes_of_row_versions": plan.estimate.version_bytes,
        },
        "samples": list(plan.samples),
        "warnings": list(plan.warnings),
        "statements": [{"when": when, "sql": sql} for when, sql in plan.writer.statements],
    }


def of_report(entries: Iterable[Entry], unanswered: Mapping[str, str]) -> dict[str, Any]:
    fields = [
        {
            "field": entry.label,
            "database": entry.using,
            "scheme": entry.field.scheme.name,
            "rows": entry.rows,
            "rows_without_id": entry.missing,
            "state": entry.state,
            "next": f"manage.py {entry.next_step}" if entry.next_step else None,
        }
        for entry in entries
    ]
    return {"fields": fields, "unanswered": dict(unanswered)}


def of_work(work: Work) -> dict[str, Any]:
    return {
        "database": work.using,
        "runs": [each.document() for each in work.runs],
        "moves": [each.document() for each in work.moves],
    }
