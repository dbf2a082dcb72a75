/**
 * `hiddenFields` and `readOnlyFields` for columns that only a document's details have, for all callers and for one
 * role. Hidden columns are in no answer, error or OpenAPI document; read-only ones are ignored in a body.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { apiKey, by } from "./api-keys.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

const detailQuery =
  "select line_id, text, zz_cost, zz_price, zz_cost as zz_shown from order_lines where order_id = :header_id";
const masterDetail = {
  detailTable: "order_lines",
  foreignKey: "order_id",
  calculation: { detail: { zz_amount: "zz_cost * qty" }, header: { total: "SUM(zz_amount)" } },
};
const orders = {
  tableName: "orders",
  primaryKey: "order_id",
  action: {
    "create-composite": true,
    "read-composite": true,
    "update-composite": true,
    first: true,
    read: true,
  },
  access: { owner: "*", clerk: "*" },
  masterDetail,
};
const hidden = ["zz_cost", "zz_amount"];

const fixture = openForTests(openFixture, {
  tables: [
    { name: "orders", columns: { order_id: "key", title: "text(20)", total: "decimal(14,2)" } },
    {
      name: "order_lines",
      columns: {
        line_id: "key",
        order_id: { type: "text(36)", references: { table: "orders", column: "order_id" } },
        text: "text(20)",
        qty: "integer",
        zz_cost: "decimal(10,2)",
        zz_price: "decimal(10,2)",
        zz_amount: "decimal(10,2)",
      },
    },
  ],
  project: { auth: { apiKeys: [apiKey("owner"), apiKey("clerk")] } },
  endpoints: {
    orders: { ...orders, hiddenFields: { clerk: hidden }, readOnlyFields: { clerk: ["zz_price"] } },
    queried: { ...orders, detailQuery, hiddenFields: { clerk: [...hidden, "zz_shown"] } },
    closed: { ...orders, hiddenFields: hidden, readOnlyFields: ["zz_price"] },
    titled: { ...orders, fieldName: ["title"], hiddenFields: { clerk: ["total"] } },
    "closed-queried": { ...orders, detailQuery, hiddenFields: [...hidden, "zz_shown"] },
  },
});
beforeEach(async () => {
  await fixture.sql("delete from order_lines");
  await fixture.sql("delete from orders");
  await fixture.sql("insert into orders (order_id, title) values ('o1', 'one')");
  await fixture.sql(
    "insert into order_lines (line_id, order_id, text, qty, zz_cost, zz_price, zz_amount) values ('l1', 'o1', 'x', 2, 7, 11, 14)",
  );
});

const as = (role: string, place: string, body: object): Promise<Answer> =>
  fixture.post(place, body, by(role));
const where = [{ key: "order_id", value: "o1" }];
const line = { text: "y", qty: 3, zz_cost: 5, zz_price: 6 };
const stored = (): Promise<unknown[]> =>
  fixture.sql("select zz_cost, zz_price from order_lines where text = 'y'");
const numbers = async (): Promise<unknown[]> =>
  ((await stored()) as Record<string, unknown>[]).map(({ zz_cost, zz_price }) =>
    [zz_cost, zz_price].map((one) => (one === null ? null : Number(one))),
  );

/** The text of a part of the document and of the components that it refers to. */
function reachable(part: unknown, { components }: Document): string {
  const seen = new Map<string, string>();
  const visit = (text: string): string => {
    for (const [reference, kind, name] of text.matchAll(/#\/components\/(\w+)\/([^"]+)/g)) {
      if (seen.has(reference)) continue;
      seen.set(reference, "");
      seen.set(reference, visit(JSON.stringify(components[kind!]![name!])));
    }
    return text;
  };
  return [visit(JSON.stringify(part)), ...seen.values()].join("\n");
}

interface Document {
  readonly paths: Readonly<Record<string, { post: { responses: unknown; requestBody: unknown } }>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const hiding = [
  ["a role", "clerk", "orders"],
  ["a role, of a query", "clerk", "queried"],
  ["everybody", "owner", "closed"],
  ["everybody, in a query", "owner", "closed-queried"],
] as const;

describe.each(hiding)("columns of details that are hidden from %s", (_, role, endpoint) => {
  test("stand in no answer", async () => {
    const answers = [
      await as(role, `${endpoint}/read-composite`, { where }),
      await as(role, `${endpoint}/create-composite`, { orders: { order_lines: [line] } }),
      await as(role, `${endpoint}/update-composite`, {
        orders: { order_id: "o1", order_lines: { insert: [line] } },
      }),
      await as(role, `${endpoint}/first`, { where }),
      await as(role, `${endpoint}/read`, { limit: 5 }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 201, 200, 200, 200]);
    expect(answers[0]!.body.data).toMatchObject({ order_lines: [{ line_id: "l1", text: "x" }] });
    for (const { body } of answers)
      expect(JSON.stringify(body)).not.toMatch(/zz_cost|zz_amount|zz_shown/);
  });

  test("stand in no error", async () => {
    const huge = { ...line, qty: 2_000_000_000, zz_cost: 99_999_999 };
    for (const [action, body] of [
      ["create-composite", { order_lines: [huge] }],
      ["update-composite", { order_id: "o1", order_lines: { insert: [huge] } }],
    ] as const) {
      const answer = await as(role, `${endpoint}/${action}`, { orders: body });
      // Only what nobody sees may be set by everybody.
      expect(answer.status).toBe(
        role === "owner" ? 400 : action === "create-composite" ? 201 : 200,
      );
      expect(JSON.stringify(answer.body)).not.toMatch(/zz_cost|zz_amount|zz_shown/);
    }
  });

  test("stand in the OpenAPI document only where they may be written", async () => {
    const headers = by(role);
    const response = await fixture.fetch("/api/test/openapi.json", { headers });
    const document = (await response.json()) as Document;
    for (const action of ["create-composite", "read-composite", "update-composite"]) {
      const { post } = document.paths[`/api/test/${endpoint}/${action}`]!;
      expect(reachable(post.responses, document)).toContain("title");
      expect(reachable(post.responses, document)).not.toMatch(/zz_cost|zz_amount|zz_shown/);
      const asked = reachable(post.requestBody, document);
      const isWritten = role === "owner" && action !== "read-composite";
      expect(/zz_cost/.test(asked)).toBe(isWritten);
      expect(/"zz_cost":\{(?:[^{}]|\{[^{}]*\})*"writeOnly":true/.test(asked)).toBe(isWritten);
    }
  });
});

test.each([
  ["owner", { total: 15 }, { total: 29 }],
  ["clerk", {}, {}],
])(
  "%s is told the totals that fieldName lacks, unless they are hidden",
  async (role, made, changed) => {
    const headers = { ...by(role), "Idempotency-Key": `totals-${role}` };
    const body = { orders: { title: "two", order_lines: [line] } };
    for (let repeat = 0; repeat < 2; repeat++) {
      const { status, body: answer } = await fixture.post("titled/create-composite", body, headers);
      const { order_id, order_lines, ...header } = answer.data;
      expect([status, header]).toEqual([201, { title: "two", ...made }]);
      expect([typeof order_id, order_lines.length]).toEqual(["string", 1]);
    }
    const insert = { orders: { order_id: "o1", order_lines: { insert: [line] } } };
    expect((await as(role, "titled/update-composite", insert)).body.data).toEqual({
      order_id: "o1",
      title: "one",
      ...changed,
      _operations: { deleted: 0, updated: 0, inserted: 1 },
    });
  },
);

test.each([
  ["clerk", "orders", [null, null]],
  ["owner", "orders", [5, 6]],
  ["owner", "closed", [5, null]],
] as const)("%s writes through %s only what is open: %j", async (role, endpoint, expected) => {
  const body = { orders: { order_lines: [line] } };
  expect((await as(role, `${endpoint}/create-composite`, body)).status).toBe(201);
  const insert = { orders: { order_id: "o1", order_lines: { insert: [line] } } };
  expect((await as(role, `${endpoint}/update-composite`, insert)).status).toBe(200);
  expect(await numbers()).toEqual([expected, expected]);
});

test.each([
  ["clerk", "orders", [7, 11]],
  ["owner", "orders", [5, 6]],
  ["owner", "closed", [5, 11]],
] as const)("%s changes through %s only what is open: %j", async (role, endpoint, expected) => {
  const update = [{ line_id: "l1", ...line }];
  const body = { orders: { order_id: "o1", order_lines: { update } } };
  expect((await as(role, `${endpoint}/update-composite`, body)).status).toBe(200);
  expect(await numbers()).toEqual([expected]);
});
