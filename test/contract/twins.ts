/**
 * Two services over two databases that differ only in what one caller must not learn: other tenants' rows (their
 * number, keys, values, details and accounts), values of columns hidden from the caller, and locks on foreign rows.
 * What the caller sees is equal in both, so each difference between their answers is a leak.
 */
import { createHash } from "node:crypto";
import { expect } from "vitest";
import { type Answer, type Fixture, type FixtureOptions, openFixture } from "./harness.ts";
import { closeTenants, tokenOf, tokenSecret } from "./tenants.ts";
import {
  hiddenOfBins,
  hiddenOfDrafts,
  markedEndpoints,
  markedRows,
  markedTables,
} from "./twins-marked.ts";

/** The caller's tenant, and the one of foreign rows. */
export const [mine, theirs] = closeTenants;

/** The credentials of the caller: its tenant is a number, so a claim that loses a digit shows foreign rows. */
export const clerk = await tokenOf(`"roles": "clerk", "tenant": ${mine}`, {
  exp: String(Math.floor(Date.now() / 1000) + 3600),
});

/** What the caller must not learn, in two forms. */
export type Secret = "left" | "right";

export const keyOf = (id: string): Record<string, string> => ({ "x-api-key": `the key of ${id}` });

const apiKey = (id: string, roles: readonly string[], claims: object = {}) => ({
  id,
  sha256: createHash("sha256").update(`the key of ${id}`).digest("hex"),
  roles,
  claims,
});

const auth = {
  apiKeys: [apiKey("operator", ["operator"]), apiKey("other", ["clerk"], { tenant: theirs })],
  jwt: { secret: tokenSecret },
};

const orderColumn = { table: "orders", column: "order_id" };
const accountColumn = { table: "accounts", column: "account_id" };

const tables: FixtureOptions["tables"] = [
  {
    name: "accounts",
    columns: { account_id: "key", tenant: "text(20)", name: "text(40)", credit: "integer" },
  },
  {
    name: "orders",
    columns: {
      order_id: "key",
      tenant: "text(20)",
      account_id: { type: "text(36)", references: accountColumn },
      code: { type: "text(40)", unique: true },
      title: "text(40)",
      qty: "integer",
      cost: "decimal(10,2)",
      seal: { type: "text(40)", unique: true },
      total: "decimal(10,2)",
      status: "text(20)",
      due: "date",
      created_at: "timestamp",
      updated_at: "timestamp",
      updated_by: "text(20)",
    },
  },
  {
    name: "order_lines",
    columns: {
      line_id: "key",
      order_id: { type: "text(36)", references: orderColumn },
      tenant: "text(20)",
      account_id: { type: "text(36)", references: accountColumn },
      text: "text(40)",
      amount: "decimal(10,2)",
      cost: "decimal(10,2)",
    },
  },
  // Whose key, status and time of change are hidden.
  {
    name: "tickets",
    columns: {
      ticket_id: "key",
      tenant: "text(20)",
      label: { type: "text(40)", unique: true },
      status: "text(20)",
      begins: "date",
      ends: "date",
      updated_at: "timestamp",
    },
  },
  ...markedTables,
];

const writes = { create: true, update: true, delete: true, adjust: true };
const reads = { read: true, first: true, lookup: true, datatables: true, aggregate: true };
const single = {
  ...writes,
  ...reads,
  lock: true,
  "change-status": true,
  export: true,
  import: true,
};
const composites = { "create-composite": true, "read-composite": true, "update-composite": true };

const namesOf = (action: object): string[] => Object.keys(action);
const narrowed = (action: object, hidden: readonly string[]) => ({
  action,
  access: { operator: "*", clerk: namesOf(action) },
  rowScope: { clerk: { tenant: "{{claims.tenant}}" } },
  hiddenFields: { clerk: hidden },
});

/** Its changes are recorded, and told to the caller. */
const recorded = <Endpoint extends { access: { operator: string; clerk: readonly string[] } }>(
  endpoint: Endpoint,
) => ({
  ...endpoint,
  history: true,
  live: true,
  access: { ...endpoint.access, clerk: [...endpoint.access.clerk, "history", "revert"] },
});

const orders = {
  tableName: "orders",
  fieldNameLookup: { id: "order_id", text: "code || ' - ' || title" },
  adjustConfig: { fields: { qty: { type: "integer" }, cost: { type: "decimal" } } },
  workflow: { transitions: { open: ["done", "void"], done: [], void: ["open"] } },
  aggregateConfig: {
    joins: {
      account: {
        tableName: "accounts",
        sourceField: "account_id",
        targetField: "account_id",
        fields: ["name", "credit"],
      },
    },
  },
  importConfig: {
    upsertKeys: ["code"],
    lookupFields: {
      Account: { targetTable: "accounts", targetField: "account_id", lookupField: "name" },
    },
  },
  datatables: {
    searchPanes: ["title", "cost"],
    searchBuilder: ["title", "cost"],
    columnControl: ["title", "cost"],
    rowId: true,
  },
};

const lines = {
  detailTable: "order_lines",
  foreignKey: "order_id",
  cascadeDelete: true,
  detailConfig: { primaryKey: "line_id" },
  calculation: { header: { total: "SUM(amount)" } },
};

const hiddenOfOrders = ["cost", "seal"];

const ofOrders = {
  owner: { endpoint: "accounts", column: "account_id" },
  lines: { endpoint: "lines", foreignColumn: "order_id" },
  payers: {
    endpoint: "accounts",
    through: { endpoint: "lines", column: "order_id", foreignColumn: "account_id" },
  },
  // Made of a column that is hidden from the caller.
  sealed: { endpoint: "plain", column: "code", key: "seal" },
};

const endpoints = {
  orders: {
    ...orders,
    ...narrowed({ ...single, ...composites }, hiddenOfOrders),
    masterDetail: lines,
    relations: ofOrders,
  },
  plain: recorded({ ...orders, ...narrowed(single, hiddenOfOrders), relations: ofOrders }),
  lines: recorded({
    tableName: "order_lines",
    relations: {
      order: { endpoint: "orders", column: "order_id" },
      payer: { endpoint: "accounts", column: "account_id" },
    },
    ...narrowed({ ...writes, ...reads, adjust: false }, ["cost"]),
  }),
  queried: {
    ...orders,
    ...narrowed(composites, hiddenOfOrders),
    masterDetail: { ...lines, calculation: undefined },
    detailQuery:
      "select l.line_id, l.text, l.amount + 1 as more, a.name from order_lines l left join accounts a on a.account_id = l.account_id where l.order_id = :header_id order by l.line_id",
  },
  viewed: {
    ...orders,
    workflow: undefined,
    ...narrowed({ ...single, "change-status": false }, hiddenOfOrders),
    access: { operator: "*", clerk: [...namesOf(writes), ...namesOf(reads), "export"] },
    viewQuery: "select o.*, 'x' as extra from orders o",
    datatablesQuery: "select order_id, title, tenant, cost, code from orders",
    exportQuery: "select order_id, title, tenant, cost from orders",
  },
  accounts: {
    tableName: "accounts",
    fieldNameLookup: { id: "account_id", text: "name" },
    relations: { orders: { endpoint: "orders", foreignColumn: "account_id" } },
    ...narrowed({ ...writes, ...reads, adjust: false }, ["credit"]),
  },
  tickets: {
    tableName: "tickets",
    fieldNameLookup: { id: "ticket_id", text: "label" },
    workflow: { transitions: { open: ["done"], done: ["open"] } },
    fieldValidation: [
      { name: "status", type: "string", constraints: { required: true, maxLength: 20 } },
      { name: "begins", type: "date", constraints: { before: "ends" } },
      { name: "ends", type: "date", constraints: {} },
    ],
    importConfig: { upsertKeys: ["status"], requiredFields: ["status", "label"] },
    datatables: { rowId: true },
    ...narrowed({ ...single, adjust: false }, ["ticket_id", "status", "ends", "updated_at"]),
  },
  bins: recorded({
    ...markedEndpoints.bins,
    ...narrowed(markedEndpoints.bins.action, hiddenOfBins),
  }),
  trash: { ...markedEndpoints.trash, ...narrowed(markedEndpoints.trash.action, hiddenOfBins) },
  everyBin: {
    ...markedEndpoints.everyBin,
    ...narrowed(markedEndpoints.everyBin.action, hiddenOfBins),
  },
  drafts: { ...markedEndpoints.drafts, ...narrowed(markedEndpoints.drafts.action, hiddenOfDrafts) },
};

const foreign = {
  left: {
    accounts: ["bc", "bx"],
    orders: ["b0", "b1", "b2", "b3", "b4", "b5"],
    title: ["one", "two", "secret left"],
  },
  right: { accounts: ["bc", "by", "bz"], orders: ["b7"], title: ["three"] },
} as const;

/** Keys of foreign records in one of the two worlds; unused in the other. */
export const foreignIds = [...foreign.left.orders, ...foreign.right.orders];
export const foreignAccounts = [...new Set([...foreign.left.accounts, ...foreign.right.accounts])];

/** Keys of foreign lines in an own order, each in only one of the two worlds. */
export const foreignLines = ["h0", "h1", "h2"];

export const own = { orders: ["a0", "a1", "a2", "a3"], accounts: ["aa", "ab"] } as const;

const at = "2026-01-01 10:00:00";
const titles = ["one", "one", "two", "Zwölf"];

function rowsFor(secret: Secret): string[] {
  const isLeft = secret === "left";
  const hidden = (place: number): number => (isLeft ? 10 + place * 7 : 90 - place * 3);
  const { accounts, orders: keys, title } = foreign[secret];
  const ownOrders = own.orders.map(
    (id, place) =>
      `('${id}', '${mine}', '${own.accounts[place % 2]}', 'c-${id}', '${titles[place]}', ${place + 1}, ${hidden(place)}, 'seal-${secret}-${place}', 'open', '2026-02-0${place + 1}', '${at}', '${at}')`,
  );
  const foreignOrders = keys.map(
    (id, place) =>
      `('${id}', '${theirs}', '${accounts[place % accounts.length]}', 'c-${id}', '${title[place % title.length]}', ${place * 100}, 5, 'seal-b${place}', '${isLeft ? "done" : "open"}', '2026-03-01', '${at}', '${at}')`,
  );
  // An own order that refers to a foreign account: nothing of the account is shown.
  const crossing = `('a9', '${mine}', 'bc', 'c-a9', 'across', 9, 1, 'seal-a9-${secret}', 'open', null, '${at}', '${at}')`;
  // Foreign lines of own orders. The total of a0 counts them, whatever their number.
  const crossingLines = isLeft
    ? [`'h0', 'a0', '${theirs}', 'bc', 'secret left', 3`, `'h1', 'a0', '${theirs}', null, 'two', 3`]
    : [`'h2', 'a0', '${theirs}', null, 'secret right', 6`];
  return [
    `insert into accounts (account_id, tenant, name, credit) values
      ('aa', '${mine}', 'Alpha', ${hidden(1)}), ('ab', '${mine}', 'Beta', ${hidden(2)}),
      ${accounts.map((id, place) => `('${id}', '${theirs}', 'acc ${id} ${secret}', ${place})`).join(", ")}`,
    `insert into orders (order_id, tenant, account_id, code, title, qty, cost, seal, status, due, created_at, updated_at)
      values ${[...ownOrders, ...foreignOrders, crossing].join(", ")}`,
    `insert into order_lines (line_id, order_id, tenant, account_id, text, amount, cost) values
      ('la0', 'a0', '${mine}', 'aa', 'x', 1, ${hidden(1)}), ('la1', 'a0', '${mine}', null, 'y', 2, ${hidden(2)}), ('la2', 'a1', '${mine}', null, 'z', 3, 4),
      ${crossingLines.map((line) => `(${line}, 1)`).join(", ")},
      ${keys.map((id) => `('l${id}', '${id}', '${theirs}', null, 'f', ${isLeft ? 4 : 40}, 1)`).join(", ")}`,
    `insert into tickets (ticket_id, tenant, label, status, begins, ends, updated_at) values
      ${[0, 1, 2, 3].map((place) => `('${isLeft ? "p" : "q"}${place}', '${mine}', 'label ${place}', '${isLeft ? "open" : "done"}', '2026-01-05', '${isLeft ? "2026-01-10" : "2026-07-01"}', '2026-0${isLeft ? 1 : 2}-01 00:00:00')`).join(", ")},
      ${keys.map((id) => `('t${id}', '${theirs}', 'label ${id}', 'open', null, null, null)`).join(", ")}`,
    ...markedRows({ isLeft, foreign: keys }),
  ];
}

/** As the caller from whom all this is hidden. */
export const post =
  (path: string, body: unknown, headers: Record<string, string> = {}) =>
  (fixture: Fixture): Promise<Answer> =>
    fixture.post(path, body, { ...clerk, ...headers });

type Ask = (fixture: Fixture) => Promise<Answer | Answer[]>;

export interface Twins {
  readonly left: Fixture;
  readonly right: Fixture;
  /**
   * Both give the same answer, except for ids and times that the service generates. Continues after a difference, so
   * that a failure shows all of them. `about` appears in its message.
   */
  expectSame(ask: Ask, about?: unknown): Promise<void>;
  close(): Promise<void>;
}

export async function openTwins(): Promise<Twins> {
  const startMs = Date.now() - 60_000;
  const open = (secret: Secret): Promise<Fixture> =>
    openFixture({
      tables,
      endpoints,
      project: { auth, locking: { enforceResourceLocks: true } },
      setUp: () => rowsFor(secret),
    });
  const [left, right] = [await open("left"), await open("right")];
  return {
    left,
    right,
    async expectSame(ask, about) {
      const answers = await Promise.all([ask(left), ask(right)]);
      const [one, other] = answers.map((answer) => gist(answer, startMs)) as [string, string];
      if (one === other) return;
      let at = 0;
      while (one[at] === other[at]) at++;
      const cut = (text: string): string => text.slice(Math.max(0, at - 120), at + 120);
      expect.soft(cut(other), `${JSON.stringify(about)} is answered differently`).toBe(cut(one));
    },
    async close() {
      await left.close();
      await right.close();
    },
  };
}

/** Answers without ids and times that the service generated. */
function gist(answers: Answer | Answer[], startMs: number): string {
  const texts = [answers].flat().map(({ status, headers, body }) => {
    // Of a record without a time of change the tag is a hash, which its new key is a part of.
    const tag =
      status === 201 && !/-\d\dT/.test(headers.get("etag") ?? "") ? null : headers.get("etag");
    const shown = ["www-authenticate", "allow", "retry-after", "content-type"].map((name) =>
      headers.get(name),
    );
    return plain(JSON.stringify([status, tag, shown, body], openCursor), startMs);
  });
  return texts.join("\n");
}

function plain(text: string, startMs: number): string {
  return (
    text
      // A place in the log, sealed with a secret of the database, and the id of a change.
      .replaceAll(/\b[0-9a-f]{64}\b/g, "<sealed>")
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uuid>")
      .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?/g, (time) =>
        Date.parse(time.replace(" ", "T").replace(/Z?$/, "Z")) > startMs ? "<time>" : time,
      )
      .replaceAll(/"(fence|ttl_remaining)":\d+/g, '"$1":0')
      .replaceAll(/~[0-9a-f]{10}\b/g, "~<suffix>")
  );
}

/** A cursor holds text: what stands in it is told to whoever decodes it. */
const openCursor = (name: string, value: unknown): unknown =>
  name === "next_cursor" && typeof value === "string"
    ? Buffer.from(value, "base64url").toString()
    : value;
