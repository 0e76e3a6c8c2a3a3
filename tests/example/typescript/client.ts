// A client of the example's API: `openapi-fetch` with the types that `openapi-typescript` generates.
// Its last argument is the URL of the server; it fails with the first answer that is not expected.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

declare const process: { argv: string[] };

const api = createClient<paths>({ baseUrl: process.argv.at(-1)! });

function expect(right: boolean, what: string): asserts right {
  if (!right) throw new Error(what);
}

const { data: flights } = await api.GET("/api/flights/");
expect(flights !== undefined, "a list of flights");
const listed = flights.results[0];
expect(listed !== undefined, "a flight");
const publicId: string = listed.public_id;
// @ts-expect-error Ids are texts.
const number: number = listed.public_id;
expect(typeof number === "string", "a text");

const { data: flight } = await api.GET("/api/flights/{public_id}/", {
  params: { path: { public_id: publicId } },
});
expect(flight?.public_id === publicId && flight.url === listed.url, "the flight by its id");

// @ts-expect-error Paths take texts.
await api.GET("/api/flights/{public_id}/", { params: { path: { public_id: 1 } } });

const remark: components["schemas"]["RemarkRequest"] = { flight: publicId, text: "On time." };
const { data: created, response } = await api.POST("/api/remarks/", { body: remark });
expect(response.status === 201 && created !== undefined, "a new remark");
expect(created.flight === publicId, "a remark on the flight");

const { data: found } = await api.GET("/api/remarks/{id}/", {
  params: { path: { id: created.id } },
});
expect(found?.text === "On time." && found.id === created.id, "the remark by its id");

const { data: none, response: missing } = await api.GET("/api/remarks/{id}/", {
  params: { path: { id: publicId } },
});
expect(missing.status === 404 && none === undefined, "no remark by a flight's id");
console.log(created.id);
