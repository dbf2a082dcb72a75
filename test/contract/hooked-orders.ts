/**
 * A service with one status per possible setup of hooks, over a real HTTP server that they call. Hooks have permission
 * to call `localhost`; the same server under any other name is refused.
 */
import { beforeAll, beforeEach } from "vitest";
import { type HookServer, startHookServer } from "../outbound/hook-server.ts";
import { checkEnvelope } from "./cases.ts";
import { type Answer, type Fixture, openFixture, openForTests } from "./harness.ts";

/** Of a hook that the tests expect to be cut off. */
export const hookTimeoutMs = 500;

export interface HookedOrders {
  readonly fixture: Fixture;
  readonly server: HookServer;
  /** The order of the test that runs. */
  readonly id: string;
  changeTo(status: string, more?: object): Promise<Answer>;
  post(endpoint: string, action: string, body: object): Promise<Answer>;
  status(id?: string): Promise<unknown>;
}

const hook = (url: string, more: object = {}) => ({
  name: "call",
  url,
  method: "POST",
  blocking: true,
  timeoutMs: hookTimeoutMs,
  ...more,
});

/** The variables, each as the whole value and inside a text. */
const body = {
  id: "{{id}}",
  from: "{{oldStatus}}",
  to: "{{newStatus}}",
  note: "{{remarks}}",
  table: "{{tableName}}",
  user: "{{user_id}}",
  at: "{{timestamp}}",
  total: "{{record.total}}",
  status: "{{record.status}}",
  sent: "{{requestData.extra}}",
  missing: "{{requestData.missing}}",
  text: "order {{record.code}} ({{record.total}})",
  list: ["{{record.total}}", 1, true, null],
};

/** Columns that the fieldName of `slim` does not name. */
const slimBody = { status: "{{record.status}}", total: "{{record.total}}" };

export const peers = [
  "silent",
  "drip-head",
  "drip-body",
  "huge",
  "long-head",
  "closes",
  "closes-late",
  "garbage",
  "upgrade",
  "redirect?to=http://127.0.0.1/",
  "redirect?to=http://169.254.169.254/",
  "status/199",
  "status/304",
  "status/400",
  "status/503",
];

/** Ways to write an address of this machine that allowedHosts does not name. */
export const inner = [
  "http://127.0.0.1:PORT/",
  "http://2130706433:PORT/",
  "http://0x7f.1:PORT/",
  "http://0177.1:PORT/",
  "http://[::1]:PORT/",
  "http://[::ffff:127.0.0.1]:PORT/",
  "http://[::ffff:7f00:1]:PORT/",
  "http://0.0.0.0:PORT/",
  "http://localhost.:PORT/",
  "http://localhost.localdomain:PORT/",
];

function hooksFor(port: number): Record<string, object> {
  const at = (path: string) => `http://localhost:${port}/${path}`;
  const hooks: Record<string, object> = {
    told: {
      onBefore: [
        hook(at("first/{{id}}?from={{oldStatus}}&code={{record.code}}"), { name: "first", body }),
        hook(at("second"), { name: "second", blocking: false, body }),
        hook(at("third"), { name: "third", method: "GET", headers: { "X-Token": "t" } }),
      ],
      onAfter: [
        hook(at("fourth"), { name: "fourth", method: "PUT", body }),
        hook(at("fifth"), { name: "fifth", blocking: false, body }),
      ],
    },
    numbered: {
      onBefore: [hook(at("numbered/{{id}}"), { body: { number: "{{record.order_no}}" } })],
    },
    slim: {
      onBefore: [hook(at("slim-before/{{id}}"), { body: slimBody })],
      onAfter: [hook(at("slim-after/{{id}}?total={{record.total}}"), { body: slimBody })],
    },
    "no-body": { onAfter: [hook(at("empty/{{id}}"), { body: {} }), hook(at("none/{{id}}"))] },
    slow: { onBefore: [hook(at("slow"), { timeoutMs: 5_000 })] },
    "slow-later": { onAfter: [hook(at("slow"), { blocking: false, timeoutMs: 5_000 })] },
    "fails-later": {
      onBefore: [hook(at("status/404"), { name: "early", blocking: false })],
      onAfter: [hook(at("status/410"), { name: "late", blocking: false })],
    },
    "told-and-refused": {
      onBefore: [hook(at("begun/before/{{id}}"), { blocking: false })],
      onAfter: [
        hook(at("begun/after/{{id}}"), { blocking: false }),
        hook(at("status/500")),
        hook(at("never"), { blocking: false }),
      ],
    },
    "second-refused": {
      onBefore: [hook(at("earlier")), hook(at("status/500")), hook(at("not-reached"))],
    },
    path: { onBefore: [hook(at("a/{{requestData.extra}}/b"))] },
    own: {
      onBefore: [hook("/api/test/logs/first", { body: { where: { key: "log_id", value: "l0" } } })],
    },
    "own-query": {
      onBefore: [
        hook("/api/test/logs/lookup?q={{requestData.extra}}", {
          method: "GET",
          headers: { "X-Request-Mode": "dynamic" },
        }),
      ],
    },
    "own-refused": { onAfter: [hook("/api/test/logs/none", { body: { a: 1 } })] },
    "own-writes": {
      onAfter: [hook("/api/test/logs/create", { body: { log_id: "{{id}}", note: "{{remarks}}" } })],
    },
    "own-later": {
      onAfter: [
        hook("/api/test/logs/create", {
          blocking: false,
          body: { log_id: "{{id}}", note: "{{remarks}}" },
        }),
      ],
    },
    chain: {
      onAfter: [
        hook("/api/test/orders/change-status", {
          blocking: false,
          body: { id: "{{record.next}}", status: "chain" },
        }),
      ],
    },
    "chain-waiting": {
      onAfter: [
        hook("/api/test/orders/change-status", {
          timeoutMs: 3_000,
          body: { id: "{{record.next}}", status: "chain-waiting" },
        }),
      ],
    },
  };
  for (const peer of peers) {
    hooks[`before ${peer}`] = { onBefore: [hook(at(peer))] };
    hooks[`after ${peer}`] = { onAfter: [hook(at(peer))] };
  }
  for (const url of inner) hooks[url] = { onBefore: [hook(url.replace("PORT", String(port)))] };
  return hooks;
}

export function openHookedOrders(): HookedOrders {
  const server = openForTests(startHookServer);
  let rows = 0;
  let id = "";
  const fixture = openForTests(() =>
    openFixture({
      tables: [
        {
          name: "orders",
          columns: {
            order_id: "key",
            code: "text(60)",
            status: "text(60)",
            total: "decimal(20,2)",
            next: "text(36)",
            order_no: { type: "text(80)", unique: true },
            updated_at: "timestamp",
            updated_by: "text(40)",
          },
        },
        { name: "logs", columns: { log_id: "key", note: "text(40)" } },
      ],
      endpoints: {
        orders: {
          tableName: "orders",
          action: { create: true, first: true, read: true, "change-status": true },
          workflow: { hooks: hooksFor(server.port) },
          numbers: { order_no: { format: "{code}/{seq:2}", onStatus: "numbered" } },
        },
        slim: {
          tableName: "orders",
          fieldName: ["order_id", "code"],
          hiddenFields: ["next"],
          action: { "change-status": true },
          workflow: { hooks: { slim: hooksFor(server.port)["slim"] } },
        },
        steps: {
          tableName: "orders",
          action: { "change-status": true },
          workflow: {
            transitions: { new: ["left", "right"] },
            hooks: Object.fromEntries(
              ["left", "right"].map((side) => [
                side,
                { onBefore: [hook(`http://localhost:${server.port}/step/{{id}}`)] },
              ]),
            ),
          },
        },
        logs: {
          tableName: "logs",
          action: { create: true, first: true, lookup: true, update: true },
          fieldNameLookup: { text: "note" },
        },
      },
      project: { hooks: { allowedHosts: [`localhost:${server.port}`] } },
    }),
  );
  beforeAll(() => fixture.post("logs/create", { log_id: "l0", note: "zero" }));
  beforeEach(async () => {
    id = `o${++rows}`;
    const order = { order_id: id, code: "a/b&c", status: "new", total: 1234567890123.45 };
    const made = await fixture.post("orders/create", order);
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  });

  const post = async (endpoint: string, action: string, sent: object) => {
    const answer = await fixture.post(`${endpoint}/${action}`, sent);
    checkEnvelope(answer);
    return answer;
  };
  return {
    fixture,
    server,
    get id() {
      return id;
    },
    post,
    changeTo: (status, more = {}) => post("orders", "change-status", { id, status, ...more }),
    async status(of = id) {
      return (await post("orders", "first", { where: { key: "order_id", value: of } })).body.data
        .status;
    },
  };
}
