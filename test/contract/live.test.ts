/** `changes`: committed writes in one order, told as a list and as a stream, within the caller's rows. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { openDocument, type OpenedDocument } from "../openapi/openapi-document.ts";
import { apiKeysOf } from "./api-keys.ts";
import { check } from "./cases.ts";
import { listen } from "./event-streams.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";
import { tokenOf, tokenSecret } from "./tenants.ts";

/** Unique per run: another run can use the same Redis. */
const run = randomUUID().slice(0, 8);
const apiKey = apiKeysOf(run);

const fixture = openForTests(openFixture, {
  tables: [
    {
      name: "items",
      columns: {
        item_id: "key",
        tenant: "text(10)",
        name: "text(40)",
        secret: "text(40)",
        is_deleted: "boolean",
        deleted_at: "timestamp",
      },
    },
    { name: "orders", columns: { order_id: "key", name: "text(40)" } },
    { name: "quiet", columns: { quiet_id: "key", name: "text(40)" } },
    ...["parts", "memos"].map((name) => ({
      name,
      columns: {
        part_id: "key",
        name: "text(40)",
        cost: "integer",
        note: "text(40)",
        updated_at: "timestamp",
      } as const,
    })),
  ],
  setUp: () => [
    "create view dear_parts as select part_id, name, cost, cost > 9 as is_dear from parts",
  ],
  endpoints: {
    ...Object.fromEntries(
      [
        ["parts", { tableName: "parts" }],
        ["cheap-parts", { tableName: "parts", defaultScope: { cost: 1 } }],
        ["dear-parts", { tableName: "parts", viewName: "dear_parts" }],
        ["memos", { tableName: "memos", changes: { except: ["note"] } }],
      ].map(([name, more]) => [
        name,
        {
          ...(more as object),
          action: { create: true, read: true, update: true, datatables: true },
          live: true,
          access: { admin: "*", clerk: ["read"] },
          hiddenFields: { clerk: ["cost"] },
        },
      ]),
    ),
    items: {
      tableName: "items",
      action: {
        create: true,
        read: true,
        update: true,
        delete: true,
        restore: true,
        "bulk-create": true,
      },
      live: true,
      softDelete: true,
      access: { admin: "*", clerk: ["read"], blind: ["create"] },
      rowScope: { clerk: { tenant: "{{claims.tenant}}" } },
    },
    // Another endpoint of the table, which shows marked records too.
    goods: {
      tableName: "items",
      action: { create: true, read: true, update: true, delete: true },
      live: true,
      access: { admin: "*", clerk: ["read"] },
      rowScope: { clerk: { tenant: "{{claims.tenant}}" } },
    },
    // Another one, which shows nothing else.
    trash: {
      tableName: "items",
      action: { read: true },
      live: true,
      softDelete: { visibility: "deleted_only" },
      access: { admin: "*", clerk: ["read"] },
      rowScope: { clerk: { tenant: "{{claims.tenant}}" } },
    },
    orders: {
      tableName: "orders",
      action: { create: true, read: true },
      live: true,
      access: { admin: "*" },
    },
    quiet: { tableName: "quiet", action: { create: true, read: true }, access: { admin: "*" } },
  },
  project: {
    batch: { enabled: true },
    limits: { streams: 3 },
    auth: {
      apiKeys: [
        apiKey("admin", ["admin"]),
        apiKey("clerk", ["clerk"], { tenant: "a" }),
        apiKey("blind", ["blind"]),
      ],
      jwt: { secret: tokenSecret },
    },
  },
});

const by = (id: string) => ({ "x-api-key": `key of ${id}` });
const admin = (endpoint: string, action: string, body: object) =>
  fixture.post(`${endpoint}/${action}`, body, by("admin"));

interface Told {
  endpoint: string;
  type: string;
  keys: Record<string, unknown>[] | null;
  at: string;
  request_id: string;
}

async function changes(id: string, body: object): Promise<Answer> {
  const answer = await fixture.post("changes", body, by(id));
  check(answer, { status: 200 });
  return answer;
}
const told = (answer: Answer) => answer.body["data"] as unknown as Told[];
const sinceOf = (answer: Answer) => answer.body["since"] as unknown as string;
const now = async (id = "admin"): Promise<string> =>
  sinceOf(await changes(id, { endpoints: ["items"] }));
const short = (events: readonly Told[]) =>
  events.map(({ endpoint, type, keys }) => [
    endpoint,
    type,
    keys?.map((key) => Object.values(key)[0]) ?? null,
  ]);

async function made(more: object = {}): Promise<string> {
  const item_id = randomUUID();
  check(await admin("items", "create", { item_id, tenant: "a", name: "n", ...more }), {
    status: 201,
  });
  return item_id;
}

describe("the list of changes", () => {
  test("is empty without since, and names the present place", async () => {
    const answer = await changes("admin", { endpoints: ["items"] });
    expect(told(answer)).toEqual([]);
    expect(sinceOf(answer)).toMatch(/^[0-9a-f]{64}$/);
  });

  test("has one event for each write, endpoint and type, with keys only", async () => {
    const since = await now();
    const item_id = await made();
    const order_id = randomUUID();
    await admin("items", "update", { item_id, name: "m" });
    await admin("orders", "create", { order_id, name: "A" });
    await admin("items", "delete", { where: [{ key: "item_id", value: item_id }] });
    await admin("items", "restore", { where: [{ key: "item_id", value: item_id }] });
    const answer = await changes("admin", { endpoints: ["orders", "items"], since });
    expect(short(told(answer))).toEqual([
      ["items", "created", [item_id]],
      ["items", "updated", [item_id]],
      ["orders", "created", [order_id]],
      ["items", "deleted", [item_id]],
      ["items", "created", [item_id]],
    ]);
    expect(Object.keys(told(answer)[0]!)).toEqual(["endpoint", "type", "keys", "at", "request_id"]);
    const after = await changes("admin", { endpoints: ["items"], since: sinceOf(answer) });
    expect(told(after)).toEqual([]);
  });

  test("goes on where limit ended it, within a write too", async () => {
    const since = await now();
    const ids = [await made(), await made(), await made()];
    const found: Told[] = [];
    let at = since;
    for (let page = 0; page < 4; page++) {
      const answer = await changes("admin", { endpoints: ["items"], since: at, limit: 1 });
      found.push(...told(answer));
      at = sinceOf(answer);
    }
    expect(short(found)).toEqual(ids.map((id) => ["items", "created", [id]]));
  });

  test("goes on within a write for other endpoints, too", async () => {
    const since = await now();
    const id = await made();
    const part = await changes("admin", { endpoints: ["items", "goods"], since, limit: 1 });
    expect(short(told(part))).toEqual([["goods", "created", [id]]]);
    const rest = await changes("admin", { endpoints: ["items"], since: sinceOf(part) });
    expect(short(told(rest))).toEqual([["items", "created", [id]]]);
    const both = await changes("admin", { endpoints: ["goods", "items"], since: sinceOf(part) });
    expect(short(told(both))).toEqual([["items", "created", [id]]]);
  });

  test("names no keys of more than 100 records of one write", async () => {
    const rows = (count: number) =>
      Array.from({ length: count }, () => ({ item_id: randomUUID(), tenant: "a" }));
    const since = await now();
    await admin("items", "bulk-create", { data: rows(100) });
    await admin("items", "bulk-create", { data: rows(101) });
    const events = told(await changes("admin", { endpoints: ["items"], since }));
    expect(events.map(({ keys }) => keys?.length ?? null)).toEqual([100, null]);
  });

  test("tells a caller of its rows: moved in is created, moved out deleted", async () => {
    const since = await now("clerk");
    const own = await made();
    const other = await made({ tenant: "b" });
    await admin("items", "update", { item_id: other, name: "x" });
    await admin("items", "update", { item_id: other, tenant: "a" });
    await admin("items", "update", { item_id: own, tenant: "b" });
    await admin("items", "update", { item_id: own, name: "y" });
    expect(short(told(await changes("clerk", { endpoints: ["items"], since })))).toEqual([
      ["items", "created", [own]],
      ["items", "created", [other]],
      ["items", "deleted", [own]],
    ]);
  });

  test.for(["admin", "clerk"])(
    "tells %s of a record that is marked as deleted only where read shows it",
    async (id) => {
      const since = await now(id);
      const [item_id, born] = [await made(), randomUUID()];
      const where = (one: string) => ({ where: [{ key: "item_id", value: one }] });
      await admin("items", "delete", where(item_id));
      await admin("goods", "update", { item_id, name: "x" });
      await admin("items", "restore", where(item_id));
      await admin("goods", "update", { item_id, is_deleted: true });
      await admin("goods", "delete", where(item_id));
      await admin("goods", "create", { item_id: born, tenant: "a", is_deleted: true });
      await admin("goods", "update", { item_id: born, is_deleted: false });
      const toldOf = (endpoint: string) =>
        changes(id, { endpoints: [endpoint], since }).then((answer) => short(told(answer)));
      expect(await toldOf("items")).toEqual([
        ["items", "created", [item_id]],
        ["items", "deleted", [item_id]],
        ["items", "created", [item_id]],
        ["items", "deleted", [item_id]],
        ["items", "created", [born]],
      ]);
      expect(await toldOf("goods")).toEqual([
        ["goods", "created", [item_id]],
        ...Array.from({ length: 4 }, () => ["goods", "updated", [item_id]]),
        ["goods", "deleted", [item_id]],
        ["goods", "created", [born]],
        ["goods", "updated", [born]],
      ]);
      expect(await toldOf("trash")).toEqual([
        ["trash", "created", [item_id]],
        ["trash", "updated", [item_id]],
        ["trash", "deleted", [item_id]],
        ["trash", "created", [item_id]],
        ["trash", "deleted", [item_id]],
        ["trash", "created", [born]],
        ["trash", "deleted", [born]],
      ]);
    },
  );

  test.for<[string, object, boolean, boolean]>([
    ["parts", { cost: 7 }, false, true],
    ["parts", { cost: 7, note: "x" }, true, true],
    ["parts", { note: "x" }, true, true],
    // It leaves the list, or comes into it.
    ["cheap-parts", { cost: 7 }, true, true],
    ["cheap-parts", { name: "m" }, true, true],
    // A view can show what it makes of the column.
    ["dear-parts", { cost: 7 }, true, true],
    // Of an excepted column it is not known whether it changed.
    ["memos", { note: "x" }, true, true],
  ])("of %s tells of an update with %j: a caller without cost %s, another one %s", async (one) => {
    const [endpoint, body, clerk, boss] = one;
    const part_id = randomUUID();
    check(await admin(endpoint, "create", { part_id, name: "n", cost: 1 }), { status: 201 });
    const since = await now();
    check(await admin(endpoint, "update", { part_id, ...body }), { status: 200 });
    for (const [id, isTold] of [["clerk", clerk] as const, ["admin", boss] as const]) {
      const events = told(await changes(id, { endpoints: [endpoint], since }));
      expect(short(events)).toEqual(isTold ? [[endpoint, "updated", [part_id]]] : []);
    }
  });

  test.for(["shown", "removed"])(
    "starts anew where changes since then are too old to be %s",
    async (which) => {
      const since = await now();
      const old = await made();
      const own = `record_key like '%${old}%'`;
      await fixture.sql(`update rowgate_changes set at = '2020-01-01 00:00:00' where ${own}`);
      const left = () => fixture.sql(`select change_id from rowgate_changes where ${own}`);
      if (which === "removed") {
        const step = () => ({
          endpoint: "orders",
          action: "create",
          body: { order_id: randomUUID() },
        });
        for (let turn = 0; turn < 6 && (await left()).length > 0; turn++) {
          const steps = Array.from({ length: 50 }, step);
          check(await fixture.post("_batch", { steps }, by("admin")), { status: 200 });
        }
        expect(await left()).toEqual([]);
      }
      const list = await changes("admin", { endpoints: ["items"], since });
      expect(list.body).toMatchObject({ data: [], reset: true });
      const stream = await listen(fixture, "changes?endpoints=items,%20", {
        ...by("admin"),
        "last-event-id": since,
      });
      await stream.until((text) => text.includes("event: reset"));
      await stream.stop();
      const place = await now();
      const fresh = await made();
      expect(short(told(await changes("admin", { endpoints: ["items"], since: place })))).toEqual([
        ["items", "created", [fresh]],
      ]);
    },
  );

  test("has nothing of undone writes", async () => {
    const since = await now();
    const steps = [
      { endpoint: "items", action: "create", body: { item_id: randomUUID(), tenant: "a" } },
      { endpoint: "items", action: "update", body: { item_id: "none", name: "m" } },
    ];
    check(await fixture.post("_batch", { steps }, by("admin")), {
      status: 404,
      error: "Not found",
    });
    expect(told(await changes("admin", { endpoints: ["items"], since }))).toEqual([]);
  });

  test("names places that tell nothing of the writes of others", async () => {
    const before = [await now("clerk"), await now("clerk")];
    await made({ tenant: "b" });
    const { body } = await changes("clerk", { endpoints: ["items"], since: before[0] });
    expect(body).toMatchObject({ data: [] });
    const places = [...before, String(body.since)];
    expect(new Set(places).size).toBe(3);
    const texts = await fixture.sql("SELECT log_id FROM rowgate_change_order");
    for (const place of places) expect(place).not.toContain(String(texts[0]!["log_id"]));
    const own = await made();
    for (const since of places)
      expect(short(told(await changes("clerk", { endpoints: ["items"], since })))).toEqual([
        ["items", "created", [own]],
      ]);
  });

  test("does not know a place of which a sign was changed", async () => {
    const since = await now();
    for (const at of [0, 31, 32, 63]) {
      const changed = `${since.slice(0, at)}${since[at] === "0" ? "1" : "0"}${since.slice(at + 1)}`;
      const { body } = await changes("admin", { endpoints: ["items"], since: changed });
      expect(body).toMatchObject({ data: [], reset: true });
    }
  });

  test.for(["of another log", "x.1", "", "0", "0".repeat(64), "F".repeat(64)])(
    "starts anew for a place that it does not know: %s",
    async (since) => {
      const answer = await changes("admin", { endpoints: ["items"], since });
      expect(answer.body).toMatchObject({ data: [], reset: true });
    },
  );

  test.for<[string, string, object, number, string]>([
    ["no endpoints", "admin", {}, 400, "Invalid parameter"],
    ["an empty list", "admin", { endpoints: [] }, 400, "Invalid parameter"],
    ["a number as endpoint", "admin", { endpoints: [1] }, 400, "Invalid parameter"],
    ["limit 0", "admin", { endpoints: ["items"], limit: 0 }, 400, "Invalid parameter"],
    ["limit 1001", "admin", { endpoints: ["items"], limit: 1001 }, 400, "Invalid parameter"],
    ["a number as since", "admin", { endpoints: ["items"], since: 1 }, 400, "Invalid parameter"],
    ["an endpoint that is not live", "admin", { endpoints: ["quiet"] }, 404, "Not found"],
    ["an unknown endpoint", "admin", { endpoints: ["items", "none"] }, 404, "Not found"],
    ["without the right to read", "blind", { endpoints: ["items"] }, 403, "Forbidden"],
    ["no endpoints without any right", "blind", {}, 403, "Forbidden"],
    ["one of several without right", "clerk", { endpoints: ["items", "orders"] }, 403, "Forbidden"],
  ])("refuses %s", async ([, id, body, status, error]) => {
    check(await fixture.post("changes", body, by(id)), { status, error });
  });
});

const eventsIn = (text: string): Told[] =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json!) as Told);

describe("the stream of changes", () => {
  const path = "changes?endpoints=items";

  test("begins with a comment and the present place, and tells of writes", async () => {
    const stream = await listen(fixture, path, by("admin"));
    expect(stream.response.headers.get("content-type")).toBe("text/event-stream");
    expect(await stream.until((text) => text.includes("\n\n"))).toMatch(
      /^: \w+\nid: [0-9a-f]{64}\n\n/,
    );
    const item_id = await made();
    const text = await stream.until((all) => all.includes(item_id));
    expect(text).toMatch(/id: [0-9a-f]{64}\nevent: change\ndata: \{/);
    expect(short(eventsIn(text))).toEqual([["items", "created", [item_id]]]);
    await stream.stop();
  });

  test.for(["header", "parameter"])("goes on where the client was, by %s", async (way) => {
    const since = await now();
    const ids = [await made(), await made()];
    const stream =
      way === "header"
        ? await listen(fixture, path, { ...by("admin"), "last-event-id": since })
        : await listen(fixture, `${path}&since=${since}`, by("admin"));
    const text = await stream.until((all) => all.includes(ids[1]!));
    expect(short(eventsIn(text))).toEqual(ids.map((id) => ["items", "created", [id]]));
    await stream.stop();
  });

  test("starts anew where the place is not known", async () => {
    const stream = await listen(fixture, path, { ...by("admin"), "last-event-id": "gone.1" });
    const text = await stream.until((all) => all.includes("event: reset"));
    expect(text).toContain("event: reset\ndata: {}\n\n");
    await stream.stop();
  });

  test("takes a ticket once, without credentials", async () => {
    const answer = await fixture.post("changes/ticket", {}, by("clerk"));
    check(answer, { status: 200 });
    const { ticket, expires_at } = answer.body["data"] as unknown as Record<string, string>;
    expect(Date.parse(expires_at!)).toBeGreaterThan(Date.now());
    const stream = await listen(fixture, `${path}&ticket=${ticket}`);
    await stream.until((text) => text.includes("\n\n"));
    const [hidden, own] = [await made({ tenant: "b" }), await made()];
    const text = await stream.until((all) => all.includes(own));
    expect(text).not.toContain(hidden);
    await stream.stop();
    const again = await fixture.fetch(`/api/test/${path}&ticket=${ticket}`, {});
    expect(again.status).toBe(401);
  });

  test("leaves no tickets behind that nobody used", async () => {
    const get = () => fixture.post("changes/ticket", {}, by("clerk"));
    await get();
    const tickets = "rowgate_requests where claim = 'ticket'";
    const old = "started_at = '2020-01-01 00:00:00'";
    await fixture.sql(`update ${tickets.replace("where", `set ${old} where`)}`);
    for (let count = 0; count < 50; count++) await get();
    expect(await fixture.sql(`select request_id from ${tickets} and ${old}`)).toEqual([]);
  });

  test.for<[string, string, string, number]>([
    ["an unknown ticket", "", "changes?endpoints=items&ticket=none", 401],
    ["no credentials", "", "changes?endpoints=items", 401],
    ["no endpoints", "admin", "changes", 400],
    ["an endpoint that is not live", "admin", "changes?endpoints=quiet", 404],
    ["no endpoint between its commas", "admin", "changes?endpoints=%20,", 400],
    ["without the right to read", "blind", "changes?endpoints=items", 403],
    ["no endpoints without any right", "blind", "changes", 403],
  ])("refuses %s", async ([, id, asked, status]) => {
    const response = await fixture.fetch(`/api/test/${asked}`, {
      headers: id === "" ? {} : by(id),
    });
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toContain("application/json");
    await response.body?.cancel();
  });

  test.for([
    ["changes", ""],
    ["changes", "blind"],
    ["changes/ticket", ""],
    ["changes/ticket", "blind"],
  ])("%s of %j is refused before the body is looked at", async ([asked, id]) => {
    const answer = await fixture.post(asked!, "{", id === "" ? {} : by(id!));
    const [status, error] = id === "" ? [401, "Unauthorized"] : [403, "Forbidden"];
    check(answer, { status, error });
  });

  test.each([
    ["a whole second", ""],
    ["more digits than a double keeps", ".00000000000000001"],
  ])("ends with a token whose end is %s", async (_, digits) => {
    const exp = `${Math.floor(Date.now() / 1000) + 2}${digits}`;
    const headers = await tokenOf('"roles": ["admin"]', { exp });
    const stream = await listen(fixture, "changes?endpoints=orders", headers);
    expect(await stream.until(() => false)).toContain("id: ");
  });

  test("is limited for each caller, until one ends", async () => {
    const streams = await Promise.all([1, 2, 3].map(() => listen(fixture, path, by("admin"))));
    await Promise.all(streams.map((one) => one.until((text) => text.includes("\n\n"))));
    const fourth = await fixture.fetch(`/api/test/${path}`, { headers: by("admin") });
    expect(fourth.status).toBe(429);
    await fourth.body?.cancel();
    await streams[0]!.stop();
    await expect
      .poll(async () => {
        const one = await fixture.fetch(`/api/test/${path}`, { headers: by("admin") });
        await one.body?.cancel();
        return one.status;
      })
      .toBe(200);
    await Promise.all(streams.map((one) => one.stop()));
  });
});

describe("the document of the project", () => {
  const documentFor = async (id: string): Promise<OpenedDocument> => {
    const { body } = await fixture.request("/api/test/openapi.json", { headers: by(id) });
    return openDocument(body);
  };

  test("describes what the list takes and answers, and the stream", async () => {
    const document = await documentFor("admin");
    const list = document.operation("changesList");
    const [body, answered] = [list.requestBody, list.responses["200"]].map(
      (part) => part.content["application/json"].schema,
    );
    const since = await now();
    await made();
    const asked = { endpoints: ["items", "orders"], since, limit: 10 };
    expect(document.faultOf(body, asked)).toBeNull();
    const answer = await changes("admin", asked);
    expect(told(answer)).toHaveLength(1);
    expect(document.faultOf(answered, answer.body)).toBeNull();
    const anew = await changes("admin", { endpoints: ["items"], since: "gone.1" });
    expect(document.faultOf(answered, anew.body)).toBeNull();
    for (const bad of [{}, { endpoints: ["quiet"] }, { endpoints: ["items"], limit: 0 }])
      expect(document.faultOf(body, bad)).not.toBeNull();
    const stream = document.operation("changesStream");
    expect(Object.keys(stream.responses["200"].content)).toEqual(["text/event-stream"]);
    expect(stream.parameters.map(({ name }) => name)).toContain("ticket");
  });

  test.for<[string, readonly string[]]>([
    ["admin", ["cheap-parts", "dear-parts", "goods", "items", "memos", "orders", "parts", "trash"]],
    ["clerk", ["cheap-parts", "dear-parts", "goods", "items", "memos", "parts", "trash"]],
    ["blind", []],
  ])("names what %s may read", async ([id, endpoints]) => {
    const document = await documentFor(id);
    const list = document.operations.find((one) => one.id === "changesList");
    const body = list?.requestBody.content["application/json"].schema;
    const named = [
      "cheap-parts",
      "dear-parts",
      "goods",
      "items",
      "memos",
      "orders",
      "parts",
      "quiet",
      "trash",
    ].filter(
      (name) => body !== undefined && document.faultOf(body, { endpoints: [name] }) === null,
    );
    expect(named).toEqual(endpoints);
    const { body: whole } = await fixture.request("/api/test/openapi.json", { headers: by(id) });
    const tags = whole.tags as { name: string; "x-rowgate"?: { live?: true } }[];
    const noted = tags.flatMap(({ name, ...tag }) => (tag["x-rowgate"]?.live ? [name] : []));
    expect(noted).toEqual(endpoints);
  });
});
