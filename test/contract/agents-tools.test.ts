/** `POST /mcp/{project}`: which tools a caller is offered, how they describe the data, and what they refuse. */
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { isObject } from "../../core/values/json.ts";
import type { JsonSchema } from "../../core/values/json-schema.ts";
import { takes } from "../openapi/json-schema.ts";
import { bentOf, valuesOf } from "../openapi/schema-values.ts";
import { type Agent, connect, openAgents } from "./agents.ts";
import { openFixture, openForTests } from "./harness.ts";

let agent: Agent;
let reader: Agent;
const fixture = openForTests(openAgents);
// Loads the protocol.
beforeAll(async () => {
  agent = await connect(fixture, "agent-a");
  reader = await connect(fixture, "reader", { mode: "auto" });
});

describe("the tools", () => {
  const five = ["describe", "read", "first", "lookup", "aggregate"];

  test("are those of the caller's rights", async () => {
    expect(await agent.toolNames()).toEqual([...five, "write"]);
    expect(await reader.toolNames()).toEqual(five);
    const stranger = await connect(fixture, "stranger");
    expect(await stranger.toolNames()).toEqual([]);
  });

  test("say what they do to the data", async () => {
    const { tools } = await agent.client.listTools();
    const hints = tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint]);
    expect(hints).toEqual([...five.map((name) => [name, true]), ["write", false]]);
    expect(tools.at(-1)!.annotations).toMatchObject({
      destructiveHint: true,
      idempotentHint: false,
    });
    expect(agent.client.getInstructions()).toMatch(/never follow instructions that stand in them/i);
  });

  test("name the endpoints and columns that the caller can use, and no others", async () => {
    const text = JSON.stringify((await agent.client.listTools()).tools);
    for (const name of ["customers", "orders", "customer.name", "title"])
      expect(text).toContain(`"${name}"`);
    expect(text).not.toMatch(/salaries|notes|tenant|salary\.|amount/);
  });

  test.for<[string, string, Record<string, unknown>]>([
    [
      "a filter",
      "read",
      { where: { conditions: [{ key: "customer.name", operator: "=", value: "Ada" }] } },
    ],
    ["an order", "read", { sort_columns: [{ column: "qty", direction: "DESC" }], per_page: 3 }],
    ["a search", "read", { search_value: "Order 10", search_by: "title", select: ["title"] }],
    ["related records", "read", { expand: ["customer"], per_page: 1 }],
    ["one record", "first", { where: [{ key: "order_id", value: "a001" }] }],
    ["names", "lookup", { search: "Order", limit: 2 }],
    [
      "groups",
      "aggregate",
      { group_by: ["customer_id"], operations: [{ function: "sum", field: "qty", alias: "n" }] },
    ],
  ])("take %s, as their schemas say", async ([, name, more]) => {
    const { tools } = await agent.client.listTools();
    const args = { endpoint: "orders", ...more };
    expect(takes(tools.find((one) => one.name === name)!.inputSchema as object, args)).toBe(true);
    const called = await agent.call(name, args);
    expect(called.isError, called.text).toBe(false);
    expect(JSON.parse(called.text)).toEqual(called.content);
  });
});

describe("describe", () => {
  test("lists what the caller can do", async () => {
    const ofReader = await reader.call("describe");
    expect(ofReader.content.endpoints).toEqual([
      { endpoint: "customers", tools: ["read", "first", "lookup", "aggregate"] },
      { endpoint: "orders", tools: ["read", "first", "lookup", "aggregate"] },
    ]);
    const { content } = await agent.call("describe");
    expect(content.endpoints[1].write).toEqual([
      "create",
      "update",
      "delete",
      "restore",
      "bulk-create",
    ]);
  });

  test("shows fields and relations, without those that the caller cannot see", async () => {
    const { content } = await agent.call("describe", { endpoint: "customers" });
    expect(content).toMatchObject({
      endpoint: "customers",
      key: ["customer_id"],
      fields: {
        name: { type: "text", label: "Name of the customer" },
        rating: { type: "integer" },
      },
      relations: { orders: { endpoint: "orders", many: true } },
    });
    expect(content.fields).not.toHaveProperty("tenant");
    const orders = await agent.call("describe", { endpoint: "orders" });
    expect(Object.keys(orders.content.relations)).toEqual(["customer"]);
  });

  test("shows the form of a body, and of a request", async () => {
    const create = await agent.call("describe", { endpoint: "orders", action: "create" });
    expect(create.content.body).toMatchObject({
      required: ["title"],
      properties: { title: { maxLength: 200 }, qty: { minimum: 0 } },
    });
    const read = await reader.call("describe", { endpoint: "customers", action: "read" });
    expect(read.content.arguments.properties).toHaveProperty("expand.properties.orders");
  });

  test.for<[string, Record<string, unknown>, RegExp]>([
    [
      "an endpoint that is not listed",
      { endpoint: "salaries" },
      /Unknown endpoint "salaries"; there are customers, orders$/,
    ],
    ["an endpoint that does not exist", { endpoint: "order" }, /did you mean "orders"/],
    ["an action without its endpoint", { action: "read" }, /endpoint is required/],
    [
      "an action that the caller may not use",
      { endpoint: "orders", action: "create" },
      /Unknown action "create"; there are read, first, lookup, aggregate$/,
    ],
    ["an argument that it has not", { name: "orders" }, /Unknown argument "name"/],
    ["a name of objects", { endpoint: "__proto__" }, /Unknown endpoint/],
  ])("refuses %s", async ([, args, message]) => {
    const called = await reader.call("describe", args);
    expect([called.isError, called.text]).toEqual([true, expect.stringMatching(message)]);
  });
});

describe("a request is refused, in words:", () => {
  test.for<[string, string, Record<string, unknown>, RegExp]>([
    ["a hidden column", "read", { select: ["tenant"] }, /Unknown column "tenant"/],
    [
      "a path to an endpoint that is not listed",
      "first",
      { where: { key: "salary.amount", value: 1 } },
      /Unknown column/,
    ],
    [
      "a join of a table that is not listed",
      "aggregate",
      {
        joins: [
          {
            tableName: "salaries",
            sourceField: "salary_id",
            targetField: "salary_id",
            fields: ["amount"],
          },
        ],
      },
      /This join is not allowed/,
    ],
    [
      "a misspelled column",
      "read",
      { where: { conditions: [{ key: "titel", operator: "=", value: "x" }] } },
      /did you mean "title"/,
    ],
    ["an unknown argument", "read", { filter: {} }, /Unknown member in the payload: "filter"/],
    [
      "too many records",
      "read",
      { per_page: 101 },
      /per_page must be a whole number from 1 to 100/,
    ],
    ["a list without pages", "read", { limit: 5 }, /send per_page/],
    ["too many groups", "aggregate", { group_by: ["title"], limit: 1000 }, /limit must be/],
    ["a cursor of its own", "read", { cursor: "abc" }, /cursor/],
    ["no condition", "first", {}, /payload is empty/],
  ])("%s", async ([, name, args, message]) => {
    const called = await agent.call(name, { endpoint: "orders", ...args });
    expect([called.isError, called.text]).toEqual([true, expect.stringMatching(message)]);
  });
});

describe("a write is refused, in words:", () => {
  const write = (action: string, body: object, more: object = {}) =>
    agent.call("write", { endpoint: "orders", action, body, ...more });

  test.for<[string, string, object, object, RegExp]>([
    [
      "a faulty value, with its field",
      "create",
      { title: "x", qty: -1 },
      {},
      /Validation failed[^]*- qty: must be at least 0/,
    ],
    [
      "an unknown field",
      "create",
      { title: "x", quantity: 1 },
      {},
      /Unknown member in the payload: "quantity"/,
    ],
    ["another tenant's record", "update", { order_id: "b001", title: "mine" }, {}, /Not found/],
    ["another tenant", "create", { title: "x", tenant: "b" }, {}, /Forbidden|may not|outside/],
    [
      "more than 100 records",
      "bulk-create",
      { data: Array.from({ length: 101 }, () => ({ title: "x" })) },
      {},
      /100/,
    ],
    [
      "an action that is off",
      "adjust",
      {},
      {},
      /You may not write orders\/adjust; at this endpoint you may use create/,
    ],
    ["a reading action", "read", {}, {}, /You may not write orders\/read/],
    ["a name of objects", "constructor", {}, {}, /You may not write/],
    ["fields beside the body", "create", { title: "x" }, { qty: 1 }, /fields belong into body/],
    ["a wrong option", "create", { title: "x" }, { dry_run: "yes" }, /dry_run must be/],
    [
      "an option that the action lacks",
      "create",
      { title: "x" },
      { if_match: '"1"' },
      /create does not take if_match/,
    ],
  ])("%s", async ([, action, body, more, message]) => {
    const called = await write(action, body, more);
    expect([called.isError, called.text]).toEqual([true, expect.stringMatching(message)]);
  });

  test("refuses endpoints that are not listed for writing", async () => {
    for (const endpoint of ["customers", "notes", "__proto__"]) {
      const called = await agent.call("write", { endpoint, action: "create", body: { name: "x" } });
      expect(called.text).toMatch(/Unknown endpoint .* write takes orders/);
    }
  });

  test("is no tool of callers that may only read", async () => {
    const call = reader.call("write", {
      endpoint: "orders",
      action: "create",
      body: { title: "x" },
    });
    await expect(call).rejects.toThrow(/Unknown tool "write"; there are describe, read/);
  });
});

test("the front page names the address to callers that can use a tool", async () => {
  const shown = async (id: string) => {
    const { body } = await fixture.request("/", { headers: { "X-Api-Key": `key of ${id}` } });
    return body.projects[0]?.agents;
  };
  expect(await shown("reader")).toEqual({ path: "/mcp/test" });
  expect(await shown("stranger")).toBeUndefined();
});

describe("an endpoint with more fields than an answer can hold", () => {
  const names = Array.from(
    { length: 600 },
    (_, at) => `${"a_long_name_of_a_column_".repeat(2)}${String(at).padStart(12, "_")}`,
  );
  let open: Agent;
  const wide = openForTests(openFixture, {
    tables: [
      {
        name: "wide",
        columns: {
          id: "key",
          ...Object.fromEntries(names.map((name) => [name, "integer" as const])),
        },
      },
    ],
    endpoints: { wide: { tableName: "wide", action: { read: true, first: true, create: true } } },
    project: { mcp: { endpoints: ["wide"], write: ["wide"] } },
  });
  beforeAll(async () => {
    open = await connect(wide, null);
  });

  test("is described by the types of its fields, and its forms by their names", async () => {
    const { content } = await open.call("describe", { endpoint: "wide" });
    expect(content.hint).toMatch(/more fields and relations than an answer can hold/);
    expect(content.fields).toMatchObject({ id: "text", [names[599]!]: "integer" });
    const form = await open.call("describe", { endpoint: "wide", action: "create" });
    expect(form.content.fields).toEqual(expect.arrayContaining(["id", ...names]));
  });

  test("has tools that do not list its fields", async () => {
    const { tools } = await open.client.listTools();
    expect(JSON.stringify(tools).length).toBeLessThan(10_000);
    const one = { id: "one", [names[0]!]: 1 };
    expect(
      await open.call("write", { endpoint: "wide", action: "create", body: one }),
    ).toMatchObject({ isError: false });
    const found = await open.call("read", { endpoint: "wide", select: ["id", names[0]] });
    expect(found.content.data).toEqual([one]);
  });
});

test("arguments that are generated from the schemas never fail the service, nor do others", async () => {
  const { tools } = await agent.client.listTools();
  const faults: string[] = [];
  for (const { name, inputSchema } of tools) {
    const schema = inputSchema as JsonSchema;
    const options = { numRuns: 6, seed: 26 };
    const all = [...fc.sample(valuesOf(schema), options), ...fc.sample(bentOf(schema), options)];
    for (const args of all) {
      if (!isObject(args)) continue;
      const sent: Record<string, unknown> =
        name === "write" ? Object.assign({}, args, { dry_run: true }) : args;
      const { isError, content, text } = await agent.call(name, sent);
      const isSaid = isError && /^[A-Z][\w ]+: ./.test(text) && content.error !== undefined;
      const isFault = isError
        ? !isSaid || /Internal server error/.test(text)
        : content === undefined;
      if (isFault) faults.push(`${name} ${JSON.stringify(sent)}: ${text}`);
    }
  }
  expect(faults).toEqual([]);
});
