/** The data provider for Refine over a service: what it asks, and what it makes of the answers. */
import { setTimeout as pause } from "node:timers/promises";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { auditLogProvider, dataProvider, liveProvider } from "../../app/adapters/refine.ts";
import { openAdminPages, recordingFetch, type SentRequest } from "./admin-pages.ts";
import { apiKey, by } from "./api-keys.ts";
import { openFixture, openForTests } from "./harness.ts";

const fixture = openForTests(openAdminPages);
/** Requests to the service, the newest last. */
let sent: SentRequest[] = [];
let provider: ReturnType<typeof dataProvider>;

const providerWith = (options: Partial<Parameters<typeof dataProvider>[0]> = {}) =>
  dataProvider({
    baseUrl: "http://localhost",
    project: "test",
    keys: { goods: ["goods"] },
    fetch: recordingFetch(fixture, sent),
    ...options,
  });

beforeEach(() => {
  sent = [];
  provider = providerWith();
});

const resource = "orders";
const sorters = [{ field: "id", order: "asc" as const }];

/** The error of a call. */
const failure = async (call: Promise<unknown>) =>
  call.then(
    (value) => expect.unreachable(`it answered ${JSON.stringify(value)}`),
    (error: Error & { statusCode?: number; errors?: object }) => error,
  );

describe("getList", () => {
  type Filter = { field?: string; operator: string; value: unknown };
  const orderNos = async (filters: readonly Filter[]) => {
    const { data, total } = await provider.getList({ resource, sorters, filters });
    expect(total).toBe(data.length);
    return data.map(({ order_no }) => order_no);
  };
  const all = ["A-1", "A/2", "50%_x", "A-4"];

  test.each([
    { field: "order_no", operator: "eq", value: "A-1", found: ["A-1"] },
    { field: "order_no", operator: "eqs", value: "A-1", found: ["A-1"] },
    { field: "customer_id", operator: "eq", value: null, found: ["A-4"] },
    { field: "order_no", operator: "eq", value: undefined, found: all },
    { field: "order_no", operator: "ne", value: "A-1", found: ["A/2", "50%_x", "A-4"] },
    { field: "order_no", operator: "nes", value: "A-1", found: ["A/2", "50%_x", "A-4"] },
    { field: "amount", operator: "lt", value: 20, found: ["A-1"] },
    { field: "amount", operator: "lte", value: 20, found: ["A-1", "A/2"] },
    { field: "amount", operator: "gt", value: 20, found: ["50%_x", "A-4"] },
    { field: "amount", operator: "gte", value: "20", found: ["A/2", "50%_x", "A-4"] },
    { field: "order_no", operator: "in", value: ["A-1", "A-4", "?"], found: ["A-1", "A-4"] },
    { field: "order_no", operator: "in", value: [], found: [] },
    { field: "order_no", operator: "nin", value: ["A-1", "A-4"], found: ["A/2", "50%_x"] },
    { field: "tags", operator: "ina", value: ["new", "big"], found: ["A-1"] },
    { field: "amount", operator: "between", value: [20, 30], found: ["A/2", "50%_x"] },
    { field: "amount", operator: "nbetween", value: [20, 30], found: ["A-1", "A-4"] },
    { field: "placed_on", operator: "null", value: true, found: ["50%_x"] },
    { field: "placed_on", operator: "nnull", value: true, found: ["A-1", "A/2", "A-4"] },
    { field: "order_no", operator: "contains", value: "a-", found: ["A-1", "A-4"] },
    { field: "order_no", operator: "ncontains", value: "a-", found: ["A/2", "50%_x"] },
    { field: "order_no", operator: "containss", value: "0%_", found: ["50%_x"] },
    { field: "order_no", operator: "ncontainss", value: "0%_", found: ["A-1", "A/2", "A-4"] },
    { field: "order_no", operator: "startswith", value: "a", found: ["A-1", "A/2", "A-4"] },
    { field: "order_no", operator: "nstartswith", value: "a", found: ["50%_x"] },
    { field: "order_no", operator: "startswiths", value: "A", found: ["A-1", "A/2", "A-4"] },
    { field: "order_no", operator: "nstartswiths", value: "A", found: ["50%_x"] },
    { field: "order_no", operator: "endswith", value: "X", found: ["50%_x"] },
    { field: "order_no", operator: "nendswith", value: "X", found: ["A-1", "A/2", "A-4"] },
    { field: "order_no", operator: "endswiths", value: "x", found: ["50%_x"] },
    { field: "order_no", operator: "nendswiths", value: "x", found: ["A-1", "A/2", "A-4"] },
    { field: "customer_id", operator: "contains", value: "", found: all },
    { field: "customer_id", operator: "nstartswiths", value: "", found: all },
    { field: "customer_id", operator: "eq", value: "", found: [] },
    { field: "customer.name", operator: "eq", value: "Ada", found: ["A/2"] },
    { field: "id", operator: "in", value: ["2", 3], found: ["A/2", "50%_x"] },
    { field: "q", operator: "contains", value: "a-", found: ["A-1", "A-4"] },
    { field: "q", operator: "eq", value: undefined, found: all },
  ])("finds by $field $operator $value", async ({ found, ...filter }) => {
    expect(await orderNos([filter])).toEqual(found);
  });

  test("joins filters by AND, and groups by their own word", async () => {
    const small = { field: "amount", operator: "lt", value: 15 };
    const ada = { field: "customer.name", operator: "eq", value: "Ada" };
    const late = { field: "placed_on", operator: "gte", value: "2026-03-01" };
    expect(await orderNos([small, ada])).toEqual([]);
    expect(await orderNos([{ operator: "or", value: [small, ada] }])).toEqual(["A-1", "A/2"]);
    const inner = {
      operator: "and",
      value: [small, { field: "tags", operator: "nnull", value: true }],
    };
    const outer = { operator: "or", value: [inner, late, { operator: "or", value: [] }] };
    expect(await orderNos([outer])).toEqual(["A-1", "A-4"]);
    expect(await orderNos([outer, late])).toEqual(["A-4"]);
    expect(await orderNos([{ operator: "and", value: [] }])).toEqual(all);
  });

  test.each(["nina", "like"])(
    "refuses the operator %s, which the service lacks",
    async (operator) => {
      const filters = [{ field: "tags", operator, value: ["x"] }];
      const error = await failure(provider.getList({ resource, filters }));
      expect(error.message).toContain(`The operator ${operator} is not possible`);
    },
  );

  test("sorts by several fields and paths, and gives pages and totals", async () => {
    const { data, total } = await provider.getList({
      resource,
      pagination: { currentPage: 2, pageSize: 3 },
      sorters: [
        { field: "customer.city", order: "asc" },
        { field: "amount", order: "desc" },
      ],
      meta: { select: ["order_no", "customer.city"] },
    });
    expect([total, data]).toEqual([4, [{ id: 1, order_no: "A-1", customer: { city: "Wien" } }]]);
  });

  test.each(["off", "client"] as const)("gives all records with pagination %s", async (mode) => {
    const pagination = { mode, currentPage: 2, pageSize: 1 };
    const { data, total } = await provider.getList({ resource, sorters, pagination });
    expect([data.map(({ id }) => id), total]).toEqual([[1, 2, 3, 4], 4]);
  });

  test("tells without a count that more records follow", async () => {
    const ask = async (currentPage: number) => {
      const pagination = { currentPage, pageSize: 3 };
      return (await provider.getList({ resource, pagination, meta: { count: "none" } })).total;
    };
    expect([await ask(1), await ask(2)]).toEqual([4, 4]);
    expect(sent.at(-1)!.body).toMatchObject({ count: "none", page: 2, per_page: 3 });
  });

  test("expands related records, and takes conditions on many", async () => {
    const meta = {
      expand: { lines: { select: ["goods"] } },
      where: { conditions: [{ key: "lines", operator: "ANY" }] },
      fields: ["of another kind of provider"],
    };
    const { data, total } = await provider.getList({ resource, sorters, meta });
    expect(total).toBe(3);
    expect(data[0]).toMatchObject({ lines: [{ goods: "Pen" }, { goods: "Ink" }] });
  });

  test("rejects with the error of the service", async () => {
    const filters = [{ field: "pric", operator: "eq", value: 1 }];
    const error = await failure(provider.getList({ resource, filters }));
    expect(error).toMatchObject({ statusCode: 400, errors: {} });
    expect(error.message).toContain('Unknown column "pric" in where');
  });
});

test("all records are given, where they are more than a list of the service can hold", async () => {
  const rows = Array.from({ length: 5230 }, (_, at) => `('n${at}', 'n${at}', 'Bergen')`);
  const isActive = fixture.engine === "sqlite" ? "1" : "true";
  await fixture.sql(`INSERT INTO customers (customer_id, name, city) VALUES ${rows.join(", ")}`);
  await fixture.sql(`UPDATE customers SET is_active = ${isActive} WHERE city = 'Bergen'`);
  const filters = [{ field: "city", operator: "eq", value: "Bergen" }];
  const { data, total } = await provider.getList({
    resource: "customers",
    filters,
    pagination: { mode: "off" },
  });
  expect(total).toBe(5230);
  expect(new Set(data.map(({ id }) => id)).size).toBe(5230);
  expect(sent.filter(({ path }) => path === "customers/read")).toHaveLength(4);
  await fixture.sql("DELETE FROM customers WHERE city = 'Bergen'");
});

describe("a record", () => {
  test("is found by its id, alone and among many", async () => {
    expect(await provider.getOne({ resource: "customers", id: "a" })).toEqual({
      data: { id: "a", customer_id: "a", name: "Ada", city: "Oslo", is_active: true },
    });
    const ids = ["A-1,2", "A~2f~2,1", "none,1"];
    const { data } = await provider.getMany({ resource: "order-lines", ids });
    expect(data.map(({ goods }) => goods)).toEqual(["Ink", "Pad"]);
    const error = await failure(provider.getOne({ resource: "order-lines", id: "none,1" }));
    expect(error).toMatchObject({ statusCode: 404 });
  });

  test("is created, changed and deleted", async () => {
    const variables = { order_no: "R-1", amount: 1, customer: { name: "of a list" } };
    const { data } = await provider.create({ resource, variables });
    expect(data).toMatchObject({ order_no: "R-1", amount: 1 });
    const id = data["id"] as number;
    const changed = { ...data, amount: 2, customer: null };
    const updated = await provider.update({ resource, id, variables: changed });
    expect(updated.data).toMatchObject({ id, amount: 2 });
    expect((await provider.deleteOne({ resource, id })).data).toMatchObject({ id, amount: 2 });
    expect(await failure(provider.getOne({ resource, id }))).toMatchObject({ statusCode: 404 });
  });

  test("is refused with the messages of its fields", async () => {
    const variables = { order_no: "", amount: -1 };
    const error = await failure(provider.create({ resource, variables }));
    expect(error).toMatchObject({ statusCode: 400, message: expect.any(String) });
    expect(error.errors).toEqual({ order_no: [expect.any(String)], amount: [expect.any(String)] });
    const moved = { resource: "order-lines", id: "A-1,1", variables: { line_no: 5 } };
    const refused = await failure(provider.update(moved));
    expect(refused).toMatchObject({ statusCode: 400, errors: { line_no: ["cannot be changed"] } });
    const other = await failure(provider.update({ resource, id: 1, variables: { id: 2 } }));
    expect(other).toMatchObject({ statusCode: 400, errors: { id: ["cannot be changed"] } });
  });

  test("with versions is refused when somebody else changed it", async () => {
    provider = providerWith({ versions: true });
    const { data } = await provider.create({ resource, variables: { order_no: "R-2" } });
    const id = data["id"] as number;
    const variables = { amount: 3, _version: data["_version"] };
    const updated = await provider.update({ resource, id, variables });
    expect(updated.data["_version"]).not.toBe(data["_version"]);
    const again = await failure(provider.update({ resource, id, variables }));
    expect(again).toMatchObject({ statusCode: 412 });
    const meta = { version: data["_version"] };
    const stale = await failure(provider.deleteOne({ resource, id, meta }));
    expect(stale).toMatchObject({ statusCode: 412 });
    await provider.deleteOne({ resource, id, variables: updated.data });
  });

  test("is one of many in createMany, updateMany and deleteMany", async () => {
    const variables = [{ order_no: "S-1" }, { order_no: "S-2" }];
    const { data } = await provider.createMany({ resource, variables });
    expect(data).toMatchObject(variables);
    const ids = data.map(({ id }) => id as number);
    const updated = await provider.updateMany({ resource, ids, variables: { amount: 4 } });
    expect(updated.data).toMatchObject(ids.map((id) => ({ id, amount: 4 })));
    const deleted = await provider.deleteMany({ resource, ids });
    expect(deleted.data).toMatchObject(ids.map((id) => ({ id })));
    const error = await failure(provider.deleteMany({ resource, ids }));
    expect(error.message).toMatch(/^2 of 2 failed: /);
  });
});

describe("where the endpoint has the bulk actions, many records", () => {
  const bulk = { resource: "bulk-orders" };
  const requests = () => sent.map(({ path }) => path).filter((path) => path.includes("/bulk-"));

  test("are created, changed and deleted by one request", async () => {
    provider = providerWith({ versions: true });
    const variables = [
      { order_no: "B-1", amount: 1, customer: null },
      { order_no: "B-2", amount: 2 },
    ];
    const { data } = await provider.createMany({ ...bulk, variables });
    expect(data).toMatchObject([{ order_no: "B-1" }, { order_no: "B-2" }]);
    const ids = data.map(({ id }) => id as number);
    const updated = await provider.updateMany({ ...bulk, ids, variables: { amount: 5 } });
    expect(updated.data).toMatchObject(ids.map((id) => ({ id, amount: 5 })));
    const one = await provider.getOne({ ...bulk, id: ids[0]! });
    expect(updated.data[0]).toEqual(one.data);
    expect((await provider.deleteMany({ ...bulk, ids })).data).toMatchObject(
      ids.map((id) => ({ id })),
    );
    expect(requests()).toEqual(
      ["create", "update", "delete"].map((name) => `bulk-orders/bulk-${name}`),
    );
  });

  test("are all refused when one is", async () => {
    const variables = [{ order_no: "B-3" }, { order_no: "" }];
    const error = await failure(provider.createMany({ ...bulk, variables }));
    expect(error).toMatchObject({
      statusCode: 400,
      errors: { "[1].order_no": [expect.any(String)] },
    });
    const ids = [1, 9999];
    const unknown = await failure(provider.deleteMany({ ...bulk, ids }));
    expect(unknown).toMatchObject({ statusCode: 404 });
    expect((await provider.getOne({ ...bulk, id: 1 })).data).toMatchObject({ order_no: "A-1" });
  });

  test("are sent in parts of a thousand", async () => {
    const variables = Array.from({ length: 1003 }, (_, at) => ({ order_no: `P-${at}` }));
    const { data } = await provider.createMany({ ...bulk, variables });
    expect(data.map(({ order_no }) => order_no)).toEqual(variables.map(({ order_no }) => order_no));
    const ids = data.map(({ id }) => id as number);
    expect((await provider.getMany({ ...bulk, ids })).data).toHaveLength(1003);
    expect((await provider.deleteMany({ ...bulk, ids })).data).toHaveLength(1003);
    expect(requests()).toHaveLength(4);
    expect(await provider.deleteMany({ ...bulk, ids: [] })).toEqual({ data: [] });
  });
});

describe("custom", () => {
  const method = "post";
  test("sends what it is given to an action", async () => {
    expect(provider.getApiUrl()).toBe("http://localhost/api/test");
    const operations = [{ function: "count", field: "*", alias: "n" }];
    const filters = [{ field: "amount", operator: "gt", value: 15 }];
    const url = `${provider.getApiUrl()}/orders/read`;
    const answer = await provider.custom({ url, method, filters, sorters, payload: { limit: 2 } });
    expect(answer.data).toMatchObject({ data: [{ order_no: "A/2" }, { order_no: "50%_x" }] });
    const off = await failure(
      provider.custom({ url: "orders/aggregate", method, payload: { operations } }),
    );
    expect(off).toMatchObject({ statusCode: 404, message: expect.stringContaining("aggregate") });
  });

  test("reads what is answered to GET, with its query and headers", async () => {
    provider = providerWith({ token: "secret" });
    const headers = { Accept: "application/json" };
    const query = { where: { a: 1 }, b: [2], c: undefined };
    const { data } = await provider.custom({ url: "openapi.json", method: "get", query, headers });
    expect(data.openapi).toMatch(/^3/);
    expect(sent.at(-1)).toMatchObject({ query: "?where%5Ba%5D=1&b%5B0%5D=2" });
    expect(sent.at(-1)!.headers.get("authorization")).toBe("Bearer secret");
  });

  test.each([
    "https://elsewhere.example/api/test/orders/read",
    "//elsewhere.example/",
    "../other/orders/read",
    "/health/live",
    "http://localhost/api/testing/orders/read",
  ])("sends no credentials to %s", async (url) => {
    await expect(provider.custom({ url, method })).rejects.toThrow("is not below");
    expect(sent).toEqual([]);
  });
});

describe("liveProvider", () => {
  interface Event {
    channel: string;
    type: string;
    payload: { ids?: (string | number)[] };
    date: Date;
  }
  const within = { timeout: 10_000 };
  const live = (options: Partial<Parameters<typeof liveProvider>[0]> = {}) =>
    liveProvider({
      baseUrl: "http://localhost",
      project: "test",
      fetch: recordingFetch(fixture, sent),
      ...options,
    });
  const streams = () =>
    sent.filter(({ path, query }) => path === "changes" && query !== "").map(({ query }) => query);
  /** Of a subscription to all types. */
  function hearing(own: ReturnType<typeof live>, name: string, more: object = {}) {
    const events: Event[] = [];
    const subscription = own.subscribe({
      channel: `resources/${name}`,
      types: ["*"],
      callback: (event: Event) => events.push(event),
      ...more,
    });
    return { events, end: () => own.unsubscribe(subscription) };
  }
  const opened = (count: number) => expect.poll(() => streams().length, within).toBe(count);
  let made = 0;
  const create = async () => {
    const { data } = await provider.create({ resource, variables: { order_no: `L-${++made}` } });
    return data;
  };

  /** The stream tells of what follows its beginning. */
  const begun = async ({ events }: { events: Event[] }) => {
    for (; events.length === 0; await pause(50)) await create();
  };

  test("tells of changes by type and id, over one stream for all", async () => {
    const own = live();
    const orders = hearing(own, "orders");
    const gone = hearing(own, "orders", { types: ["deleted"] });
    const one = hearing(own, "orders", { params: { resource: "orders", ids: ["999999"] } });
    const lines = hearing(own, "order-lines");
    await opened(1);
    expect(streams()).toEqual(["?endpoints=order-lines%2Corders"]);
    await begun(orders);
    const { id } = await create();
    await provider.update({ resource, id, variables: { amount: 1 } });
    await provider.deleteOne({ resource, id });
    await expect.poll(() => gone.events.length, within).toBe(1);
    const told = orders.events.filter(({ payload }) => payload.ids?.includes(id));
    expect(told).toEqual(
      ["created", "updated", "deleted"].map((type) => ({
        channel: "resources/orders",
        type,
        payload: { ids: [id] },
        date: expect.any(Date),
      })),
    );
    const variables = { order_no: "A-1", line_no: 9, goods: "x", qty: 1 };
    await provider.create({ resource: "order-lines", variables });
    await expect
      .poll(() => lines.events.map(({ payload }) => payload.ids), within)
      .toEqual([["A-1,9"]]);
    await provider.deleteOne({ resource: "order-lines", id: "A-1,9" });
    expect(one.events).toEqual([]);
    for (const { end } of [orders, gone, one, lines]) end();
    await provider
      .deleteMany({ resource, ids: orders.events.flatMap((e) => e.payload.ids ?? []) })
      .catch(() => undefined);
  });

  test("goes on where it was when endpoints come and a connection is lost", async () => {
    let broken = false;
    const inner = recordingFetch(fixture, sent);
    let cut = new AbortController();
    const own = live({
      async fetch(input, init) {
        if (broken) throw new TypeError("fetch failed");
        const response = await inner(input, init);
        if (!String(input).includes("changes?")) return response;
        return new Response(
          response.body!.pipeThrough(new TransformStream(), { signal: cut.signal }),
        );
      },
    });
    const orders = hearing(own, "orders");
    await begun(orders);
    broken = true;
    cut.abort();
    cut = new AbortController();
    const { id } = await create();
    broken = false;
    await expect
      .poll(() => orders.events.some(({ payload }) => payload.ids?.includes(id)), within)
      .toBe(true);
    expect(streams().at(-1)).toMatch(/&since=[0-9a-f]{64}$/);
    orders.end();
  });

  test("leaves out endpoints that are not live, and says so", async () => {
    const warned = vi.spyOn(console, "warn").mockReturnValue();
    const own = live();
    const [goods, orders] = [hearing(own, "goods"), hearing(own, "orders")];
    await expect.poll(() => streams().at(-1), within).toBe("?endpoints=orders");
    await begun(orders);
    expect(warned).toHaveBeenCalledExactlyOnceWith(expect.stringContaining("goods"));
    warned.mockRestore();
    goods.end();
    orders.end();
  });

  test("tells another user of what this user may read, and no longer of the other's", async () => {
    const warned = vi.spyOn(console, "warn").mockReturnValue();
    const users = { clerk: "notes", manager: "memos" };
    const endpoint = (role: string) => ({
      tableName: "notes",
      action: { create: true, read: true },
      live: true,
      access: { [role]: "*" },
    });
    const desk = await openFixture({
      tables: ["notes", "memos"].map((name) => ({ name, columns: { id: "key" } })),
      endpoints: {
        notes: endpoint("clerk"),
        memos: { ...endpoint("manager"), tableName: "memos" },
      },
      project: { auth: { apiKeys: Object.keys(users).map((id) => apiKey(id)) } },
    });
    const write = (user: keyof typeof users, id: string) =>
      desk.post(`${users[user]}/create`, { id }, by(user));
    let user: keyof typeof users = "clerk";
    const own = live({ fetch: recordingFetch(desk, sent), headers: () => by(user) });
    const [notes, memos] = [hearing(own, "notes"), hearing(own, "memos")];
    await expect.poll(() => streams().at(-1), within).toBe("?endpoints=notes");
    for (let made = 0; notes.events.length === 0; await pause(50))
      await write("clerk", `n${made++}`);
    user = "manager";
    const heard = notes.events.length;
    for (let made = 0; memos.events.length === 0 && made < 100; await pause(50)) {
      await write("clerk", `o${made}`);
      await write("manager", `m${made++}`);
    }
    expect(memos.events.length).toBeGreaterThan(0);
    const later = notes.events.slice(heard).flatMap(({ payload }) => payload.ids ?? []);
    expect(later.filter((id) => String(id).startsWith("o"))).toEqual([]);
    notes.end();
    memos.end();
    warned.mockRestore();
    await desk.close();
  });
});

describe("auditLogProvider", () => {
  test("shows the history of a record, and of all", async () => {
    const log = auditLogProvider({
      baseUrl: "http://localhost",
      project: "test",
      fetch: recordingFetch(fixture, sent),
    });
    const variables = { order_no: "H-1", amount: 1 };
    const { id } = (await provider.create({ resource, variables })).data;
    await provider.update({ resource, id, variables: { amount: 2 } });
    const [update, create, ...rest] = await log.get({ resource, meta: { id } });
    expect(rest).toEqual([]);
    expect(update).toMatchObject({
      id: expect.any(String),
      createdAt: expect.any(String),
      resource,
      action: "update",
      data: { amount: 2 },
      previousData: { amount: 1 },
      meta: { id },
    });
    expect(create).toMatchObject({ action: "create", data: { order_no: "H-1", amount: 1 } });
    const found = await log.get({ resource, action: "update", meta: { id } });
    expect(found.map((entry: { id: string }) => entry.id)).toEqual([update.id]);
    expect((await log.get({ resource, meta: { per_page: 1 } })).length).toBe(1);
    expect(await log.create({ resource, action: "create" })).toBeUndefined();
    await expect(log.update({ id: update.id, name: "other" })).rejects.toMatchObject({
      statusCode: 405,
    });
    await provider.deleteOne({ resource, id });
    await expect(log.get({ resource: "goods" })).rejects.toMatchObject({ statusCode: 404 });
  });
});
