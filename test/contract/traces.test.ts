/** Spans of requests, statements and hooks as a trace collector receives them. */
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { type CollectedSpan, startCollector } from "../observe/collector.ts";
import { startHookServer } from "../outbound/hook-server.ts";
import { type Fixture, openFixture, openForTests } from "./harness.ts";

const secret = "A value of nobody else";
const parent = { trace: "4bf92f3577b34da6a3ce929d0e0e4736", span: "00f067aa0ba902b7" };
const traceparent = `00-${parent.trace}-${parent.span}-01`;

const collector = openForTests(startCollector);
const hooks = openForTests(startHookServer);

/** Opens a service for the tests, with these variables besides those that name the collector. */
function opened(
  env: Readonly<Record<string, string>>,
  log?: (line: string) => void,
): () => Fixture {
  const place = openForTests(async () => {
    const hook = (name: string, path: string, blocking: boolean) => ({
      name,
      method: "POST",
      url: `http://${hooks.host}${path}?mark={{record.mark}}`,
      blocking,
    });
    return openFixture({
      tables: [{ name: "goods", columns: { id: "key", mark: "text(40)", state: "text(20)" } }],
      setUp: () => [`insert into goods values ('a', '${secret}', 'open')`],
      endpoints: {
        goods: {
          tableName: "goods",
          action: { first: true, create: true, "change-status": true },
          workflow: {
            statusField: "state",
            hooks: {
              paid: { onBefore: [hook("ask", "/ask", true)] },
              sent: { onAfter: [hook("tell", "/tell", false)] },
              lost: { onBefore: [hook("fail", "/status/418/", true)] },
            },
          },
        },
      },
      project: { hooks: { allowedHosts: [hooks.host] } },
      env: { ...collector.env, ...env },
      ...(log && { log: pino({ level: "info" }, { write: log }) }),
    });
  });
  return () => place;
}

const first = (place: Fixture, id: string, headers: Record<string, string> = {}) =>
  place.post(
    "goods/first",
    { where: { key: "mark", value: secret } },
    { "X-Request-Id": id, ...headers },
  );
const requestOf = (id: string) => (span: CollectedSpan) =>
  span.attributes["rowgate.request.id"] === id;
const below = (top: CollectedSpan) => (span: CollectedSpan) => span.parentSpanId === top.spanId;

describe("traces", () => {
  const place = opened({
    OTEL_SERVICE_NAME: "shop-api",
    OTEL_EXPORTER_OTLP_HEADERS: "x-token=abc%20def",
    OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
  });

  test("a request is a span with names of the configuration, in a trace of its own", async () => {
    await first(place(), "plain");
    const [span] = await collector.finds(requestOf("plain"));
    expect(span).toMatchObject({
      name: "POST /api/test/goods/first",
      kind: 2,
      service: "shop-api",
      attributes: {
        "http.request.method": "POST",
        "http.route": "/api/test/goods/first",
        "http.response.status_code": 200,
        "url.path": "/api/test/goods/first",
        "rowgate.project": "test",
        "rowgate.endpoint": "goods",
        "rowgate.action": "first",
      },
      status: {},
    });
    expect(span!.parentSpanId ?? "").toBe("");
    expect(Math.abs(Date.now() - span!.endMs)).toBeLessThan(60_000);
    const { path, headers } = collector.received[0]!;
    expect(path).toBe("/v1/traces");
    expect(headers).toMatchObject({ "x-token": "abc def", "content-encoding": "gzip" });
  });

  test("a request continues the trace that it names", async () => {
    await first(place(), "child", { traceparent, tracestate: "vendor=1" });
    const [span] = await collector.finds(requestOf("child"));
    expect(span).toMatchObject({
      traceId: parent.trace,
      parentSpanId: parent.span,
      traceState: "vendor=1",
    });
  });

  test("a request with a traceparent that is none begins a trace of its own", async () => {
    await first(place(), "odd", { traceparent: "00-nothing-at-all" });
    const [span] = await collector.finds(requestOf("odd"));
    expect(span!.parentSpanId ?? "").toBe("");
  });

  test("a statement is a span below its request, with its SQL and no values", async () => {
    await first(place(), "sql");
    const [top] = await collector.finds(requestOf("sql"));
    const [statement, ...others] = await collector.finds(below(top!));
    expect(others).toEqual([]);
    const systems = { postgres: "postgresql", mysql: "mysql", sqlite: "sqlite" };
    expect(statement).toMatchObject({
      traceId: top!.traceId,
      name: "SELECT",
      kind: 3,
      attributes: {
        "db.system.name": systems[place().engine],
        "db.operation.name": "SELECT",
        "db.query.text": expect.stringMatching(/^select .*goods/is),
        "rowgate.project": "test",
      },
    });
    expect(statement!.startMs).toBeGreaterThanOrEqual(top!.startMs - 1);
    expect(statement!.endMs).toBeLessThanOrEqual(top!.endMs + 1);
  });

  test("a statement that fails says why in one word, and the request did not fail", async () => {
    const body = { id: "a", mark: "B", state: "open" };
    await place().post("goods/create", body, { "X-Request-Id": "twice" });
    const [top] = await collector.finds(requestOf("twice"));
    expect(top!.status.code).not.toBe(2);
    const statements = await collector.finds(below(top!));
    expect(statements.map(({ attributes }) => attributes["error.type"])).toContain("duplicate");
  });

  test("a path that the configuration does not have is no route", async () => {
    await place().post("made-up/read", {}, { "X-Request-Id": "made-up" });
    await place().request("/wp-login.php?user=1", { headers: { "X-Request-Id": "login" } });
    await place().request("/health/live", { headers: { "X-Request-Id": "health" } });
    const [action] = await collector.finds(requestOf("made-up"));
    expect(action!.name).toBe("POST /api/test/{endpoint}/{action}");
    const [other] = await collector.finds(requestOf("login"));
    expect(other!.name).toBe("GET");
    expect(other!.attributes).not.toHaveProperty("http.route");
    expect(other!.attributes["url.path"]).toBe("/wp-login.php");
    expect((await collector.finds(requestOf("health")))[0]!.name).toBe("GET /health/live");
  });

  test("a blocking hook is a span below its request, and hears of it", async () => {
    const body = { id: "a", status: "paid" };
    await place().post("goods/change-status", body, { "X-Request-Id": "paid", traceparent });
    const [top] = await collector.finds(requestOf("paid"));
    const [hook] = await collector.finds(({ name }) => name === "POST onBefore:ask");
    expect(hook).toMatchObject({
      traceId: parent.trace,
      parentSpanId: top!.spanId,
      kind: 3,
      attributes: {
        "http.request.method": "POST",
        "http.response.status_code": 200,
        "server.address": "127.0.0.1",
        "server.port": hooks.port,
        "rowgate.hook": "onBefore:ask",
      },
    });
    const [heard] = hooks.heard.filter(({ path }) => path.startsWith("/ask"));
    expect(heard?.headers["traceparent"]).toBe(`00-${parent.trace}-${hook!.spanId}-01`);
  });

  test("a hook that is not waited for continues the trace of its request", async () => {
    const body = { id: "a", status: "sent" };
    const sent = { "X-Request-Id": "sent", traceparent, tracestate: "vendor=2" };
    await place().post("goods/change-status", body, sent);
    const [top] = await collector.finds(requestOf("sent"));
    const [hook] = await collector.finds(({ name }) => name === "POST onAfter:tell");
    expect(hook).toMatchObject({ traceId: parent.trace, parentSpanId: top!.spanId });
    const [heard] = hooks.heard.filter(({ path }) => path.startsWith("/tell"));
    expect(heard?.headers).toMatchObject({
      traceparent: `00-${parent.trace}-${hook!.spanId}-01`,
      tracestate: "vendor=2",
    });
  });

  test("a hook that fails, and its request, are errors", async () => {
    const body = { id: "a", status: "lost" };
    await place().post("goods/change-status", body, { "X-Request-Id": "lost" });
    const [top] = await collector.finds(requestOf("lost"));
    const [hook] = await collector.finds(({ name }) => name === "POST onBefore:fail");
    expect(hook).toMatchObject({ status: { code: 2 }, attributes: { "error.type": "418" } });
    expect(top).toMatchObject({ status: { code: 2 }, attributes: { "error.type": "502" } });
  });

  test("no span holds a value", () => {
    const all = collector.received.map(({ body }) => body.toString()).join("");
    expect(all).toContain("db.query.text");
    expect(all).not.toContain(secret);
    expect(all).not.toContain(encodeURIComponent(secret));
  });
});

describe("OTEL_TRACES_SAMPLER=always_off", () => {
  const place = opened({ OTEL_TRACES_SAMPLER: "always_off" });

  test("sends no span, and tells hooks that the trace is not kept", async () => {
    const body = { id: "a", status: "paid" };
    hooks.heard.length = 0;
    await place().post("goods/change-status", body, { "X-Request-Id": "off" });
    expect(hooks.heard[0]?.headers["traceparent"]).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-00$/);
    expect(collector.spans().filter(requestOf("off"))).toEqual([]);
  });
});

describe("a collector that is away", () => {
  const lines: string[] = [];
  const away = () => lines.filter((line) => line.includes("collector"));
  const place = opened({ OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: "1" }, (line) => void lines.push(line));

  test("is logged once, and requests go on", async () => {
    collector.status = 503;
    try {
      await first(place(), "away-1");
      await expect.poll(() => away().length, { timeout: 10_000 }).toBe(1);
      for (let at = 2; at < 12; at++) expect((await first(place(), `away-${at}`)).status).toBe(200);
      expect(away()).toHaveLength(1);
      expect(JSON.parse(away()[0]!)).toMatchObject({ level: 40 });
    } finally {
      collector.status = 200;
    }
  });
});

describe("protobuf", () => {
  const place = opened({ OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf" });

  test("is sent where it is asked for", async () => {
    await first(place(), "binary");
    const isBinary = () =>
      collector.received.filter(
        ({ headers, body }) =>
          headers["content-type"] === "application/x-protobuf" && body.includes("binary"),
      );
    await expect.poll(() => isBinary().length, { timeout: 10_000 }).toBeGreaterThan(0);
    expect(isBinary()[0]!.body.includes("POST /api/test/goods/first")).toBe(true);
  });
});

describe("a service that stops", () => {
  const place = opened({ OTEL_BSP_SCHEDULE_DELAY: "600000" });

  test("sends the spans that it still has", async () => {
    await first(place(), "last");
    expect(collector.spans().filter(requestOf("last"))).toEqual([]);
    await place().close();
    expect(collector.spans().filter(requestOf("last"))).toHaveLength(1);
  });
});

describe("OTEL_SDK_DISABLED=true", () => {
  const place = opened({ OTEL_SDK_DISABLED: "true" });

  test("sends nothing, and nothing to hooks", async () => {
    const before = collector.received.length;
    hooks.heard.length = 0;
    const body = { id: "a", status: "paid" };
    await place().post("goods/change-status", body, { "X-Request-Id": "disabled", traceparent });
    expect(hooks.heard[0]?.headers).not.toHaveProperty("traceparent");
    await place().close();
    expect(collector.received.length).toBe(before);
  });
});
