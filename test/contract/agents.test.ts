/** `POST /mcp/{project}` with the official client: what tools read and write, and for whom. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Agent, connect, injection, openAgents } from "./agents.ts";
import { openForTests } from "./harness.ts";

let agent: Agent;
let other: Agent;
const fixture = openForTests(openAgents);
// Loads the protocol.
beforeAll(async () => {
  agent = await connect(fixture, "agent-a");
  other = await connect(fixture, "agent-b", { mode: "auto" });
});

const rowsOf = (sql: string) => fixture.sql(sql);
const byId = (order_id: string) => ({
  endpoint: "orders",
  where: { key: "order_id", value: order_id },
});

describe("reading", () => {
  test("101 records takes two calls", async () => {
    const args = { endpoint: "orders", per_page: 100, select: ["order_id"] };
    const first = await agent.call("read", args);
    expect(first.content.data).toHaveLength(100);
    expect(first.text).toContain("call read again with the same arguments and next.cursor");
    const second = await agent.call("read", { ...args, ...first.content.next });
    expect(second.content).toMatchObject({ count: 1 });
    expect(second.content).not.toHaveProperty("next");
    const ids = [first, second].flatMap(({ content }) =>
      content.data.map((one: { order_id: string }) => one.order_id),
    );
    expect(new Set(ids).size).toBe(101);
    expect(ids).not.toContain("gone");
  });

  test("answers 20 records without being asked, and pages by number on demand", async () => {
    expect((await agent.call("read", { endpoint: "orders" })).content.data).toHaveLength(20);
    const page = await agent.call("read", { endpoint: "orders", page: 2, per_page: 50 });
    expect(page.content).toMatchObject({ next: { page: 3 }, pagination: { total_records: 101 } });
  });

  test("keeps every digit", async () => {
    const response = await fixture.fetch("/mcp/test", {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": "key of agent-a" },
      body: `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "first", "arguments":
        {"endpoint": "orders", "select": ["big", "price"], "where": [
          {"key": "order_id", "value": "a001"}, {"key": "big", "value": 9007199254740993}]}}}`,
    });
    const price = fixture.engine === "sqlite" ? 12345678901234.568 : '"12345678901234.5678"';
    const data = `"data":{"big":"9007199254740993","price":${price}}`;
    expect(await response.text()).toContain(`"structuredContent":{${data}`);
  });

  test("shows the records of the caller's tenant", async () => {
    expect((await agent.call("first", byId("b001"))).content.data).toBeNull();
    expect((await other.call("first", byId("b001"))).content.data).toMatchObject({
      title: "Of Bert",
    });
    const counted = await other.call("aggregate", { endpoint: "orders" });
    expect(Object.values(counted.content.data)).toEqual([1]);
    const names = await other.call("lookup", { endpoint: "customers" });
    expect(names.content.data).toEqual([{ id: "c3", text: "Bert" }]);
  });

  test("answers an attack in a record as the text that it is", async () => {
    const found = await agent.call("read", { endpoint: "customers", search_value: "Ignore all" });
    expect(found.content.data).toMatchObject([{ name: injection }]);
    expect(await rowsOf("select order_id from orders where tenant = 'a'")).toHaveLength(102);
  });

  test("pages of groups and of names go on by number", async () => {
    const groups = {
      endpoint: "orders",
      group_by: ["order_id"],
      operations: [{ function: "count", field: "*" }],
    };
    const first = await agent.call("aggregate", groups);
    expect(first.content).toMatchObject({ next: { page: 2 } });
    expect(first.content.data).toHaveLength(100);
    const last = await agent.call("aggregate", { ...groups, page: 2 });
    expect(last.content.data).toHaveLength(1);
    const names = await agent.call("lookup", { endpoint: "orders", limit: 100 });
    expect(names.content).toMatchObject({ next: { page: 2 }, count: 100 });
    const rest = await agent.call("lookup", { endpoint: "orders", limit: 100, page: 2 });
    expect([rest.content.count, rest.content.next]).toEqual([1, undefined]);
  });
});

describe("large answers", () => {
  const note = "x".repeat(30_000);
  beforeAll(async () => {
    await rowsOf(`update orders set note = '${note}' where order_id in ('a002', 'a003')`);
    await rowsOf(`update orders set note = '${note.repeat(5)}' where order_id = 'a004'`);
  });
  afterAll(() => rowsOf("update orders set note = null"));

  async function bytesOf(args: object): Promise<number> {
    const response = await fixture.fetch("/mcp/test", {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": "key of agent-a" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "read", arguments: args },
      }),
    });
    return (await response.arrayBuffer()).byteLength;
  }

  test("end before the record that does not fit, and go on with it", async () => {
    const args = { endpoint: "orders", select: ["order_id", "note"], per_page: 3 };
    const first = await agent.call("read", args);
    expect(first.content.data.map((one: { order_id: string }) => one.order_id)).toEqual([
      "a001",
      "a002",
    ]);
    expect(await bytesOf(args)).toBeLessThanOrEqual(100_000);
    const second = await agent.call("read", { ...args, ...first.content.next });
    expect(second.content.data).toMatchObject([{ order_id: "a003" }]);
    const third = await agent.call("read", { ...args, ...second.content.next });
    expect(third).toMatchObject({
      isError: true,
      text: expect.stringMatching(/largest fields are note \(1\d\d kB\)/),
    });
    const without = await agent.call("read", {
      ...args,
      ...second.content.next,
      select: ["order_id"],
    });
    expect(without.content.data).toHaveLength(3);
  });

  test("say how many records fit where there is no cursor", async () => {
    const called = await agent.call("read", { endpoint: "orders", page: 1, per_page: 3 });
    expect(called).toMatchObject({
      isError: true,
      text: expect.stringContaining("send per_page: 2"),
    });
  });

  test("of one record name the fields that are too large", async () => {
    expect(await agent.call("first", byId("a004"))).toMatchObject({
      isError: true,
      text: expect.stringMatching(/note \(\d+ kB\)/),
    });
    expect(await agent.call("first", { ...byId("a004"), select: ["title"] })).toMatchObject({
      isError: false,
    });
  });

  test("of a write do not hide that it was done", async () => {
    const called = await agent.call("write", {
      endpoint: "orders",
      action: "update",
      body: { order_id: "a004", title: "Large" },
    });
    expect(called).toMatchObject({
      isError: false,
      content: { hint: expect.stringMatching(/write was done/) },
    });
    expect(await rowsOf("select title from orders where order_id = 'a004'")).toEqual([
      { title: "Large" },
    ]);
  });
});

describe("write", () => {
  const write = (action: string, body: object, more: object = {}) =>
    agent.call("write", { endpoint: "orders", action, body, ...more });

  test("creates, changes, deletes and restores", async () => {
    const made = await write("create", { order_id: "w1", title: "New", qty: 1 });
    expect(made.content).toMatchObject({
      data: { order_id: "w1", qty: 1 },
      etag: expect.any(String),
    });
    // The service fills in the tenant.
    expect(await rowsOf("select tenant from orders where order_id = 'w1'")).toEqual([
      { tenant: "a" },
    ]);
    const changed = await write(
      "update",
      { order_id: "w1", qty: 2 },
      { if_match: made.content.etag },
    );
    expect(changed.content.data.qty).toBe(2);
    const late = await write("update", { order_id: "w1", qty: 3 }, { if_match: made.content.etag });
    expect(late).toMatchObject({ isError: true, content: { error: "Precondition failed" } });
    const where = [{ key: "order_id", value: "w1" }];
    expect((await write("delete", { where })).content.data.deleted_count).toBe(1);
    expect((await agent.call("first", byId("w1"))).content.data).toBeNull();
    expect((await write("restore", { where })).isError).toBe(false);
  });

  test("changes nothing in a dry run, and once for one key", async () => {
    const dry = await write("create", { order_id: "w2", title: "Dry" }, { dry_run: true });
    expect(dry.content).toMatchObject({ dry_run: true, data: { order_id: "w2" } });
    const inBody = { data: [{ order_id: "w2", title: "Dry" }], dry_run: true };
    const bulk = await write("bulk-create", inBody);
    expect(bulk.content).toMatchObject({ dry_run: true, data: [{ order_id: "w2" }] });
    expect(await rowsOf("select 1 as n from orders where order_id = 'w2'")).toEqual([]);
    const key = { idempotency_key: `once-${crypto.randomUUID()}` };
    const [one, two] = [
      await write("create", { title: "Once" }, key),
      await write("create", { title: "Once" }, key),
    ];
    expect(two.content.data.order_id).toBe(one.content.data.order_id);
  });
});
