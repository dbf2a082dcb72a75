/** `x-rowgate` at the tags of the OpenAPI document: data for forms and grids beyond the schemas, by caller. */
import { expect, test } from "vitest";
import { apiKey } from "./api-keys.ts";
import { openFixture, openForTests } from "./harness.ts";

const key = "key of clerk";

const fixture = openForTests(openFixture, {
  tables: [
    { name: "partners", columns: { id: "key", name: "text(40)", created_at: "timestamp" } },
    {
      name: "orders",
      columns: {
        id: "key",
        number: "text(40)",
        partner_id: { type: "text(36)", references: "partners" },
        state: "text(40)",
        total: "decimal(10,2)",
        line_count: "integer",
        average: "decimal(10,3)",
        dearest: "decimal(10,2)",
        costs: "decimal(10,2)",
        margins: "decimal(10,2)",
        secret: "text(40)",
        deleted_at: "timestamp",
      },
    },
    {
      name: "order_lines",
      columns: {
        id: "key",
        order_id: { type: "text(36)", references: "orders" },
        partner_id: { type: "text(36)", references: "partners" },
        amount: "decimal(10,2)",
        qty: { type: "integer", default: "1" },
        price: "decimal(10,4)",
        cost: "decimal(10,4)",
        margin: "decimal(10,2)",
      },
    },
  ],
  project: { auth: { apiKeys: [apiKey("clerk"), apiKey("owner"), apiKey("chief")] } },
  endpoints: {
    partners: {
      tableName: "partners",
      action: { lookup: true, read: true },
      fieldNameLookup: { id: "id", text: "name" },
      access: { owner: "*" },
    },
    lines: {
      tableName: "order_lines",
      action: { read: true },
      fieldLabels: { amount: "Sum", partner_id: "Who" },
      hiddenFields: { owner: ["partner_id"] },
      access: { owner: ["read"] },
    },
    links: { tableName: "order_lines", action: { read: true }, access: { owner: ["read"] } },
    orders: {
      tableName: "orders",
      action: {
        read: true,
        update: true,
        delete: true,
        restore: true,
        workflow: true,
        "update-composite": true,
      },
      softDelete: true,
      workflow: { statusField: "state", transitions: { open: ["closed"], closed: [] } },
      masterDetail: {
        detailTable: "order_lines",
        foreignKey: "order_id",
        detailConfig: { fieldValidation: [{ name: "cost", constraints: { default: 0 } }] },
      },
      calculation: {
        detail: { amount: "qty * price * (1 - 0.050)", margin: "(amount - qty * cost) / amount" },
        header: {
          total: "SUM(amount)",
          line_count: "COUNT(*)",
          average: "AVG(price)",
          dearest: "MAX(qty * price / 3)",
          costs: "SUM(cost)",
          margins: "SUM(margin)",
        },
      },
      fieldLabels: { number: "Order", secret: "Secret", "partner.name": "Customer" },
      relations: {
        partner: { endpoint: "partners", column: "partner_id" },
        lines: { endpoint: "lines", foreignColumn: "order_id" },
        line_partners: {
          endpoint: "partners",
          through: { endpoint: "links", column: "order_id", foreignColumn: "partner_id" },
        },
      },
      hiddenFields: { clerk: ["secret"], owner: ["cost"] },
      console: {
        label: "Sales",
        group: "Trade",
        icon: "cart",
        columns: ["number", "partner.name", "secret"],
        order: ["-secret", "partner.name", "-number"],
        steps: { closed: "Close it" },
        views: {
          Open: {
            where: [{ key: "state", value: "open" }],
            order: ["-number"],
            columns: ["number"],
          },
          Secret: { where: [{ key: "secret", operator: "IS NULL" }] },
          "By partner": { where: [{ key: "partner.name", value: "Graz" }], search_value: "a" },
        },
      },
      access: { clerk: ["read"], owner: "*", chief: "*" },
    },
  },
});

async function notesOf(name: string, secret: string): Promise<Record<string, unknown>> {
  const { body } = await fixture.request("/api/test/openapi.json", {
    headers: { "X-Api-Key": secret },
  });
  return body.tags.find((tag: { name: string }) => tag.name === name)?.["x-rowgate"];
}

test("an endpoint's tag says its key, labels, references, statuses and lines", async () => {
  const { fields, ...notes } = await notesOf("orders", "key of owner");
  expect(notes).toMatchObject({
    project: "test",
    endpoint: "orders",
    key: ["id"],
    deletedField: "deleted_at",
    status: { field: "state", transitions: { open: ["closed"], closed: [] } },
    lines: [
      {
        name: "order_lines",
        endpoint: "lines",
        key: ["id"],
        foreignKey: "order_id",
        totals: ["total", "line_count", "average", "dearest", "costs", "margins"],
        computed: ["amount", "margin"],
        fields: { amount: { type: "decimal", label: "Sum" } },
      },
    ],
  });
  expect(fields).toMatchObject({
    number: { type: "text", label: "Order" },
    partner_id: { type: "text", references: { endpoint: "partners", field: "id" } },
    secret: { label: "Secret" },
  });
});

test("the notes of lines have the formulas of which the caller sees every operand", async () => {
  const [lines] = (await notesOf("orders", "key of owner"))["lines"] as [Record<string, unknown>];
  const price = ["*", ["*", "qty", "price"], ["-", ["value", "1"], ["value", "0.05"]]];
  const calculation = {
    detail: { amount: ["round", price, 2] },
    header: {
      total: ["round", ["sum", "amount"], 2],
      line_count: ["round", ["count"], 0],
      average: ["round", ["avg", "price"], 3],
      dearest: ["round", ["max", ["round", ["/", ["*", "qty", "price"], ["value", "3"]], 10]], 2],
      margins: ["round", ["sum", "margin"], 2],
    },
    // By the default of the table, and by a formula with a hidden operand; below by a rule, too.
    filled: ["qty", "margin"],
  };
  expect(lines).toHaveProperty("calculation", calculation);
  const [all] = (await notesOf("orders", "key of chief"))["lines"] as [
    Record<string, { detail: object; header: object }>,
  ];
  expect(all["calculation"]).toEqual({
    detail: {
      ...calculation.detail,
      margin: ["round", ["/", ["-", "amount", ["*", "qty", "cost"]], "amount"], 2],
    },
    header: { ...calculation.header, costs: ["round", ["sum", "cost"], 2] },
    filled: ["qty", "cost"],
  });
});

test("the lines of a document have the labels of their endpoint, in its document alone too", async () => {
  const { body } = await fixture.request("/api/test/orders/openapi.json", {
    headers: { "X-Api-Key": "key of owner" },
  });
  expect(body.tags).toEqual([
    { name: "orders", "x-rowgate": await notesOf("orders", "key of owner") },
  ]);
  const { amount, partner_id } = body.tags[0]["x-rowgate"].lines[0].fields;
  expect(amount).toHaveProperty("label", "Sum");
  // A label of a field that the endpoint hides.
  expect(JSON.stringify(partner_id) ?? "").not.toContain("Who");
});

test("an endpoint's tag says which endpoints refer to it", async () => {
  expect(await notesOf("partners", "key of owner")).toMatchObject({
    referencedBy: [
      { endpoint: "links", field: "partner_id" },
      { endpoint: "orders", field: "partner_id" },
    ],
  });
});

test("a caller learns of no field, action or endpoint that it may not use", async () => {
  const notes = await notesOf("orders", key);
  expect(notes).toHaveProperty("status", { field: "state" });
  expect(notes).not.toHaveProperty("lines");
  expect(notes).not.toHaveProperty("deletedField");
  expect(notes["fields"]).not.toHaveProperty("secret");
  expect(notes["fields"]).toHaveProperty("partner_id", { type: "text" });
  expect(JSON.stringify(notes)).not.toMatch(/partners|closed|Secret/);
});

test("an endpoint's tag says where its relations lead, and what names the records there", async () => {
  const notes = await notesOf("orders", "key of owner");
  expect(notes["titleField"]).toBe("number");
  expect(notes["relations"]).toEqual({
    partner: {
      endpoint: "partners",
      columns: { partner_id: "id" },
      key: ["id"],
      titleField: "name",
      label: "Customer",
    },
    lines: { endpoint: "lines", many: true, columns: { id: "order_id" }, key: ["id"] },
    line_partners: {
      endpoint: "partners",
      many: true,
      columns: { id: "order_id" },
      through: { endpoint: "links", columns: { partner_id: "id" } },
      key: ["id"],
      titleField: "name",
    },
  });
});

test("a caller learns of no relation to an endpoint that it may not read", async () => {
  expect(await notesOf("orders", key)).not.toHaveProperty("relations");
});

test("the notes say what the console shows first, without what the caller may not see", async () => {
  const place = { label: "Sales", group: "Trade", icon: "cart" };
  const open = {
    name: "Open",
    where: [{ key: "state", operator: "=", value: "open" }],
    order: ["-number"],
    columns: ["number"],
  };
  const owner = await notesOf("orders", "key of owner");
  expect(owner["console"]).toEqual({
    ...place,
    columns: ["number", "partner.name", "secret"],
    order: ["-secret", "partner.name", "-number"],
    steps: { closed: "Close it" },
    paths: { "partner.name": { type: "text", label: "Customer" } },
    views: [
      open,
      { name: "Secret", where: [{ key: "secret", operator: "IS NULL" }] },
      {
        name: "By partner",
        where: [{ key: "partner.name", operator: "=", value: "Graz" }],
        search_value: "a",
      },
    ],
  });
  const clerk = await notesOf("orders", key);
  // Nothing of steps that it may not take.
  expect(clerk["console"]).toEqual({
    ...place,
    columns: ["number"],
    order: ["-number"],
    views: [open],
  });
  // Without an order: the newest first, where the time of creation is known.
  const partners = await notesOf("partners", "key of owner");
  expect(partners["console"]).toEqual({ order: ["-created_at"] });
  expect(await notesOf("lines", "key of owner")).not.toHaveProperty("console");
});

test("the index says where endpoints stand in menus, for those that the caller may use", async () => {
  const index = async (secret: string) => {
    const headers = { "X-Api-Key": secret, Accept: "application/json" };
    const { body } = await fixture.request("/", { headers });
    return body.projects[0].endpoints.map(
      ({ name, console: notes, lines_of }: Record<string, unknown>) => ({
        name,
        ...(notes !== undefined && { console: notes }),
        ...(lines_of !== undefined && { lines_of }),
      }),
    );
  };
  const orders = { name: "orders", console: { label: "Sales", group: "Trade", icon: "cart" } };
  expect(await index(key)).toEqual([orders]);
  expect(await index("key of owner")).toEqual([
    { name: "lines", lines_of: "orders" },
    { name: "links", lines_of: "orders" },
    orders,
    { name: "partners" },
  ]);
});
