/** What holds for every action: paths, methods, media types, sizes, the JSON of a body, and the id of a request. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { check } from "./cases.ts";
import { shopOptions } from "./fixture.ts";
import { openFixture, type Fixture } from "./harness.ts";
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
  ];
  test.each(odd)("the path %s means what it says, or answers 404", async (path) => {
    const answer = await shop.fixture.request(path, {
      method: "POST",
      headers: json,
      body: JSON.stringify(find),
    });
    expect([200, 404]).toContain(answer.status);
    if (answer.status === 200) expect(answer.body.data.item_id).toBe("i01");
    else expect(answer.body.error).toBe("Not found");
  });

  const planned = [
    "bulk-create",
    "bulk-update",
    "bulk-delete",
    "validate",
    "check-duplicate",
    "check-availability",
    "attach",
    "detach",
    "sync",
    "clone",
    "history",
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
    let small: Fixture;
    beforeAll(async () => {
      small = await openFixture({ ...shopOptions, env: { BODY_LIMIT: "1000" } });
    });
    afterAll(() => small?.close());

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
