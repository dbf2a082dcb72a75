/** The data provider for react-admin over a service: what it asks, and what it makes of the answers. */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { dataProvider, type ProviderOptions } from "../../app/adapters/react-admin.ts";
import { openAdminPages, recordingFetch, type SentRequest } from "./admin-pages.ts";
import { openFixture, openForTests } from "./harness.ts";

const sha256 = (key: string): string => createHash("sha256").update(key).digest("hex");

const fixture = openForTests(openAdminPages);
/** Requests to the service, the newest last. */
let sent: SentRequest[] = [];
let provider: ReturnType<typeof dataProvider>;

const providerWith = (options: Partial<ProviderOptions> = {}) =>
  dataProvider({
    baseUrl: "http://localhost/",
    project: "test",
    keys: { goods: "goods" },
    fetch: recordingFetch(fixture, sent),
    ...options,
  });

beforeEach(() => {
  sent = [];
  provider = providerWith();
});

const page = (number = 1, perPage = 10) => ({ pagination: { page: number, perPage } });
const byId = { sort: { field: "id", order: "ASC" as const } };
/** Paths of requests beside those for documents. */
const paths = () => sent.map(({ path }) => path).filter((path) => !path.endsWith("openapi.json"));

/** The error of a call. */
const failure = async (call: Promise<unknown>) =>
  call.then(
    (value) => expect.unreachable(`it answered ${JSON.stringify(value)}`),
    (error: Error & { status?: number; body?: Record<string, unknown> }) => error,
  );

describe("getList", () => {
  const orderNos = async (params: Parameters<typeof provider.getList>[1]) => {
    const { data } = await provider.getList("orders", { ...page(), ...byId, ...params });
    return data.map(({ order_no }) => order_no);
  };

  test("gives a page with ids and the total, in the order of a related name", async () => {
    const { data, total } = await provider.getList("orders", {
      ...page(1, 2),
      sort: { field: "customer.name", order: "DESC" },
      meta: { select: ["order_no", "customer.name"] },
    });
    expect(total).toBe(4);
    expect(data).toEqual([
      { id: 3, order_no: "50%_x", customer: { name: "Cid" } },
      { id: 1, order_no: "A-1", customer: { name: "Bob" } },
    ]);
  });

  test.each([
    { filter: {}, found: ["A-1", "A/2", "50%_x", "A-4"] },
    { filter: { order_no: "A-1" }, found: ["A-1"] },
    { filter: { order_no: ["A-1", "A-4"] }, found: ["A-1", "A-4"] },
    { filter: { order_no: [] }, found: [] },
    { filter: { customer_id: null }, found: ["A-4"] },
    { filter: { customer_id: undefined }, found: ["A-1", "A/2", "50%_x", "A-4"] },
    { filter: { id: 2 }, found: ["A/2"] },
    { filter: { id: [1, "3"] }, found: ["A-1", "50%_x"] },
    { filter: { id_neq: 1, amount_lt: 40 }, found: ["A/2", "50%_x"] },
    { filter: { amount_gte: 20, amount_lte: 30 }, found: ["A/2", "50%_x"] },
    { filter: { amount_gt: "20" }, found: ["50%_x", "A-4"] },
    { filter: { placed_on_between: ["2026-01-01", "2026-02-28"] }, found: ["A-1", "A/2"] },
    { filter: { placed_on_null: true }, found: ["50%_x"] },
    { filter: { placed_on_null: false }, found: ["A-1", "A/2", "A-4"] },
    { filter: { order_no_neq_any: ["A-1", "A-4"] }, found: ["A/2", "50%_x"] },
    { filter: { order_no_eq_any: ["A-1"] }, found: ["A-1"] },
    { filter: { order_no_contains: "a-" }, found: ["A-1", "A-4"] },
    { filter: { order_no_q: "0%_" }, found: ["50%_x"] },
    { filter: { order_no_startswith: "a" }, found: ["A-1", "A/2", "A-4"] },
    { filter: { order_no_endswith: "X" }, found: ["50%_x"] },
    { filter: { tags_inc: ["new", "big"] }, found: ["A-1"] },
    { filter: { tags_inc_any: ["new", "big"] }, found: ["A-1", "A/2"] },
    { filter: { updated_at_gte: new Date(0) }, found: [] },
    { filter: { customer: { name: "Ada" } }, found: ["A/2"] },
    { filter: { "customer.city_contains": "osl" }, found: ["A/2"] },
    { filter: { customer: { city_null: true }, amount_lt: 35 }, found: ["50%_x"] },
    { filter: { q: "a-" }, found: ["A-1", "A-4"] },
    { filter: { q: "" }, found: ["A-1", "A/2", "50%_x", "A-4"] },
  ])("finds by $filter", async ({ filter, found }) => {
    expect(await orderNos({ filter })).toEqual(found);
  });

  test("takes conditions on many, a searched column and whole related records from meta", async () => {
    const pens = { conditions: [{ key: "goods", operator: "=", value: "Pen" }] };
    const conditions = [{ key: "lines", operator: "ANY", where: pens }];
    expect(await orderNos({ meta: { where: { conditions } } })).toEqual(["A-1", "50%_x"]);
    const meta = { search_by: "order_no", expand: { lines: { select: ["goods"] } } };
    const { data } = await provider.getList("orders", { filter: { q: "a/" }, meta });
    expect(data).toMatchObject([{ order_no: "A/2", lines: [{ goods: "Pad" }] }]);
  });

  test.each([
    { what: "an unknown column", filter: { pric: 1 }, message: 'Unknown column "pric" in where' },
    { what: "an unknown path", filter: { customer: { nam: 1 } }, message: "customer.nam" },
    { what: "a bad value", filter: { amount_gt: "much" }, message: "amount" },
  ])("rejects $what as the service does", async ({ filter, message }) => {
    const error = await failure(provider.getList("orders", { ...page(), filter }));
    expect(error).toMatchObject({ status: 400, message: expect.stringContaining(message) });
    expect(error.body).toMatchObject({ success: false, message: error.message });
  });

  test.each(["none", "estimated"] as const)("counts as meta says: %s", async (count) => {
    const answer = await provider.getList("orders", { ...page(1, 3), meta: { count } });
    expect(answer.data).toHaveLength(3);
    if (count === "estimated") expect(answer.total).toBeGreaterThan(2);
    else expect(answer.pageInfo).toEqual({ hasNextPage: true, hasPreviousPage: false });
    const last = await provider.getList("orders", { ...page(2, 3), meta: { count } });
    if (count === "none")
      expect(last.pageInfo).toEqual({ hasNextPage: false, hasPreviousPage: true });
  });

  test("tells records without a key apart by the columns of keys", async () => {
    const { data } = await provider.getList("goods", { sort: { field: "id", order: "DESC" } });
    expect(data.map(({ id }) => id)).toEqual(["Pen", "Pad", "Ink"]);
    const unnamed = providerWith({ keys: {} });
    await expect(unnamed.getList("goods", {})).rejects.toThrow("keys can name");
  });

  describe("with more records than one page of the service", () => {
    const rows = Array.from({ length: 230 }, (_, at) => `n${String(at).padStart(3, "0")}`);
    beforeAll(async () => {
      const values = rows.map((name) => `('${name}', '${name}', 'Bergen')`);
      await fixture.sql(
        `INSERT INTO customers (customer_id, name, city) VALUES ${values.join(", ")}`,
      );
      await fixture.sql(
        `UPDATE customers SET is_active = ${fixture.engine === "sqlite" ? "1" : "true"} WHERE city = 'Bergen'`,
      );
    });
    afterAll(() => fixture.sql("DELETE FROM customers WHERE city = 'Bergen'"));

    test.each([
      { number: 1, perPage: 100, requests: 1 },
      { number: 3, perPage: 100, requests: 1 },
      { number: 1, perPage: 101, requests: 2 },
      { number: 2, perPage: 101, requests: 2 },
      { number: 1, perPage: 229, requests: 2 },
      { number: 1, perPage: 230, requests: 1 },
      { number: 1, perPage: 1000, requests: 1 },
      { number: 2, perPage: 150, requests: 2 },
      { number: 2, perPage: 1000, requests: 1 },
      { number: 1, perPage: 9000, requests: 1 },
    ])("gives page $number of $perPage", async ({ number, perPage, requests }) => {
      const filter = { city: "Bergen" };
      const { data, total } = await provider.getList("customers", {
        ...page(number, perPage),
        filter,
      });
      expect(data.map(({ id }) => id)).toEqual(
        rows.slice((number - 1) * perPage, number * perPage),
      );
      expect(total).toBe(230);
      expect(paths()).toHaveLength(requests);
    });

    test("says whether more follow where nothing is counted", async () => {
      const ask = async (number: number, perPage: number) => {
        const params = {
          ...page(number, perPage),
          filter: { city: "Bergen" },
          meta: { count: "none" } as const,
        };
        const { data, total, pageInfo } = await provider.getList("customers", params);
        return [data.length, total ?? pageInfo?.hasNextPage];
      };
      expect(await ask(1, 229)).toEqual([229, true]);
      expect(await ask(1, 230)).toEqual([230, 230]);
      expect(await ask(2, 115)).toEqual([115, false]);
    });
  });
});

describe("a record", () => {
  test("has the value of its key as id, beside its own columns", async () => {
    const { data } = await provider.getOne("customers", { id: "a", meta: { select: ["name"] } });
    expect(data).toEqual({ id: "a", customer_id: "a", name: "Ada" });
  });

  test("is found outside of the default scope, alone and among many", async () => {
    expect((await provider.getOne("customers", { id: "c" })).data).toMatchObject({ name: "Cid" });
    const { data } = await provider.getMany("customers", { ids: ["a", "c", "nobody", "b"] });
    expect(data.map(({ name }) => name).toSorted()).toEqual(["Ada", "Bob", "Cid"]);
    expect(paths()).toEqual([
      "customers/first",
      ...["read", "first", "first"].map((one) => `customers/${one}`),
    ]);
  });

  test("that is not there is 404", async () => {
    const error = await failure(provider.getOne("orders", { id: 99 }));
    expect(error).toMatchObject({ status: 404, body: { error: "Not found" } });
    expect(error.message).toContain("99");
  });

  test("of an endpoint that is not there is 404", async () => {
    const error = await failure(provider.getOne("oders", { id: 1 }));
    expect(error).toMatchObject({ status: 404 });
    expect(error.message).toContain('did you mean "orders"');
  });

  test("with a key of several columns has all of them in its id", async () => {
    const { data } = await provider.getList("order-lines", { ...page(), ...byId });
    const ids = data.map(({ id }) => id as string);
    expect(ids).toEqual(["50~25~_x,1", "A-1,1", "A-1,2", "A~2f~2,1"]);
    // Routers decode once or twice.
    for (const id of ids) expect(decodeURIComponent(id)).toBe(id);
    const many = await provider.getMany("order-lines", { ids: [...ids, "A-1,9"] });
    expect(many.data.map(({ id }) => id).toSorted()).toEqual(ids);
    expect((await provider.getOne("order-lines", { id: ids[0]! })).data).toMatchObject({ qty: 9 });
    const filtered = await provider.getList("order-lines", { filter: { id: ids[3] } });
    expect(filtered.data).toMatchObject([{ goods: "Pad" }]);
  });

  test.each(["A-1", "A-1,1,1", ""])("has no id of another form: %j", async (id) => {
    await expect(provider.getOne("order-lines", { id })).rejects.toThrow("is no id of order-lines");
  });

  test("is found by what it refers to", async () => {
    const params = { ...page(), ...byId, filter: {} };
    const lines = await provider.getManyReference("order-lines", {
      ...params,
      target: "order_no",
      id: "A-1",
      filter: { qty_gt: 1 },
    });
    expect(lines).toMatchObject({ data: [{ goods: "Pen" }], total: 1 });
    const path = { ...params, target: "order.customer.city", id: "Oslo" };
    expect((await provider.getManyReference("order-lines", path)).data).toMatchObject([
      { goods: "Pad" },
    ]);
    const both = { ...params, target: "order_no,line_no", id: "A~2f~2,1" };
    expect((await provider.getManyReference("order-lines", both)).data).toMatchObject([{ qty: 5 }]);
  });
});

describe("a write", () => {
  const created: unknown[] = [];
  const newOrder = async (data: Record<string, unknown>) => {
    const answer = await provider.create("orders", { data });
    created.push(answer.data["id"]);
    return answer.data;
  };
  afterAll(async () => {
    await fixture.sql(`DELETE FROM orders WHERE id IN (${created.join(", ")})`);
  });

  test("creates a record, without what is no column of it", async () => {
    const copied = { customer: { name: "Ada" }, lines: [], _version: "x", id: undefined };
    const data = await newOrder({ ...copied, order_no: "N-1", amount: 5, tags: ["x"] });
    expect(data).toMatchObject({ order_no: "N-1", amount: 5, tags: ["x"] });
    expect(data["id"]).toBeGreaterThan(4);
  });

  test("sends only what changed", async () => {
    const previousData = { ...(await newOrder({ order_no: "N-2", amount: 5 })), customer: null };
    const data = { ...previousData, amount: 6, tags: ["a"] };
    const { id } = previousData as unknown as { id: number };
    const updated = await provider.update("orders", { id, data, previousData });
    expect(updated.data).toMatchObject({ id, amount: 6, tags: ["a"], order_no: "N-2" });
    expect(sent.at(-1)!.body).toEqual({ id, amount: 6, tags: ["a"] });
    const same = await provider.update("orders", {
      id,
      data: updated.data,
      previousData: updated.data,
    });
    expect(same.data).toEqual(updated.data);
  });

  test("has the messages of fields in body.errors, and one for the form", async () => {
    const error = await failure(provider.create("orders", { data: { order_no: "", amount: -1 } }));
    expect(error).toMatchObject({ status: 400, body: { error: "Validation failed" } });
    const errors = error.body!["errors"] as Record<string, unknown>;
    expect(errors).toEqual({
      order_no: expect.stringContaining("required"),
      amount: expect.stringContaining("0"),
      root: { serverError: error.message },
    });
  });

  test("says at its field that a value is taken, or that a field is unknown", async () => {
    const taken = await failure(provider.create("orders", { data: { order_no: "A-1" } }));
    expect(taken).toMatchObject({
      status: 409,
      body: { errors: { order_no: expect.any(String) } },
    });
    const unknown = await failure(provider.create("orders", { data: { order_no: "Z", pric: 1 } }));
    expect(unknown).toMatchObject({ status: 400, message: expect.stringContaining("pric") });
  });

  test.each([
    { resource: "order-lines", id: "A-1,1", change: { line_no: 7 } },
    { resource: "order-lines", id: "A-1,1", change: { id: "A-1,7" } },
    { resource: "orders", id: 1, change: { id: 77 } },
    { resource: "customers", id: "a", change: { id: null } },
  ])("does not change the key of $resource by $change", async ({ resource, id, change }) => {
    const previousData = (await provider.getOne(resource, { id })).data;
    const data = { ...previousData, ...change };
    const error = await failure(provider.update(resource, { id, data, previousData }));
    const [field = ""] = Object.keys(change);
    expect(error.body).toMatchObject({ errors: { [field]: "cannot be changed" } });
    expect(paths()).toEqual([`${resource}/first`]);
  });

  test("sends times of a form, which name no zone, as those of the page", async () => {
    const form = { order_no: "N-5", tags: ["2026-01-05T10:15"], updated_at: "2026-01-05T10:15" };
    const data = { ...form, updated_at: new Date(form.updated_at).toISOString() };
    const made = await newOrder(form);
    expect(sent.at(-1)!.body).toEqual(data);
    await provider.update("orders", { id: made["id"] as number, data: form });
    expect(sent.at(-1)!.body).toEqual({ id: made["id"], ...data });
    await provider.updateMany("orders", { ids: [made["id"] as number], data: form });
    expect(sent.at(-1)!.body).toEqual({ id: made["id"], ...data });
    const days = ["2026-01-05T10:15:20", "2026-01-06", "2026-13-05T10:15"];
    const filter = { updated_at: form.updated_at, updated_at_in: days };
    await failure(provider.getList("orders", { ...page(), filter }));
    const asked = sent.at(-1)!.body["where"] as { conditions: { value: unknown }[] };
    const instants = [new Date(days[0]!).toISOString(), days[1], days[2]];
    expect(asked.conditions.map(({ value }) => value)).toEqual([data.updated_at, instants]);
  });

  test("by a key of several columns creates, updates and deletes one record", async () => {
    const line = { order_no: "A-4", line_no: 3, goods: "Cap", qty: 1 };
    const { data } = await provider.create("order-lines", { data: line });
    expect(data["id"]).toBe("A-4,3");
    const params = { id: "A-4,3", previousData: data };
    const updated = await provider.update("order-lines", { ...params, data: { ...data, qty: 2 } });
    expect(updated.data).toEqual({ ...data, qty: 2 });
    expect((await provider.delete("order-lines", params)).data).toEqual(updated.data);
    expect(await failure(provider.delete("order-lines", params))).toMatchObject({ status: 404 });
  });

  test("with versions is refused when somebody else changed the record", async () => {
    provider = providerWith({ versions: true });
    const made = await newOrder({ order_no: "N-3", amount: 1 });
    const id = made["id"] as number;
    const { data: previousData } = await provider.getOne("orders", { id });
    expect(previousData["_version"]).toBe(made["_version"]);
    const listed = await provider.getList("orders", { filter: { id } });
    expect(listed.data).toEqual([previousData]);
    const change = (amount: number) => ({ id, previousData, data: { ...previousData, amount } });
    const { data } = await provider.update("orders", change(2));
    expect(data["_version"]).not.toBe(previousData["_version"]);
    expect(await failure(provider.update("orders", change(3)))).toMatchObject({ status: 412 });
    const stale = failure(provider.delete("orders", { id, previousData }));
    expect(await stale).toMatchObject({ status: 412 });
    const meta = { version: data["_version"] };
    expect((await provider.update("orders", { ...change(4), meta })).data).toMatchObject({
      amount: 4,
    });
    expect((await provider.getOne("orders", { id })).data).not.toHaveProperty("customer");
  });

  test("without versions overwrites", async () => {
    const previousData = await newOrder({ order_no: "N-4", amount: 1 });
    const id = previousData["id"] as number;
    await provider.update("orders", { id, previousData, data: { amount: 2 } });
    const { data } = await provider.update("orders", { id, previousData, data: { amount: 3 } });
    expect(data).toMatchObject({ amount: 3 });
    expect(sent.at(-1)!.headers.get("If-Match")).toBeNull();
  });

  test("of many records changes and deletes each", async () => {
    const ids = [];
    for (const order_no of ["M-1", "M-2", "M-3"])
      ids.push((await newOrder({ order_no }))["id"] as number);
    expect(await provider.updateMany("orders", { ids, data: { amount: 9 } })).toEqual({
      data: ids,
    });
    const { data } = await provider.getMany("orders", { ids });
    expect(data.map(({ amount }) => amount)).toEqual([9, 9, 9]);
    expect(await provider.deleteMany("orders", { ids })).toEqual({ data: ids });
    expect((await provider.getMany("orders", { ids })).data).toEqual([]);
    expect(await provider.deleteMany("orders", { ids: [] })).toEqual({ data: [] });
  });

  test("of many records is one request where the endpoint has the bulk actions", async () => {
    const ids = [];
    for (const order_no of ["O-1", "O-2"]) ids.push((await newOrder({ order_no }))["id"] as number);
    sent = [];
    provider = providerWith();
    expect(await provider.updateMany("bulk-orders", { ids, data: { amount: 9 } })).toEqual({
      data: ids,
    });
    expect(sent.at(-1)!.body).toEqual({ data: ids.map((id) => ({ id, amount: 9 })) });
    expect(await provider.deleteMany("bulk-orders", { ids })).toEqual({ data: ids });
    expect(sent.at(-1)!.body).toEqual({ keys: ids.map((id) => ({ id })) });
    expect(paths()).toEqual(["bulk-orders/bulk-update", "bulk-orders/bulk-delete"]);
  });

  test("of many records comes in parts where the project takes fewer in one request", async () => {
    const small = await openAdminPages({ limits: { bulkRecords: 2 } });
    try {
      provider = providerWith({ fetch: recordingFetch(small, sent) });
      const ids = [1, 2, 4];
      await provider.updateMany("bulk-orders", { ids, data: { amount: 9 } });
      await small.sql("DELETE FROM order_lines");
      await provider.deleteMany("bulk-orders", { ids });
      expect(sent.flatMap(({ body }) => body["data"] ?? body["keys"] ?? []).length).toBe(6);
      const [update, remove] = ["bulk-orders/bulk-update", "bulk-orders/bulk-delete"];
      expect(paths()).toEqual([update, update, remove, remove]);
    } finally {
      await small.close();
    }
  });

  test("of many records says how many failed", async () => {
    const { id } = (await newOrder({ order_no: "M-4" })) as { id?: number };
    const ids = [9998, id!, 9999];
    const error = await failure(provider.updateMany("orders", { ids, data: { amount: 8 } }));
    expect(error).toMatchObject({
      status: 404,
      message: expect.stringMatching(/^2 of 3 failed: /),
    });
    expect((await provider.getOne("orders", { id: id! })).data).toMatchObject({ amount: 8 });
  });
});

describe("a request", () => {
  test("has the credentials and headers of now", async () => {
    let token = "one";
    provider = providerWith({
      token: () => token,
      apiKey: async () => "key",
      headers: { "X-Request-Id": "abc" },
    });
    await provider.getOne("orders", { id: 1 });
    token = "two";
    await provider.getOne("orders", { id: 1, meta: { headers: { "X-Lock-Token": "lock" } } });
    const names = ["Authorization", "X-Api-Key", "X-Request-Id", "X-Lock-Token"];
    expect(sent.map(({ headers }) => names.map((name) => headers.get(name)))).toEqual([
      ["Bearer one", "key", "abc", null],
      ["Bearer one", "key", "abc", null],
      ["Bearer two", "key", "abc", null],
      ["Bearer two", "key", "abc", "lock"],
    ]);
  });

  test("of another user has the fields that this user sees", async () => {
    const roles = ["clerk", "manager"];
    const shop = await openFixture({
      tables: [{ name: "notes", columns: { id: "key", name: "text(20)", more: "json" } }],
      endpoints: {
        notes: {
          tableName: "notes",
          action: { first: true, create: true },
          access: { clerk: "*", manager: "*" },
          hiddenFields: { clerk: ["more"] },
        },
      },
      project: { auth: { apiKeys: roles.map((id) => ({ id, sha256: sha256(id), roles: [id] })) } },
    });
    let apiKey = "clerk";
    let requests = 0;
    provider = providerWith({
      fetch: recordingFetch(shop, sent),
      apiKey: () => apiKey,
      headers: () => ({ "X-Request-Id": String(requests++) }),
    });
    const create = async (id: string) =>
      (await provider.create("notes", { data: { id, name: id, more: { size: 1 } } })).data;
    expect(await create("a")).toEqual({ id: "a", name: "a" });
    apiKey = "manager";
    expect(await create("b")).toEqual({ id: "b", name: "b", more: { size: 1 } });
    expect(await create("c")).toEqual({ id: "c", name: "c", more: { size: 1 } });
    await shop.close();
    expect(sent.filter(({ path }) => path === "notes/openapi.json")).toHaveLength(2);
  });

  test("asks for the document of an endpoint once, and again after a failure", async () => {
    await Promise.all([1, 2].map((id) => provider.getOne("orders", { id })));
    expect(sent.filter(({ path }) => path === "orders/openapi.json")).toHaveLength(1);
    let isAway = true;
    const away = providerWith({
      fetch: async (input, init) => {
        if (isAway) throw new TypeError("fetch failed");
        return recordingFetch(fixture, [])(input, init);
      },
    });
    await expect(away.getOne("orders", { id: 1 })).rejects.toThrow("fetch failed");
    isAway = false;
    expect((await away.getOne("orders", { id: 1 })).data).toMatchObject({ order_no: "A-1" });
  });

  test("is aborted by its signal", async () => {
    const signal = AbortSignal.abort();
    const aborted = providerWith({
      fetch: async (input, init) => {
        init?.signal?.throwIfAborted();
        return recordingFetch(fixture, [])(input, init);
      },
    });
    const error = await failure(aborted.getList("orders", { signal }));
    expect(error.name).toBe("AbortError");
  });

  test("that a proxy refuses is an error with its status", async () => {
    const refused = providerWith({
      fetch: async () => new Response("<h1>Bad gateway</h1>", { status: 502 }),
    });
    const error = await failure(refused.getList("orders", {}));
    expect(error).toMatchObject({ status: 502, message: expect.stringContaining("Bad gateway") });
  });
});
