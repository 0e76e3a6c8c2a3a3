"""The OpenAPI document of the example: valid, true of the answers, and usable from TypeScript."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator

from .support import SECONDS, Visitor


@pytest.fixture
def document(visitor: Visitor) -> dict[str, Any]:
    """What the server gives to a client that asks for JSON."""
    found: dict[str, Any] = visitor.get("/api/schema/?format=json").data
    return found


@pytest.fixture
def answers(visitor: Visitor) -> dict[str, Any]:
    """Real answers by the component that describes them."""
    flights = visitor.get("/api/flights/").data
    flight = flights["results"][0]
    remark = visitor.post("/api/remarks/", {"flight": flight["public_id"], "text": "Late."}).data
    return {
        "PaginatedFlightList": flights,
        "Flight": flight,
        "Remark": remark,
        "PaginatedRemarkList": visitor.get("/api/remarks/").data,
    }


def test_the_document_is_valid(document: dict[str, Any]) -> None:
    validate_schema(document)
    descriptions = set(re.findall(r'"description": "([^"]*)', json.dumps(document["paths"])))
    assert "Flights by their public ids, the earliest first." in descriptions
    assert not any("public text" in description for description in descriptions)


def test_the_document_is_true_of_the_answers(
    document: dict[str, Any], answers: dict[str, Any]
) -> None:
    for name in ("Flight", "Remark"):
        described = Draft202012Validator({"$ref": f"#/components/schemas/{name}", **document})
        # A page itself has "nullable", which JSON Schema doesn't know.
        for answer in [answers[name], *answers[f"Paginated{name}List"]["results"]]:
            assert [error.message for error in described.iter_errors(answer)] == []


def run(folder: Path, *command: str) -> str:
    """What the command prints, which must succeed."""
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.typescript
def test_typescript_tells_the_ids_of_two_models_apart(
    document: dict[str, Any], tmp_path: Path
) -> None:
    """``@hey-api/openapi-ts`` makes a type of each prefix; `tsc` refuses each line that has to."""
    (tmp_path / "schema.json").write_text(json.dumps(document))
    needed = {"@hey-api/openapi-ts": "0.99.0", "typescript": "5.9.3"}
    (tmp_path / "package.json").write_text(json.dumps({"type": "module", "dependencies": needed}))
    (tmp_path / "ids.ts").write_text("""
import type { FlightId, RemarkRequest, Remark } from "./api/types.gen.js";

declare const flight: FlightId;
declare const remark: Remark;
export const right: RemarkRequest = { flight, text: "Late." };
// @ts-expect-error The id of a remark where that of a flight is wanted.
export const wrong: RemarkRequest = { flight: remark.id, text: "Late." };
// @ts-expect-error Any text where an id is wanted.
export const text: RemarkRequest = { flight: "17", text: "Late." };
""")

    run(tmp_path, "npm", "install", "--no-audit", "--no-fund")
    run(
        tmp_path, "npx", "openapi-ts", "-i", "schema.json", "-o", "api", "-p", "@hey-api/typescript"
    )
    run(
        tmp_path,
        "npx",
        "tsc",
        "--noEmit",
        "--strict",
        "--module",
        "nodenext",
        "--skipLibCheck",
        "ids.ts",
    )
