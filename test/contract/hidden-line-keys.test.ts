/**
 * Document details whose key is hidden from the caller because the header has a hidden column of the same name: no
 * request reveals which keys exist.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { apiKey, by } from "./api-keys.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

const fixture = openForTests(openFixture, {
  tables: [
    { name: "orders", columns: { order_id: "key", title: "text(20)", badge: "text(36)" } },
    {
      name: "order_lines",
      columns: {
        badge: "key",
        order_id: { type: "text(36)", references: { table: "orders", column: "order_id" } },
        text: "text(20)",
      },
    },
  ],
  project: { auth: { apiKeys: [apiKey("clerk"), apiKey("blind")] } },
  endpoints: {
    orders: {
      tableName: "orders",
      primaryKey: "order_id",
      action: { "create-composite": true, "read-composite": true, "update-composite": true },
      masterDetail: {
        detailTable: "order_lines",
        foreignKey: "order_id",
        detailConfig: { primaryKey: "badge" },
      },
      access: { clerk: "*", blind: "*" },
      hiddenFields: { blind: ["badge"] },
    },
  },
});
beforeEach(async () => {
  await fixture.sql("delete from order_lines");
  await fixture.sql("delete from orders");
  await fixture.sql("insert into orders (order_id, title) values ('o1', 'one')");
  await fixture.sql("insert into order_lines (badge, order_id, text) values ('l1', 'o1', 'x')");
});

const as = (role: string, action: string, body: object): Promise<Answer> =>
  fixture.post(`orders/${action}`, body, by(role));
const changed = (role: string, lines: object): Promise<Answer> =>
  as(role, "update-composite", { orders: { order_id: "o1", order_lines: lines } });
const created = (role: string): Promise<Answer> =>
  as(role, "create-composite", {
    orders: { title: "two", order_lines: [{ badge: "l1", text: "y" }] },
  });
const linesOf = (text: string): Promise<unknown[]> =>
  fixture.sql(`select badge from order_lines where text = '${text}'`);

describe("a caller who does not see the key of details", () => {
  test("reads them without it", async () => {
    const { body } = await as("blind", "read-composite", {
      where: [{ key: "order_id", value: "o1" }],
    });
    expect(body.data).toMatchObject({ order_lines: [{ order_id: "o1", text: "x" }] });
    expect(JSON.stringify(body)).not.toContain("l1");
  });

  test.each(["l1", "none"])("cannot name them: %s", async (badge) => {
    for (const lines of [{ update: [{ badge, text: "z" }] }, { delete: [{ badge }] }]) {
      const { status, body } = await changed("blind", lines);
      expect([status, body.error]).toEqual([403, "Forbidden"]);
    }
    expect(await linesOf("x")).toEqual([{ badge: "l1" }]);
  });

  test("adds some whose keys the service makes, whatever the body says", async () => {
    expect((await changed("blind", { insert: [{ badge: "l1", text: "y" }] })).status).toBe(200);
    expect((await created("blind")).status).toBe(201);
    const lines = await linesOf("y");
    expect(lines).toHaveLength(2);
    expect(lines).not.toContainEqual({ badge: "l1" });
  });

  test("finds it nowhere in the OpenAPI document", async () => {
    const documentFor = async (role: string): Promise<string> => {
      const headers = by(role);
      return (await fixture.fetch("/api/test/openapi.json", { headers })).text();
    };
    expect(await documentFor("clerk")).toContain("badge");
    expect(await documentFor("blind")).not.toContain("badge");
  });
});

test("a caller who sees the key names details by it, and is told that one is taken", async () => {
  expect((await created("clerk")).status).toBe(409);
  expect((await changed("clerk", { update: [{ badge: "l1", text: "z" }] })).status).toBe(200);
  expect(await linesOf("z")).toEqual([{ badge: "l1" }]);
});
