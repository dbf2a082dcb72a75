/** Lines whose key has the key of their header: they are named by the rest of it, also by a body that has the whole. */
import { beforeEach, describe, expect, test } from "vitest";
import { openFixture, openForTests } from "./harness.ts";

const fixture = openForTests(openFixture, {
  tables: [
    { name: "orders", columns: { order_id: "key", remark: "text(20)" } },
    {
      name: "order_lines",
      columns: { order_id: "text(36)", line_no: "integer", quantity: "integer" },
      primaryKey: ["order_id", "line_no"],
    },
  ],
  endpoints: {
    orders: {
      tableName: "orders",
      action: { "create-composite": true, "update-composite": true },
      masterDetail: { detailTable: "order_lines", foreignKey: "order_id" },
    },
  },
});

const stored = () =>
  fixture.sql("select order_id, line_no, quantity from order_lines order by order_id, line_no");
const lines = [
  { order_id: "a", line_no: 1, quantity: 10 },
  { order_id: "a", line_no: 2, quantity: 20 },
  { order_id: "c", line_no: 1, quantity: 30 },
];

beforeEach(async () => {
  await fixture.sql("delete from order_lines");
  await fixture.sql("delete from orders");
  for (const id of ["a", "c"]) await fixture.sql(`insert into orders (order_id) values ('${id}')`);
  for (const { order_id, line_no, quantity } of lines)
    await fixture.sql(`insert into order_lines values ('${order_id}', ${line_no}, ${quantity})`);
});

const change = (order_lines: object) =>
  fixture.post("orders/update-composite", { orders: { order_id: "a", order_lines } });

describe("a line that is named with the key of another header", () => {
  test.each([
    ["changed", { update: [{ order_id: "c", line_no: 1, quantity: 5 }] }],
    ["named", { update: [{ order_id: "c", line_no: 1 }] }],
    ["deleted", { delete: [{ order_id: "c", line_no: 1 }] }],
    [
      "deleted beside one of this header",
      {
        delete: [
          { order_id: "a", line_no: 2 },
          { order_id: "c", line_no: 1 },
        ],
      },
    ],
    [
      "deleted beside many",
      { delete: Array.from({ length: 12 }, (_, at) => ({ order_id: `x${at}`, line_no: at })) },
    ],
    ["changed in another case", { update: [{ order_id: "A", line_no: 1, quantity: 5 }] }],
    [
      "deleted by the word for nothing",
      {
        delete: [
          { order_id: "null", line_no: 1 },
          { order_id: null, line_no: 2 },
        ],
      },
    ],
    ["deleted by what is no text", { delete: [{ order_id: { toString: 1 }, line_no: 1 }] }],
    ["deleted by what is no key", { delete: [{ order_id: { a: 1 }, line_no: 1 }] }],
  ])("and %s is not there, and nothing changes", async (_, sent) => {
    expect((await change(sent)).status).toBe(404);
    expect(await stored()).toEqual(lines);
  });
});

describe("a line of the header is found", () => {
  test.each([
    ["by the rest of its key", {}],
    ["by its whole key", { order_id: "a" }],
    ["with an empty one", { order_id: null }],
  ])("%s", async (_, header) => {
    const update = [{ ...header, line_no: 1, quantity: 11 }];
    const answer = await change({ update, delete: [{ ...header, line_no: 2 }] });
    expect(answer.status).toBe(200);
    const [first, , other] = lines;
    expect(await stored()).toEqual([{ ...first, quantity: 11 }, other]);
  });
});
