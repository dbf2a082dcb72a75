/**
 * Every action, asked by every kind of caller about a record of its own, one of another tenant, and one that is not there. The requests are a
 * record over all actions, so a new action fails here until it has one.
 */
import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { actions } from "../../core/actions.ts";
import type { Answer, Fixture } from "./harness.ts";
import { keyOf, openTenants, tokenSecret } from "./tenants.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openTenants({ byHeader: false });
});
afterAll(() => fixture?.close());

type Place = "own" | "foreign" | "missing";
const places: readonly Place[] = ["own", "foreign", "missing"];
let ids: Record<Place, string>;
beforeEach(async () => {
  ids = { own: randomUUID(), foreign: randomUUID(), missing: randomUUID() };
  const rows = [`('${ids.own}', 'a', 'c-${ids.own}', 't-${ids.own}', 5, 'open')`];
  rows.push(`('${ids.foreign}', 'b', 'c-${ids.foreign}', 't-${ids.foreign}', 5, 'open')`);
  await fixture.sql(
    `insert into orders (order_id, tenant, code, title, qty, status) values ${rows.join(", ")}`,
  );
  await fixture.sql(
    `insert into bins (bin_id, tenant, is_deleted) values ('${ids.own}', 'a', true), ('${ids.foreign}', 'b', true)`,
  );
});

/** What is sent about a record. */
interface Asked {
  readonly path: string;
  /** Absent: a GET. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether callers who see every row are told of own and foreign records alike, and of a missing one otherwise; false: it is not about a record. */
  readonly isAboutRecord: boolean;
}

const pairs = (id: string): object => ({ where: [{ key: "order_id", value: id }] });
const keys = (id: string): object => ({ lock_keys: [{ key: "order_id", value: id }] });
const job = (kind: string, id: string): string => `job_id=${kind}-${id}`;
const about = (path: string, body: unknown, headers?: Record<string, string>): Asked => ({
  path,
  body,
  ...(headers && { headers }),
  isAboutRecord: true,
});
const beside = (path: string, body?: unknown): Asked => ({ path, body, isAboutRecord: false });

const requests: Readonly<Record<string, (id: string) => Asked>> = {
  create: () => beside("plain/create", { title: "new", tenant: "a" }),
  read: (id) =>
    about("plain/read", { where: { conditions: [{ key: "order_id", operator: "=", value: id }] } }),
  first: (id) => about("plain/first", pairs(id)),
  update: (id) => about("plain/update", { order_id: id, title: "changed" }),
  delete: (id) => about("plain/delete", pairs(id)),
  restore: (id) => about("bins/restore", { where: [{ key: "bin_id", value: id }] }),
  adjust: (id) =>
    about("plain/adjust", { order_id: id, adjustments: [{ field: "qty", value: 1 }] }),
  datatables: (id) => about("plain/datatables", { draw: 1, search: { value: `t-${id}` } }),
  lookup: (id) => about("plain/lookup", { ids: [id] }, { "x-request-mode": "static" }),
  aggregate: (id) => about("plain/aggregate", pairs(id)),
  "create-composite": () =>
    beside("orders/create-composite", {
      orders: { tenant: "a", order_lines: [{ text: "x", amount: 1 }] },
    }),
  "read-composite": (id) => about("orders/read-composite", pairs(id)),
  "update-composite": (id) =>
    about("orders/update-composite", { orders: { order_id: id, title: "changed" } }),
  "change-status": (id) => about("plain/change-status", { id, status: "done" }),
  "next-statuses": (id) => about("plain/next-statuses", { id }),
  export: () => beside("plain/export", { format: "jsonl" }),
  "export-status": (id) => beside(`plain/export-status?${job("export", id)}`),
  "export-download": (id) => beside(`plain/export-download?${job("export", id)}`),
  "export-cancel": (id) => beside("plain/export-cancel", { job_id: `export-${id}` }),
  "import-upload": () => beside("plain/import-upload", {}),
  "import-preview": (id) => beside("plain/import-preview", { upload_id: `upload-${id}` }),
  "import-commit": (id) => beside("plain/import-commit", { preview_job_id: `preview-${id}` }),
  "import-status": (id) => beside(`plain/import-status?${job("preview", id)}`),
  "import-template": () => beside("plain/import-template"),
  "import-errors": (id) => beside(`plain/import-errors?${job("preview", id)}`),
  "import-cancel": (id) => beside("plain/import-cancel", { job_id: `preview-${id}` }),
  "lock/acquire": (id) => about("plain/lock/acquire", { ...keys(id), ttl: 1 }),
  "lock/release": (id) => beside("plain/lock/release", { ...keys(id), lock_token: "none" }),
  "lock/status": (id) => beside("plain/lock/status", keys(id)),
};

async function ask(action: string, id: string, headers: Record<string, string>): Promise<Answer> {
  const { path, body, headers: more } = requests[action]!(id);
  const sent = { ...more, ...headers };
  return body === undefined
    ? fixture.request(`/api/test/${path}`, { headers: sent })
    : fixture.post(path, body, sent);
}

/** What an answer says, but for what differs between any two. */
function gist({ status, body }: Answer, id: string): unknown {
  const text = JSON.stringify({ status, body: { ...body, timestamp: null, job_id: null } });
  return JSON.parse(text.replaceAll(id, "<id>"));
}

const byKey = (id: string) => (): Record<string, string> => ({ "x-api-key": keyOf(id) });
const byToken = (claims: Record<string, unknown>) => async (): Promise<Record<string, string>> => {
  const token = await new SignJWT({ sub: "someone", ...claims })
    .setProtectedHeader({ alg: "HS256" })
    .setExpirationTime("5m")
    .sign(new TextEncoder().encode(tokenSecret));
  return { authorization: `Bearer ${token}` };
};

type Credentials = () => Record<string, string> | Promise<Record<string, string>>;
const outside: readonly (readonly [string, Credentials, number])[] = [
  ["no credentials", () => ({}), 401],
  ["a wrong key", byKey("nobody"), 401],
  ["a token for nothing", byToken({ roles: ["nothing"] }), 403],
  ["a key for nothing", byKey("stranger"), 403],
];
const narrowed: readonly (readonly [string, Credentials])[] = [
  ["a key with a scope", byKey("key-a")],
  ["a token with a scope", byToken({ roles: ["clerk"], tenant: "a" })],
];
const wide: readonly (readonly [string, Credentials])[] = [
  ["a key without a scope", byKey("visitor")],
  ["an administrator", byKey("operator")],
  ["a token with two roles", byToken({ roles: ["clerk", "visitor"], tenant: "a" })],
];

test("every action has a request", () => {
  expect(Object.keys(requests).toSorted()).toEqual(actions.map(({ name }) => name).toSorted());
});

describe.each(actions.map(({ name }) => [name] as const))("%s", (action) => {
  test.each(outside)("with %s says nothing about records", async (_, credentials, status) => {
    const headers = await credentials();
    const before = await fixture.sql("select * from orders order by order_id");
    const answers: unknown[] = [];
    for (const place of places) {
      const answer = await ask(action, ids[place], headers);
      expect(answer.status).toBe(status);
      answers.push(gist(answer, ids[place]));
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
    expect(await fixture.sql("select * from orders order by order_id")).toEqual(before);
  });

  test.each(narrowed)(
    "with %s takes a foreign record for a missing one",
    async (_, credentials) => {
      const headers = await credentials();
      const { isAboutRecord } = requests[action]!("");
      const [own, foreign, missing] = [
        gist(await ask(action, ids.own, headers), ids.own),
        gist(await ask(action, ids.foreign, headers), ids.foreign),
        gist(await ask(action, ids.missing, headers), ids.missing),
      ];
      if (!isAboutRecord) return expect(foreign).toMatchObject({ status: statusOf(missing) });
      expect(foreign).toEqual(missing);
      expect(own).not.toEqual(missing);
    },
  );

  test.each(wide)("with %s knows every record", async (_, credentials) => {
    const headers = await credentials();
    const { isAboutRecord } = requests[action]!("");
    const answers = [];
    for (const place of places)
      answers.push(gist(await ask(action, ids[place], headers), ids[place]));
    const [own, foreign, missing] = answers;
    expect(foreign).toMatchObject({ status: statusOf(own) });
    if (isAboutRecord) expect(own).not.toEqual(missing);
  });
});

const statusOf = (answer: unknown): number => (answer as { status: number }).status;
