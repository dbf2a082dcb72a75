/** Rules for every action: paths, methods, media types, sizes, the JSON of a body, and the id of a request. */
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLog } from "../../app/start/observing/log.ts";
import { openService, type Service } from "../../app/start/servers/wire.ts";
import { check } from "./cases.ts";
import { shopOptions } from "./fixture.ts";
import { openFixture, openForTests } from "./harness.ts";
import { openShop } from "./shop.ts";

const shop = openShop();

const find = { where: { key: "item_id", value: "i01" } };
const json = { "Content-Type": "application/json" };

describe("paths", () => {
  const unknown: { name: string; path: string }[] = [
    { name: "an unknown project answers 404", path: "/api/nowhere/items/first" },
    { name: "an unknown endpoint answers 404", path: "/api/test/nothing/first" },
    { name: "an unknown action answers 404", path: "/api/test/items/nothing" },
    { name: "an action that is not switched on answers 404", path: "/api/test/labels/create" },
    { name: "an action that is switched off answers 404", path: "/api/test/items/aggregate" },
    { name: "adjust without being switched on answers 404", path: "/api/test/items/adjust" },
    { name: "a table that is no endpoint answers 404", path: "/api/test/item_lines/first" },
    { name: "a project named constructor answers 404", path: "/api/constructor/items/first" },
    { name: "an endpoint named __proto__ answers 404", path: "/api/test/__proto__/first" },
    { name: "an action named toString answers 404", path: "/api/test/items/toString" },
    { name: "another case of an endpoint answers 404", path: "/api/test/Items/first" },
    { name: "another case of an action answers 404", path: "/api/test/items/FIRST" },
    { name: "a path with dots answers 404", path: "/api/test/..%2Ftest%2Fitems/first" },
    { name: "an encoded slash answers 404", path: "/api/test/items%2Ffirst" },
    { name: "a NUL in a path answers 404", path: "/api/test/items%00/first" },
    { name: "malformed percent-encoding answers 404", path: "/api/test/%E0%A4%A/first" },
    { name: "a path that is too short answers 404", path: "/api/test/items" },
    { name: "a path that is too long answers 404", path: "/api/test/items/first/i01" },
    { name: "a name of 5000 letters answers 404", path: `/api/test/${"a".repeat(5000)}/first` },
  ];
  test.each(unknown)("$name", async ({ path }) => {
    const answer = await shop.fixture.request(path, {
      method: "POST",
      headers: json,
      body: JSON.stringify(find),
    });
    check(answer, { status: 404, error: "Not found" });
    expect(Object.keys(answer.body).sort()).toEqual(["error", "message", "success", "timestamp"]);
    expect(answer.headers.get("X-Request-Id")).toBeTruthy();
  });

  const odd = [
    "/api/test/items/first/",
    "/api//test/items/first",
    "/api/test/items//first",
    "/api/test/items/%66irst",
    "/api/test/%69tems/first",
    "/api/%74est/items/first",
    "/%61pi/test/items/first",
    "/api/test/items/first%20",
  ];
  test.each(odd)("the path %s is not another name of an action", async (path) => {
    const answer = await shop.fixture.request(path, {
      method: "POST",
      headers: json,
      body: JSON.stringify(find),
    });
    check(answer, { status: 404, error: "Not found" });
  });

  const planned = [
    "validate",
    "check-duplicate",
    "check-availability",
    "attach",
    "detach",
    "sync",
    "clone",
    "print",
  ];
  test.each(planned)(
    "the planned action %s answers 404 and says that it is not available",
    async (action) => {
      const answer = await shop.post("items", action, find);
      check(answer, { status: 404, error: "Not found" });
      expect(answer.body.message).toMatch(/not (yet )?available/i);
    },
  );
});

describe("methods", () => {
  const actions = ["create", "read", "first", "update", "delete", "adjust"];
  const methods = ["GET", "PUT", "PATCH", "DELETE"];
  const wrong = actions.flatMap((action) => methods.map((method) => ({ action, method })));
  test.each(wrong)("$method on $action answers 405 and allows POST", async ({ action, method }) => {
    const answer = await shop.send(`/counters/${action}`, { method });
    check(answer, { status: 405, error: "Method not allowed" });
    expect(answer.headers.get("Allow")?.split(", ")).toContain("POST");
  });

  const pages = ["/", "/health/live", "/health/ready", "/metrics", "/openapi.json", "/docs"];
  const documents = [...pages, "/api/test/openapi.json"];
  test.each(documents)("POST to %s answers 405 and allows GET", async (path) => {
    const answer = await shop.fixture.request(path, { method: "POST" });
    check(answer, { status: 405, error: "Method not allowed" });
    expect(answer.headers.get("Allow")).toBe("GET");
  });

  test("another method on an unknown action answers 404", async () => {
    check(await shop.send("/items/nothing", { method: "GET" }), {
      status: 404,
      error: "Not found",
    });
  });
});

describe("media types", () => {
  const refused = [
    "text/plain",
    "text/plain;charset=UTF-8",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/xml",
    "application/jsonp",
    "json",
  ];
  test.each(refused)("a body of the type %s answers 415", async (type) => {
    const answer = await shop.send("/items/first", {
      method: "POST",
      headers: { "Content-Type": type },
      body: JSON.stringify(find),
    });
    check(answer, { status: 415, error: "Unsupported media type" });
  });

  test.each(["gzip", "x-gzip", "br", "deflate", "identity, zstd"])(
    "a body with Content-Encoding: %s answers 415 and names it",
    async (coding) => {
      const answer = await shop.send("/items/first", {
        method: "POST",
        headers: { "Content-Type": "application/json", "Content-Encoding": coding },
        body: gzipSync(JSON.stringify(find)),
      });
      check(answer, { status: 415, error: "Unsupported media type" });
      expect(answer.body.message).toMatch(/compressed with \w+; send it without Content-Encoding$/);
    },
  );

  test.each(["", "identity", "UTF-8"])(
    "a body with Content-Encoding: %j is read",
    async (coding) => {
      const headers = { "Content-Type": "application/json", "Content-Encoding": coding };
      const body = JSON.stringify(find);
      check(await shop.send("/items/first", { method: "POST", headers, body }), { status: 200 });
    },
  );

  const accepted = ["application/json", "application/json; charset=utf-8", "Application/JSON"];
  test.each(accepted)("a body of the type %s is read", async (type) => {
    const answer = await shop.send("/items/first", {
      method: "POST",
      headers: { "Content-Type": type },
      body: JSON.stringify(find),
    });
    check(answer, { status: 200, data: { item_id: "i01" } });
  });

  test("a request without body and type is an empty payload", async () => {
    check(await shop.send("/items/first", { method: "POST" }), {
      status: 400,
      error: "Invalid payload",
    });
  });
});

describe("JSON", () => {
  const refused: { name: string; body: string | Uint8Array }[] = [
    { name: "a truncated body answers 400", body: '{"where":{"key":"item_id"' },
    { name: "a body with something behind it answers 400", body: `${JSON.stringify(find)} x` },
    {
      name: "a body with a trailing comma answers 400",
      body: '{"where":{"key":"item_id","value":"i01"},}',
    },
    { name: "a body in single quotes answers 400", body: "{'where':1}" },
    { name: "blanks alone answer 400", body: "   " },
    { name: "NaN answers 400", body: '{"where":{"key":"qty","value":NaN}}' },
    { name: "true answers 400", body: "true" },
    { name: "false answers 400", body: "false" },
    { name: "a text answers 400", body: '"where"' },
    { name: "an empty array answers 400", body: "[]" },
    {
      name: "a NUL in a value answers 400",
      body: '{"where":{"key":"item_id","value":"i\\u000001"}}',
    },
    {
      name: "a NUL in a name answers 400",
      body: '{"where":{"key":"item_id","value":"i01"},"a\\u0000":1}',
    },
    {
      name: "bytes that are not UTF-8 answer 400",
      body: Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    },
    { name: "a body 33 deep answers 400", body: deep(33) },
    { name: "a body 10,000 deep answers 400", body: deep(10_000) },
    { name: "100,000 brackets that never close answer 400", body: "[".repeat(100_000) },
  ];
  test.each(refused)("$name", async ({ body }) => {
    const answer = await shop.send("/items/first", {
      method: "POST",
      headers: json,
      body: body as string,
    });
    check(answer, { status: 400, error: "Invalid payload" });
  });

  test("a body 32 deep is read", async () => {
    const answer = await shop.post("items", "first", deep(32));
    check(answer, { status: 200, data: { item_id: "i01" } });
  });

  test("a member named __proto__ changes nothing", async () => {
    const answer = await shop.post(
      "items",
      "create",
      '{"__proto__":{"name":"x","code":"P-1"},"qty":1}',
    );
    check(answer, { status: 400, error: "Validation failed" });
    expect(answer.body.errors).toHaveProperty("name");
    expect(({} as Record<string, unknown>)["code"]).toBeUndefined();
  });

  test("many thousand members are read within a second", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`m${index}`, index]),
    );
    const started = performance.now();
    check(await shop.post("items", "first", { ...find, ...many }), {
      status: 200,
      data: { item_id: "i01" },
    });
    expect(performance.now() - started).toBeLessThan(1000);
  });

  /** first's body, in all as many levels deep: the object itself is the first. */
  function deep(levels: number): string {
    const arrays = levels - 1;
    return `{"where":{"key":"item_id","value":"i01"},"more":${"[".repeat(arrays)}${"]".repeat(arrays)}}`;
  }
});

describe("size", () => {
  const padded = (bytes: number) => {
    const body = JSON.stringify({ ...find, pad: "" });
    return JSON.stringify({ ...find, pad: "x".repeat(bytes - body.length) });
  };

  test("a body of 1 MiB is read", async () => {
    check(await shop.post("items", "first", padded(1_048_576)), {
      status: 200,
      data: { item_id: "i01" },
    });
  });

  test("a body of one byte more answers 413", async () => {
    check(await shop.post("items", "first", padded(1_048_577)), {
      status: 413,
      error: "Payload too large",
    });
  });

  test("a body that comes in pieces without its length answers 413 all the same", async () => {
    const piece = new TextEncoder().encode(" ".repeat(65_536));
    let left = 20;
    const body = new ReadableStream({
      pull: (controller) => (left-- > 0 ? controller.enqueue(piece) : controller.close()),
    });
    const answer = await shop.send("/items/first", {
      method: "POST",
      headers: json,
      body,
      duplex: "half",
    } as RequestInit);
    check(answer, { status: 413, error: "Payload too large" });
  });

  describe("of a service with its own BODY_LIMIT", () => {
    const small = openForTests(openFixture, { ...shopOptions, env: { BODY_LIMIT: "1000" } });

    test("a body of BODY_LIMIT is read, and one byte more answers 413", async () => {
      check(await small.post("items/first", padded(1000)), {
        status: 200,
        data: { item_id: "i01" },
      });
      check(await small.post("items/first", padded(1001)), {
        status: 413,
        error: "Payload too large",
      });
    });
  });
});

describe("request ids", () => {
  test("each answer has an X-Request-Id of its own", async () => {
    const answers = await Promise.all([1, 2, 3].map(() => shop.post("items", "first", find)));
    expect(new Set(answers.map((answer) => answer.headers.get("X-Request-Id"))).size).toBe(3);
  });

  test("a hostile X-Request-Id does not come back", async () => {
    const answer = await shop.post("items", "first", find, {
      "X-Request-Id": "<script>alert(1)</script>",
    });
    expect(answer.headers.get("X-Request-Id")).not.toContain("<");
  });
});

describe("pages of other origins", () => {
  const form = "application/x-www-form-urlencoded";
  const foreign = { Origin: "https://evil.example" };
  const place = openForTests(async () => {
    const cors = { origins: ["https://shop.example"] };
    const grid = { tableName: "items", action: { datatables: true } };
    return openFixture({
      ...shopOptions,
      endpoints: { grid },
      project: { ...shopOptions.project, cors },
    });
  });

  const refused: { name: string; headers: Record<string, string> }[] = [
    { name: "a form of another origin", headers: { ...foreign, "Content-Type": form } },
    {
      name: "a multipart body of another origin",
      headers: { ...foreign, "Content-Type": "multipart/form-data; boundary=x" },
    },
    { name: "plain text of another origin", headers: { ...foreign, "Content-Type": "text/plain" } },
    { name: "a request without a type of another origin", headers: foreign },
    {
      name: "a form without an origin of its own",
      headers: { Origin: "null", "Content-Type": form },
    },
    {
      name: "a form of another site, as browsers call it",
      headers: { "Sec-Fetch-Site": "cross-site", "Content-Type": form },
    },
    {
      name: "a form of another port",
      headers: {
        Origin: "http://localhost:8080",
        "Sec-Fetch-Site": "same-site",
        "Content-Type": form,
      },
    },
  ];
  test.each(refused)("$name answers 403", async ({ headers }) => {
    const answer = await place.request("/api/test/grid/datatables", { method: "POST", headers });
    check(answer, { status: 403, error: "Forbidden" });
    expect(answer.body.message).toContain("cors.origins");
  });

  const taken: { name: string; headers: Record<string, string> }[] = [
    { name: "a form of an origin that CORS allows", headers: { Origin: "https://shop.example" } },
    { name: "a form of the own origin", headers: { Origin: "http://localhost" } },
    {
      name: "a form of the own origin behind a proxy",
      headers: { Origin: "https://erp.example", "Sec-Fetch-Site": "same-origin" },
    },
    { name: "a form of no browser", headers: {} },
  ];
  test.each(taken)("$name is read", async ({ headers }) => {
    const answer = await place.request("/api/test/grid/datatables", {
      method: "POST",
      headers: { ...headers, "Content-Type": form },
      body: "draw=1&start=0&length=1",
    });
    expect([answer.status, answer.body.draw]).toEqual([200, 1]);
  });
});

describe("names of the service", () => {
  const name = (host: string) => `http://${host}/api/test/items/first`;
  const ask = (service: Service, host: string) =>
    service.app.fetch(new Request(name(host), { method: "POST", headers: json, body: "{}" }));
  let services: Record<"open" | "named" | "public" | "guests" | "closed", Service>;
  beforeAll(async () => {
    const open = (env: Record<string, string>, auth?: object) => {
      const files = new Map(shop.fixture.files);
      const project = JSON.parse(files.get("test/project.json")!) as object;
      if (auth) files.set("test/project.json", JSON.stringify({ ...project, auth }));
      return openService({ files, log: createLog("silent"), env });
    };
    const jwt = { secret: "a secret of at least thirty-two bytes" };
    services = {
      guests: await open({}, { jwt, anonymous: { roles: ["guest"] } }),
      closed: await open({}, { jwt }),
      open: await open({}),
      named: await open({ HOST: "0.0.0.0", ALLOWED_HOSTS: "erp.test, Shop.test" }),
      public: await open({ HOST: "0.0.0.0" }),
    };
  });
  afterAll(() => Promise.all(Object.values(services ?? {}).map((service) => service.close())));

  test.each([
    ["open", "evil.example:3000", 421],
    ["open", "localhost.evil.example", 421],
    ["open", "192.168.0.7:3000", 421],
    ["open", "localhost:3000", 400],
    ["open", "LOCALHOST", 400],
    ["open", "shop.localhost:8080", 400],
    ["open", "127.0.0.1:3000", 400],
    ["open", "[::1]:3000", 400],
    ["named", "erp.test", 400],
    ["named", "shop.test:8080", 400],
    ["named", "evil.example", 421],
    ["public", "erp.example", 400],
    ["guests", "evil.example:3000", 421],
    ["guests", "localhost:3000", 401],
    ["closed", "evil.example:3000", 401],
  ] as const)("of a service that is %s: %s is %d", async (kind, host, status) => {
    const response = await ask(services[kind], host);
    expect(response.status).toBe(status);
    const { error } = (await response.json()) as { error: string };
    const errors = { 400: "Invalid payload", 401: "Unauthorized", 421: "Misdirected request" };
    expect(error).toBe(errors[status]);
  });
});

describe("readiness and metrics", () => {
  const token = "a-token-of-the-metrics";
  const forwarded = { "X-Forwarded-For": "127.0.0.1" };
  let service: Service;
  let proxied: Service;
  /** Answers to every name. */
  let exposed: Service;
  beforeAll(async () => {
    const open = (env: Record<string, string>) =>
      openService({ files: shop.fixture.files, log: createLog("silent"), env });
    service = await open({ METRICS_TOKEN: token });
    proxied = await open({ TRUST_PROXY: "1" });
    exposed = await open({ HOST: "0.0.0.0" });
  });
  afterAll(() => Promise.all([service?.close(), proxied?.close(), exposed?.close()]));

  test.each([
    ["the machine itself", "127.0.0.1", {}, true],
    ["the machine itself, by IPv4 in IPv6", "::ffff:127.0.0.1", {}, true],
    ["the machine itself, by IPv6", "::1", {}, true],
    ["who holds the token", "10.0.0.7", { Authorization: `Bearer ${token}` }, true],
    ["somebody else", "10.0.0.7", {}, false],
    ["somebody without an address", undefined, {}, false],
    ["who holds another token", "127.0.0.1", { Authorization: "Bearer another" }, false],
    ["somebody behind a proxy on the machine", "127.0.0.1", forwarded, false],
  ])(
    "names projects to %s: %s %j",
    async (_, address, headers: Record<string, string>, isShown) => {
      const asked = new Request("http://localhost/health/ready", { headers });
      const body = (await (await service.app.fetch(asked, { address })).json()) as object;
      expect(body).toMatchObject({ success: true, status: "ready" });
      expect("projects" in body).toBe(isShown);
    },
  );

  test("names no projects to a page that gave its own name the loopback address", async () => {
    const asked = new Request("http://rebound.example/health/ready");
    const body = await (await exposed.app.fetch(asked, { address: "127.0.0.1" })).json();
    expect(body).toMatchObject({ success: true });
    expect(body).not.toHaveProperty("projects");
  });

  test("names no projects by address where a proxy is configured", async () => {
    const asked = new Request("http://localhost/health/ready");
    const body = await (await proxied.app.fetch(asked, { address: "127.0.0.1" })).json();
    expect(body).not.toHaveProperty("projects");
  });

  test.each([
    ["the machine itself", "127.0.0.1", "localhost", {}, 200],
    ["the machine itself, by IPv6", "::1", "[::1]", {}, 200],
    ["somebody else", "10.0.0.7", "localhost", {}, 403],
    ["somebody without an address", undefined, "localhost", {}, 403],
    ["somebody behind a proxy on the machine", "127.0.0.1", "localhost", forwarded, 403],
    ["a page that gave its own name the loopback address", "127.0.0.1", "page.example", {}, 403],
  ])(
    "shows metrics without METRICS_TOKEN to %s: %s %s %j %d",
    async (_, address, host, headers: Record<string, string>, status) => {
      const asked = new Request(`http://${host}/metrics`, { headers });
      expect((await exposed.app.fetch(asked, { address })).status).toBe(status);
    },
  );

  test("shows metrics to nobody by address where a proxy is configured", async () => {
    const asked = new Request("http://localhost/metrics");
    expect((await proxied.app.fetch(asked, { address: "127.0.0.1" })).status).toBe(403);
  });
});
