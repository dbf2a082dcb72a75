/**
 * `POST /mcp/{project}` as HTTP and JSON-RPC: revisions of the protocol, methods, hostile messages, and who is let in.
 * None of it reaches the database.
 */
import { describe, expect, inject, test } from "vitest";
import { connect, endpoints, openAgents, project } from "./agents.ts";
import { type Answer, openForTests } from "./harness.ts";

const fixture = openForTests(openAgents, {
  project: {
    ...project,
    mcp: { ...project.mcp, write: ["orders/create"] },
    cors: { origins: ["https://tools.example"] },
    rateLimit: { max: 1_000, actions: { aggregate: 2 } },
  },
});

const key = { "X-Api-Key": "key of agent-a" };

/** POSTs a message; a string is sent unchanged. */
const send = (
  message: unknown,
  headers: Record<string, string> = {},
  path = "/mcp/test",
): Promise<Answer> =>
  fixture.request(path, {
    method: "POST",
    headers: { "content-type": "application/json", ...key, ...headers },
    body: typeof message === "string" ? message : JSON.stringify(message),
  });
const asked = (method: string, params: object = {}, id: unknown = 1) => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});
const called = (name: string, args: unknown = {}) => asked("tools/call", { name, arguments: args });

describe("revisions of the protocol", () => {
  test.for(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
    "%s begins with initialize",
    async (protocolVersion) => {
      const params = {
        protocolVersion,
        capabilities: {},
        clientInfo: { name: "test", version: "1" },
      };
      const { status, body, headers } = await send(asked("initialize", params));
      expect(status).toBe(200);
      expect(body.result).toMatchObject({
        protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "rowgate" },
      });
      expect(headers.get("content-type")).toMatch(/^application\/json/);
      // There are no sessions.
      expect(headers.get("mcp-session-id")).toBeNull();
      const listed = await send(asked("tools/list"), { "MCP-Protocol-Version": protocolVersion });
      expect(listed.body.result.tools).toHaveLength(6);
    },
  );

  test("an unknown one of a client is answered with one that the service has", async () => {
    const params = {
      protocolVersion: "1999-01-01",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    };
    const { body } = await send(asked("initialize", params));
    expect(body.result.protocolVersion).toMatch(/^202\d-/);
    const listed = await send(asked("tools/list"), { "MCP-Protocol-Version": "1999-01-01" });
    expect(listed.status).toBe(400);
  });

  test("the one of 2026 needs no beginning, and the client finds it by itself", async () => {
    const agent = await connect(fixture, "agent-a", { mode: { pin: "2026-07-28" } });
    expect(await agent.toolNames()).toHaveLength(6);
    expect(agent.client.getNegotiatedProtocolVersion()).toBe("2026-07-28");
    const found = await agent.call("aggregate", { endpoint: "orders" });
    expect(found.isError).toBe(false);
  });

  test("notifications are taken without an answer, and ping is answered", async () => {
    const told = await send({ jsonrpc: "2.0", method: "notifications/initialized" });
    expect([told.status, told.body]).toEqual([202, ""]);
    expect((await send(asked("ping"))).body).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
  });
});

test("a write of one action shows its form, and that it only adds", async () => {
  const { body } = await send(asked("tools/list"));
  const write = body.result.tools.at(-1);
  expect(write.inputSchema.properties.action.enum).toEqual(["create"]);
  expect(write.inputSchema.properties.body).toMatchObject({
    required: ["title"],
    properties: { title: { maxLength: 200 } },
  });
  expect(write.annotations.destructiveHint).toBe(false);
  const remove = { endpoint: "orders", action: "delete", body: {} };
  const refused = await send(called("write", remove));
  expect(refused.body.result.content[0].text).toMatch(/You may not write orders\/delete/);
});

describe("messages of the revision of 2026", () => {
  const revision = "2026-07-28";
  const modern = (method: string, params: object = {}, _meta: object = {}) =>
    send(
      asked(method, {
        ...params,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": revision,
          "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
          "io.modelcontextprotocol/clientCapabilities": {},
          ..._meta,
        },
      }),
      { "MCP-Protocol-Version": revision, "Mcp-Method": method },
    );

  test("are answered without a session", async () => {
    const { status, body, headers } = await modern("tools/list");
    expect([status, body.result.tools.length]).toEqual([200, 6]);
    expect(headers.get("content-type")).toMatch(/^application\/json/);
  });

  test.for<[string, string, object, number, object]>([
    ["a stream of changes", "subscriptions/listen", {}, 200, { error: { code: -32603 } }],
    ["an unknown method", "resources/list", {}, 404, { error: { code: -32601 } }],
    [
      "an unknown revision",
      "tools/list",
      { "io.modelcontextprotocol/protocolVersion": "2999-01-01" },
      400,
      {},
    ],
  ])("refuse %s", async ([, method, meta, status, body]) => {
    const params =
      method === "subscriptions/listen" ? { notifications: { toolsListChanged: true } } : {};
    const answer = await modern(method, params, meta);
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
    expect(answer.body).toMatchObject(body);
  });
});

describe("hostile messages", () => {
  const deep = `${"[".repeat(200)}${"]".repeat(200)}`;
  test.for<[string, unknown, number, object]>([
    ["a batch", [asked("ping"), asked("ping")], 400, { error: { code: -32600 } }],
    ["an empty batch", [], 400, { error: { code: -32600 } }],
    ["no JSON", "{", 400, { error: { code: -32700 } }],
    ["nothing", "", 400, { error: { code: -32600 } }],
    ["a text", '"ping"', 400, { error: { code: -32600 } }],
    [
      "too deep a value",
      `{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": ${deep}}}`,
      400,
      { error: { code: -32700 } },
    ],
    ["NUL", called("first", { endpoint: "a\0b" }), 400, { error: { code: -32700 } }],
    ["an id that is an object", asked("ping", {}, {}), 400, {}],
    ["an id that is null", asked("ping", {}, null), 400, {}],
    ["an id beyond all numbers", `{"jsonrpc": "2.0", "id": 1e999, "method": "ping"}`, 400, {}],
    ["another version of JSON-RPC", { ...asked("ping"), jsonrpc: "1.0" }, 400, {}],
    ["an unknown method", asked("resources/list"), 200, { error: { code: -32601 } }],
    ["a method of objects", asked("__proto__"), 200, { error: { code: -32601 } }],
    ["an unknown tool", called("delete"), 200, { error: { code: -32602 } }],
    ["a tool of objects", called("__proto__"), 200, { error: { code: -32602 } }],
    ["another one", called("constructor"), 200, { error: { code: -32602 } }],
    ["a tool without a name", asked("tools/call", {}), 200, { error: { code: -32602 } }],
    ["arguments that are a list", called("describe", []), 200, { error: { code: -32602 } }],
    ["params that are a text", { ...asked("tools/call"), params: "x" }, 400, {}],
    ["a stream of changes", asked("subscriptions/listen"), 200, { error: { code: -32601 } }],
  ])("%s", async ([, message, status, body]) => {
    const answer = await send(message);
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
    expect(answer.body).toMatchObject(body);
    expect(JSON.stringify(answer.body)).not.toMatch(/node_modules|\bat \//);
  });

  test.for<[string, unknown, RegExp]>([
    ["an endpoint of objects", { endpoint: "__proto__" }, /Unknown endpoint/],
    ["another one", { endpoint: "toString" }, /Unknown endpoint/],
    ["an endpoint that is an object", { endpoint: {} }, /endpoint is required/],
    ["none", {}, /endpoint is required: customers, orders/],
  ])("arguments with %s are an error of the tool", async ([, args, message]) => {
    const { status, body } = await send(called("read", args));
    expect([status, body.result.isError]).toEqual([200, true]);
    expect(body.result.content[0].text).toMatch(message);
  });

  test("members of a prototype are members like others", async () => {
    const text = `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "write", "arguments":
      {"endpoint": "orders", "action": "create", "dry_run": true, "body": {"title": "x", "__proto__": {"tenant": "b"}}}}}`;
    const { body } = await send(text);
    expect(body.result.content[0].text).toContain('Unknown member in the payload: "__proto__"');
  });

  // workerd may close the connection while the rest of the body arrives.
  test.runIf(inject("serviceOpener") === undefined)("ten megabytes", async () => {
    const { status, body } = await send(called("read", { endpoint: "x".repeat(10 * 1024 ** 2) }));
    expect([status, body.error]).toEqual([413, "Payload too large"]);
  });

  test.for(["text/plain", "multipart/form-data", "application/x-www-form-urlencoded"])(
    "a body of the type %s",
    async (type) => {
      expect((await send(asked("ping"), { "content-type": type })).status).toBe(415);
    },
  );
});

describe("over HTTP", () => {
  test.for(["GET", "DELETE", "PUT", "HEAD", "PATCH"])("%s is refused with 405", async (method) => {
    const answer = await fixture.fetch("/mcp/test", { method, headers: key });
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
  });

  test.for(["/mcp/test/", "/mcp/test/more", "/mcp/", "/mcp"])("%s is no path", async (path) => {
    expect((await send(asked("ping"), {}, path)).status).toBe(404);
  });

  test.for<[string, Record<string, string>]>([
    ["no credentials", {}],
    ["a wrong key", { "X-Api-Key": "wrong" }],
    ["a wrong token", { Authorization: "Bearer wrong" }],
  ])("%s is refused before the message is read", async ([, headers]) => {
    for (const path of ["/mcp/test", "/mcp/nowhere"]) {
      const answer = await fixture.request(path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: "{",
      });
      expect([answer.status, answer.body.error]).toEqual([401, "Unauthorized"]);
      expect(answer.headers.get("www-authenticate")).toContain("ApiKey");
    }
  });

  test("a project that does not exist is 404 for callers that a project knows", async () => {
    const { status, body } = await send(asked("ping"), {}, "/mcp/tset");
    expect([status, body.message]).toEqual([404, 'Unknown project "tset"; did you mean "test"?']);
  });

  test.for<[string, number, string?]>([
    ["https://tools.example", 200],
    ["https://own.example", 200, "same-origin"],
    ["https://evil.example", 403],
    ["https://evil.example", 403, "cross-site"],
    ["null", 403],
  ])("a page of %s is answered with %i", async ([origin, status, site]) => {
    const answer = await send(asked("ping"), { origin, ...(site && { "sec-fetch-site": site }) });
    expect(answer.status).toBe(status);
    const allowed = origin === "https://tools.example" ? origin : null;
    expect(answer.headers.get("access-control-allow-origin")).toBe(allowed);
  });

  test("a page of an allowed origin may send the headers of the protocol", async () => {
    const { headers } = await fixture.request("/mcp/test", {
      method: "OPTIONS",
      headers: {
        origin: "https://tools.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "mcp-protocol-version,x-api-key,content-type",
      },
    });
    expect(headers.get("access-control-allow-origin")).toBe("https://tools.example");
    expect(headers.get("access-control-allow-headers")).toMatch(/mcp-protocol-version/i);
  });

  test("calls of tools count for the limits of their actions", async () => {
    const args = { endpoint: "orders" };
    const call = () =>
      fixture.request("/mcp/test", {
        method: "POST",
        headers: { "content-type": "application/json", "X-Api-Key": "key of reader" },
        body: JSON.stringify(called("aggregate", args)),
      });
    const answers = [await call(), await call(), await call()];
    expect(answers.map(({ body }) => body.result.isError)).toEqual([false, false, true]);
    expect(answers[2]!.body.result.content[0].text).toMatch(
      /Too many requests: .*try again in \d+ s/,
    );
    expect(answers[2]!.headers.get("ratelimit-policy")).toContain("aggregate");
  });
});

describe("a project without mcp", () => {
  const without = openForTests(openAgents, { project: { auth: project.auth }, endpoints });

  test("answers 404, and 401 to those that it does not know", async () => {
    const init = { method: "POST", body: "{}" };
    const known = await without.request("/mcp/test", { ...init, headers: key });
    expect([known.status, known.body.message]).toEqual([
      404,
      expect.stringMatching(/Agents can use nothing/),
    ]);
    expect((await without.request("/mcp/test", init)).status).toBe(401);
  });
});
