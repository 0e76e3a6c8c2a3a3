"""django-ninja-extra and its ninja-schema: keys by their values, in schemas and in URLs."""

import pytest
from ninja_extra import ModelConfig, ModelControllerBase, ModelSchemaConfig, api_controller
from ninja_extra.testing import TestClient
from ninja_schema.orm.factory import SchemaFactory

from .extended.models import Folder, Part
from .shop.models import Memo, Product

pytestmark = [
    pytest.mark.django_db,
    # ninja-schema is written for an earlier pydantic; a controller lists rows in no order.
    pytest.mark.filterwarnings("ignore:Support for class-based", "ignore:Pagination may yield"),
]


@pytest.mark.parametrize(
    ("model", "kind"), [(Part, "string"), (Folder, "integer"), (Memo, "string")]
)
def test_a_schema_has_the_type_of_the_value(model, kind):
    schema = SchemaFactory.create_schema(model, fields=["id"], name=f"{model.__name__}Out")
    assert kind in str(schema.model_json_schema()["properties"]["id"])


@pytest.mark.parametrize(("model", "column"), [(Memo, "note"), (Product, "name")])
def test_a_controller_creates_finds_changes_and_deletes_rows(model, column):
    schema = ModelSchemaConfig(include=["id", column], read_only_fields=["id"])
    config = ModelConfig(model=model, schema_config=schema)
    controller = type("Controller", (ModelControllerBase,), {"model_config": config})
    client = TestClient(api_controller("/rows")(controller))
    created = client.post("/", json={column: "new"}).json()
    row = model.objects.get()
    assert created == {"id": row.pk, column: "new"}
    assert client.get(f"/{row.pk}").json() == created
    assert client.get("/").json()["results"] == [created]
    assert client.put(f"/{row.pk}", json={column: "changed"}).json()[column] == "changed"
    assert client.get("/0").status_code == 404
    assert client.delete(f"/{row.pk}").status_code == 204
    assert not model.objects.exists()
