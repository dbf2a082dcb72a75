/** Hooks of a record with a composite key: `{{id}}` is the whole key, and the record has each column. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HookServer, startHookServer } from "../outbound/hook-server.ts";
import { check } from "./cases.ts";
import { type Fixture, openFixture } from "./harness.ts";

let server: HookServer;
let fixture: Fixture;
beforeAll(async () => {
  server = await startHookServer();
  const host = `localhost:${server.port}`;
  const hook = {
    name: "call",
    url: `http://${host}/lines/{{id}}`,
    blocking: true,
    body: { id: "{{id}}", order: "{{record.order_id}}", line: "{{record.line_no}}" },
  };
  fixture = await openFixture({
    tables: [
      {
        name: "order_lines",
        columns: { order_id: "integer", line_no: "integer", status: "text(10)" },
        primaryKey: ["order_id", "line_no"],
      },
    ],
    setUp: () => ["insert into order_lines (order_id, line_no, status) values (10248, 2, 'open')"],
    endpoints: {
      lines: {
        tableName: "order_lines",
        action: { "change-status": true },
        workflow: { hooks: { done: { onBefore: [hook] } } },
      },
    },
    project: { hooks: { allowedHosts: [host] } },
  });
});
afterAll(async () => {
  await fixture.close();
  await server.close();
});

test("change-status calls them with its whole key", async () => {
  const body = { order_id: 10248, line_no: 2, status: "done" };
  check(await fixture.post("lines/change-status", body), { status: 200, data: body });
  const [heard] = await server.hears("/lines/10248_2");
  expect(JSON.parse(heard!.body)).toEqual({ id: "10248_2", order: 10248, line: 2 });
});

test("change-status takes no id in place of it", async () => {
  const answer = await fixture.post("lines/change-status", { id: "10248_2", status: "done" });
  check(answer, { status: 400, error: "Invalid payload" });
});
