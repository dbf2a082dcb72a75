/** `POST /mcp/{project}` with the official client: the tools, what they answer, and whose rights they have. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Agent, connect, openAgents } from "./agents.ts";
import type { Fixture } from "./harness.ts";

let fixture: Fixture;
let agent: Agent;
let reader: Agent;
beforeAll(async () => {
  fixture = await openAgents();
  agent = await connect(fixture, "agent-a");
  reader = await connect(fixture, "reader", { mode: "auto" });
});
afterAll(() => fixture?.close());

describe("the tools", () => {
  test("are six for a caller that may write, and five for others", async () => {
    const names = ["describe", "read", "first", "lookup", "aggregate"];
    expect(await agent.toolNames()).toEqual([...names, "write"]);
    expect(await reader.toolNames()).toEqual(names);
    expect(await (await connect(fixture, "stranger")).toolNames()).toEqual([]);
  });
  test("read", async () => {
    const { isError, content, text } = await agent.call("read", {
      endpoint: "orders",
      per_page: 2,
    });
    console.log(text, content);
    expect(isError).toBe(false);
    const tools = (await agent.client.listTools()).tools;
    console.log(JSON.stringify(tools, null, 1));
    for (const args of [
      {},
      { endpoint: "orders" },
      { endpoint: "orders", action: "create" },
      { endpoint: "customers" },
      { endpoint: "salaries" },
    ])
      console.log((await agent.call("describe", args)).text);
    console.log(
      (
        await agent.call("write", {
          endpoint: "orders",
          action: "create",
          body: { title: 5, qty: -1, foo: 1 },
        })
      ).text,
    );
    console.log(
      (
        await agent.call("write", {
          endpoint: "orders",
          action: "create",
          body: { title: "x", qty: -1 },
        })
      ).text,
    );
    console.log(
      (
        await agent.call("write", {
          endpoint: "orders",
          action: "create",
          body: { title: "x", qty: 1 },
          dry_run: true,
        })
      ).text,
    );
    console.log((await agent.call("lookup", { endpoint: "customers", search: "a" })).text);
    console.log(
      (
        await agent.call("aggregate", {
          endpoint: "orders",
          group_by: ["customer.name"],
          operations: [{ function: "sum", field: "qty" }],
        })
      ).text,
    );
    console.log(
      (await agent.call("first", { endpoint: "orders", where: { key: "order_id", value: "b001" } }))
        .text,
    );
    console.log(
      (
        await agent.call("first", {
          endpoint: "orders",
          where: { key: "salary.amount", value: 5000 },
        })
      ).text,
    );
    console.log(agent.client.getInstructions(), agent.client.getServerVersion());
  });
});
