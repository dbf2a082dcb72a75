/**
 * Every action, called by every kind of caller, about its own record, another tenant's record and a missing record;
 * also details of documents and references to records. A new action fails here until it has an entry in the requests.
 */
import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, inject, test } from "vitest";
import { actions } from "../../core/actions.ts";
import { type Answer, openForTests } from "./harness.ts";
import { closeTenants, keyOf, openTenants, type Tenant, tokenOf } from "./tenants.ts";

const fixture = openForTests(openTenants, { byHeader: false });

type Place = "own" | "foreign" | "missing";
const places: readonly Place[] = ["own", "foreign", "missing"];
let ids: Record<Place | "other own", string>;
/** An order of the caller's own; its lines have the keys of the records, and their tenants. */
let document: string;
beforeEach(async () => {
  const [own, other, foreign] = [randomUUID(), randomUUID(), randomUUID()];
  ids = { own, "other own": other, foreign, missing: randomUUID() };
  document = randomUUID();
  await insertOrders([own, "a"], [other, "a"], [foreign, "b"], [document, "a"]);
  const rows = (more: string): string =>
    `('${own}', 'a', ${more}), ('${other}', 'a', ${more}), ('${foreign}', 'b', ${more})`;
  for (const insert of [
    `accounts (account_id, tenant, name) values ${rows("'x'")}`,
    `scans (scan_id, tenant, label) values ${rows("'x'")}`,
    `bins (bin_id, tenant, is_deleted) values ${rows("true")}`,
    `order_lines (line_id, tenant, order_id) values ${rows(`'${document}'`)}`,
    // Own lines that refer to each account.
    `order_lines (line_id, tenant, account_id) values ${[own, other, foreign].map((id) => `('${randomUUID()}', 'a', '${id}')`).join(", ")}`,
  ])
    await fixture.sql(`insert into ${insert}`);
});

async function insertOrders(...orders: readonly (readonly [string, Tenant])[]): Promise<void> {
  const rows = orders.map(
    ([id, tenant]) => `('${id}', '${tenant}', 'c-${id}', 't-${id}', 5, 'open')`,
  );
  await fixture.sql(
    `insert into orders (order_id, tenant, code, title, qty, status) values ${rows.join(", ")}`,
  );
}

async function renameTenants(own: string, foreign: string): Promise<void> {
  for (const table of ["orders", "accounts", "bins", "order_lines", "scans"])
    await fixture.sql(
      `update ${table} set tenant = case tenant when 'a' then '${own}' else '${foreign}' end where tenant in ('a', 'b')`,
    );
}

/** What is sent about a record. */
interface Asked {
  readonly path: string;
  /** Absent: a GET. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether callers who see all rows get another answer for a missing record; false: it is not about a record. */
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

/** By name of the action; the text after a colon distinguishes further requests. */
const requests: Readonly<Record<string, (id: string) => Asked>> = {
  create: () => beside("plain/create", { title: "new", tenant: "a" }),
  read: (id) =>
    about("plain/read", { where: { conditions: [{ key: "order_id", operator: "=", value: id }] } }),
  first: (id) => about("plain/first", pairs(id)),
  update: (id) => about("plain/update", { order_id: id, title: "changed" }),
  delete: (id) => about("plain/delete", pairs(id)),
  restore: (id) => about("bins/restore", { where: [{ key: "bin_id", value: id }] }),
  // Records that were not made through the service have no changes; `scopes.test.ts` has some.
  history: (id) => beside("bins/history", { bin_id: id }),
  revert: () => beside("bins/revert", { change_id: "999999999999" }),
  adjust: (id) =>
    about("plain/adjust", { order_id: id, adjustments: [{ field: "qty", value: 1 }] }),
  "bulk-create": () => beside("plain/bulk-create", { data: [{ title: "new", tenant: "a" }] }),
  "bulk-update": (id) => about("plain/bulk-update", { data: [{ order_id: id, title: "changed" }] }),
  "bulk-update: by a condition": (id) =>
    about("plain/bulk-update", { where: idIs(id), set: { title: "changed" }, expect: 1 }),
  "bulk-delete": (id) => about("plain/bulk-delete", { keys: [id] }),
  "bulk-delete: by a condition": (id) => about("plain/bulk-delete", { where: idIs(id), expect: 1 }),
  // Of a foreign record it says the same as create with a key that is taken.
  upsert: () => beside("plain/upsert", { data: { title: "new", tenant: "a" } }),
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
  "next-number": () => beside("bins/next-number", {}),
  "file-upload": () => beside("scans/file-upload", {}),
  "file-download": (id) => ({
    path: `scans/file-download?scan_id=${id}&field=scan`,
    isAboutRecord: true,
  }),
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
  "read: by a path": (id) => linesOf({ key: "account.account_id", operator: "=", value: id }),
  "read: by a condition on related records": (id) =>
    linesOf({
      key: "account",
      operator: "ANY",
      where: { conditions: [{ key: "account_id", operator: "=", value: id }] },
    }),
  "read: by ANY of many": (id) => documentsWith({ operator: "ANY", where: lineIs("=", id) }),
  "read: by NONE of many": (id) => documentsWith({ operator: "NONE", where: lineIs("=", id) }),
  "read: by ALL of many": (id) => documentsWith({ operator: "ALL", where: lineIs("!=", id) }),
  "first: with related records": (id) => documentAnd({ lines: { where: lineIs("=", id) } }),
  "first: with figures of related records": (id) =>
    documentAnd({
      lines: {
        where: lineIs("=", id),
        operations: [{ function: "count", field: "*", alias: "n" }],
      },
    }),
  "first: with a related record": (id) => about("lines/first", { ...line(id), expand: ["order"] }),
  "read-composite: with related records": (id) =>
    about("orders/read-composite", { ...pairs(id), expand: ["lines"] }),
  "first: a line": (id) => about("lines/first", line(id)),
  "update: a line": (id) => about("lines/update", { line_id: id, text: "changed" }),
  "delete: a line": (id) => about("lines/delete", line(id)),
  "create: a line of a record": (id) => about("lines/create", { order_id: id, tenant: "a" }),
  "update-composite: a line": (id) => aboutLines({ update: [{ line_id: id, text: "changed" }] }),
  "update-composite: a line to delete": (id) => aboutLines({ delete: [{ line_id: id }] }),
  "update-composite: a line's reference": (id) => aboutLines({ insert: [{ account_id: id }] }),
  "create-composite: a line's reference": (id) =>
    about("orders/create-composite", { orders: { order_lines: [{ account_id: id }] } }),
};

const idIs = (id: string): object => ({
  conditions: [{ key: "order_id", operator: "=", value: id }],
});
const linesOf = (condition: object): Asked =>
  about("lines/read", { where: { conditions: [condition] } });
const lineIs = (operator: string, id: string): object => ({
  conditions: [{ key: "line_id", operator, value: id }],
});
const documentsWith = (lines: object): Asked =>
  about("plain/read", {
    where: {
      logic: "AND",
      conditions: [
        { key: "order_id", operator: "=", value: document },
        { key: "lines", ...lines },
      ],
    },
  });
const documentAnd = (expand: object): Asked => about("plain/first", { ...pairs(document), expand });
const line = (id: string): object => ({ where: [{ key: "line_id", value: id }] });
const aboutLines = (order_lines: object): Asked =>
  about("orders/update-composite", { orders: { order_id: document, order_lines } });

async function ask(action: string, id: string, headers: Record<string, string>): Promise<Answer> {
  const { path, body, headers: more } = requests[action]!(id);
  const sent = { ...more, ...headers };
  return body === undefined
    ? fixture.request(`/api/test/${path}`, { headers: sent })
    : fixture.post(path, body, sent);
}

/** What the answers about each place's record say. A request that names no record is the same each time: sent once. */
async function askAll(action: string, headers: Record<string, string>): Promise<unknown[]> {
  const [one, other] = ["one", "other"].map((id) => JSON.stringify(requests[action]!(id)));
  const answers: unknown[] = [];
  for (const place of places)
    answers.push(
      one === other && answers.length > 0
        ? answers[0]
        : gist(await ask(action, ids[place], headers), ids[place]),
    );
  return answers;
}

/** An answer without the parts that differ between any two. */
function gist({ status, body }: Answer, id: string): unknown {
  const text = JSON.stringify({ status, body: { ...body, timestamp: null, job_id: null } });
  return JSON.parse(text.replaceAll(id, "<id>"));
}

const byKey = (id: string) => (): Record<string, string> => ({ "x-api-key": keyOf(id) });
const byToken = (claims: string, without?: Parameters<typeof tokenOf>[1]) => () =>
  tokenOf(claims, without);

type Credentials = () => Record<string, string> | Promise<Record<string, string>>;
const outside: readonly (readonly [string, Credentials, number])[] = [
  ["no credentials", () => ({}), 401],
  ["a wrong key", byKey("nobody"), 401],
  ["a token without a user", byToken('"roles": "operator"', { sub: "" }), 401],
  ["a token without an end", byToken('"roles": "operator"', { exp: "" }), 401],
  ["a token for nothing", byToken('"roles": "nothing"'), 403],
  ["a key for nothing", byKey("stranger"), 403],
];
const narrowed: readonly (readonly [string, Credentials, readonly [string, string] | null])[] = [
  ["a key with a scope", byKey("key-a"), null],
  ["a token with a scope", byToken('"roles": "clerk", "tenant": "a"'), null],
  [
    "a token with a long number",
    byToken(`"roles": "clerk", "tenant": ${closeTenants[0]}`),
    closeTenants,
  ],
];
const wide: readonly (readonly [string, Credentials])[] = [
  ["a key without a scope", byKey("visitor")],
  ["an administrator", byKey("operator")],
  ["a token with two roles", byToken('"roles": "clerk visitor", "tenant": "a"')],
];

test("every action has a request", () => {
  const asked = new Set(Object.keys(requests).map((name) => name.split(":")[0]!));
  // A procedure is about no record; `call.test.ts` has its rights.
  const all = actions.map(({ name }) => name).filter((name) => name !== "call");
  expect([...asked].toSorted()).toEqual(all.toSorted());
});

test("upsert of a foreign record answers that the key is taken, and changes nothing", async () => {
  const before = await fixture.sql("select * from orders order by order_id");
  const body = { data: [{ order_id: ids.foreign, title: "changed", tenant: "a" }] };
  const answer = await fixture.post("plain/upsert", body, byKey("key-a")());
  expect(answer).toMatchObject({ status: 409, body: { error: "Duplicate entry" } });
  expect(answer.body.errors).toEqual({ "[0].order_id": ["already exists"] });
  expect(await fixture.sql("select * from orders order by order_id")).toEqual(before);
});

describe.each(Object.keys(requests))("%s", (action) => {
  // Before the request is looked at, so one of each action shows it.
  test.each(action.includes(":") ? [] : outside)(
    "with %s says nothing about records",
    async (_, credentials, status) => {
      const headers = await credentials();
      const before = await fixture.sql("select * from orders order by order_id");
      const answers = await askAll(action, headers);
      expect(statusOf(answers[0])).toBe(status);
      expect(answers).toEqual([answers[0], answers[0], answers[0]]);
      expect(await fixture.sql("select * from orders order by order_id")).toEqual(before);
    },
  );

  test.each(narrowed)(
    "with %s takes a foreign record for a missing one",
    async (_, credentials, tenants) => {
      if (tenants) await renameTenants(...tenants);
      const headers = await credentials();
      const { isAboutRecord } = requests[action]!("");
      const [own, foreign, missing] = await askAll(action, headers);
      if (!isAboutRecord) return expect(foreign).toMatchObject({ status: statusOf(missing) });
      expect(foreign).toEqual(missing);
      expect(own).not.toEqual(missing);
    },
  );

  test.each(wide)("with %s knows every record", async (_, credentials) => {
    const headers = await credentials();
    const { isAboutRecord } = requests[action]!("");
    const [own, foreign, missing] = await askAll(action, headers);
    expect(foreign).toMatchObject({ status: statusOf(own) });
    if (isAboutRecord) expect(own).not.toEqual(missing);
  });
});

/** MariaDB's usual collation treats the two keys as equal, so there is no such record. */
describe.skipIf(inject("engine") === "mysql")(
  "a locked foreign record with an own key in other case",
  () => {
    const tellsOfRecord = (name: string): boolean =>
      name.startsWith("lock/") || requests[name]!("").isAboutRecord;
    test.each(Object.keys(requests).filter(tellsOfRecord))(
      "is not noticed by %s",
      async (action) => {
        const theirs = ids.own.toUpperCase();
        await insertOrders([theirs, "b"]);
        const taken = { ...keys(theirs), ttl: 60, owner: "somebody of b" };
        expect((await fixture.post("plain/lock/acquire", taken, byKey("key-b")())).status).toBe(
          200,
        );
        const [own, other] = [ids.own, ids["other own"]];
        const answers = [
          await ask(action, own, byKey("key-a")()),
          await ask(action, other, byKey("key-a")()),
        ];
        expect(lastingGist(answers[0]!, own)).toEqual(lastingGist(answers[1]!, other));
      },
    );
  },
);

/** What two answers about alike records have in common. */
const lastingGist = (answer: Answer, id: string): string =>
  JSON.stringify(gist(answer, id))
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<id>")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replaceAll(/"(fence|ttl_remaining)":\d+/g, '"$1":0');

const statusOf = (answer: unknown): number => (answer as { status: number }).status;
