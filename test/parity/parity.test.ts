/**
 * The same requests over the same fixture give the same answers on the three engines, except for generated ids and
 * times. Requests run in order, so that each finds the state that earlier ones left.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkEnvelope } from "../contract/cases.ts";
import { shopOptions } from "../contract/fixture.ts";
import { openFixture, type Answer, type Fixture } from "../contract/harness.ts";
import type { EngineName } from "../servers/session.ts";
import { requests, type ParityRequest } from "./requests.ts";

const engines: readonly EngineName[] = ["sqlite", "postgres", "mysql"];
const items = shopOptions.endpoints["items"] as { action: object };
const bulk = { "bulk-create": true, "bulk-update": true, "bulk-delete": true, upsert: true };
const endpoints = {
  ...shopOptions.endpoints,
  items: { ...items, action: { ...items.action, ...bulk } },
};
let fixtures: Fixture[] = [];
beforeAll(async () => {
  fixtures = await Promise.all(
    engines.map((engine) => openFixture({ ...shopOptions, endpoints, engine })),
  );
});
afterAll(() => Promise.all(fixtures.map((fixture) => fixture.close())));

test("the parity test has at least 200 requests", () => {
  expect(requests.length).toBeGreaterThanOrEqual(200);
});

for (const [index, request] of requests.entries()) {
  test(`PostgreSQL and MySQL answer as SQLite does: ${index} ${titleOf(request)}`, async () => {
    const [sqlite, postgres, mysql] = await Promise.all(
      fixtures.map((fixture) => ask(fixture, request)),
    );
    expect({ postgres, mysql }).toEqual({ postgres: sqlite, mysql: sqlite });
  });
}

async function ask(fixture: Fixture, { endpoint, action, body, headers }: ParityRequest) {
  const answer = await fixture.post(`${endpoint}/${action}`, body, headers);
  checkEnvelope(answer);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(500);
  return normalise(answer);
}

/** Ids that a database numbers differ after refused inserts, which use up a number on some engines. */
const generated = new Set(["line_id"]);
/** A cursor holds texts of the engine's own, and one of them has no estimates. */
const engineOwn = new Set(["next_cursor", "count_mode"]);
const times = new Set(["created_at", "updated_at", "made_on", "changed_on", "timestamp"]);
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const instant = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/;

function normalise(answer: Answer) {
  const body = JSON.parse(JSON.stringify(answer.body), (name, value) => {
    if (value === null) return value;
    if (name === "etags") return (value as string[]).map((tag) => tag.replace(instant, "<time>"));
    if (times.has(name)) return String(value).replace(instant, "<time>");
    if (generated.has(name) || engineOwn.has(name)) return `<${typeof value}>`;
    return name.endsWith("_id") && uuid.test(value) ? "<uuid>" : value;
  });
  return {
    status: answer.status,
    etag: etagShape(answer),
    allow: answer.headers.get("Allow"),
    body: withoutChecks(body),
  };
}

/** MySQL does not report the columns of a failed CHECK: it names no field, or the whole detail. */
function withoutChecks({ errors, ...body }: Answer["body"]): unknown {
  if (errors === undefined) return body;
  const ofChecks = ["is not allowed by the database", "is refused by the database"];
  const others = Object.entries(errors).filter(
    ([, messages]) => !ofChecks.includes(String(messages)),
  );
  return others.length === 0 ? body : { ...body, errors: Object.fromEntries(others) };
}

/** A tag that is a hash of a record with a generated id differs as the id does: its presence is what counts. */
const etagShape = ({ headers }: Answer) =>
  headers.get("ETag")?.replace(instant, "<time>").replace(/"\w+"/, '"<hash>"') ?? null;

function titleOf({ endpoint, action, body, headers }: ParityRequest): string {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const match = headers ? ` ${JSON.stringify(headers)}` : "";
  return `${endpoint}/${action} ${text?.slice(0, 120) ?? "without a body"}${match}`;
}
