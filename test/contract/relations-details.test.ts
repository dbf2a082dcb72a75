/** Related records to the letter: messages and bounds, keys of several columns, documents, ETags, default scopes. */
import { describe, expect, test } from "vitest";
import { type Answer, openFixture, openForTests } from "./harness.ts";
import { openTrade } from "./trade.ts";

const trade = openForTests(openTrade);

const as = (role?: string): Record<string, string> =>
  role === undefined ? {} : { "x-role": role };
const when = (...conditions: object[]) => ({ where: { conditions } });
const any = (key: string, ...conditions: object[]) => ({
  key,
  operator: "ANY",
  ...when(...conditions),
});
const is = (key: string, value: unknown) => ({ key, operator: "=", value });
const quantities = (count: number): object[] =>
  Array.from({ length: count }, (_, at) => is("qty", at));
const bosses = (count: number): object =>
  count === 0 ? is("name", "Ada") : any("boss", bosses(count - 1));
const count = { function: "count", field: "*" };

describe("refused, with its message", () => {
  const cases: [path: string, body: object, error: string, message: string, role?: string][] = [
    ["read", { select: ["buyer.*"] }, "Invalid field", 'Unknown column "buyer.*" in select'],
    ["read", { select: ["lines.*"] }, "Invalid field", 'Unknown column "lines.*" in select'],
    ["read", { select: [".name"] }, "Invalid field", 'Unknown column ".name" in select'],
    [
      "read",
      { search_value: "x", search_by: "lines.note" },
      "Invalid field",
      'Unknown column "lines.note" in search_by',
    ],
    [
      "read",
      when({ key: "lines", operator: "ALL", where: null }),
      "Invalid payload",
      "Operator ALL needs a where",
    ],
    [
      "read",
      when({ key: "lines", operator: "ANY", where: {} }),
      "Invalid payload",
      "where must be an object with a conditions array and a logic of AND or OR",
    ],
    [
      "read",
      when({ key: "lines", operator: "ANY", where: "x" }),
      "Invalid payload",
      "where must be an object with a conditions array and a logic of AND or OR",
    ],
    ["read", when(is("lines", 1)), "Invalid field", 'Unknown column "lines" in where'],
    [
      "read",
      when(any("linez")),
      "Invalid field",
      'Unknown relation "linez" in where; did you mean "lines"?',
    ],
    [
      "read",
      when(any("lines.product")),
      "Invalid field",
      'Unknown relation "lines.product" in where',
    ],
    [
      "read",
      when(any("lines", is("qti", 1))),
      "Invalid field",
      'Unknown column "qti" in where; did you mean "qty"?',
    ],
    [
      "read",
      when(any("lines", { logic: "OR", conditions: quantities(100) })),
      "Invalid payload",
      "where takes at most 100 conditions",
    ],
    [
      "read",
      when(any("customer", bosses(4))),
      "Invalid payload",
      "where is nested deeper than 5 groups",
    ],
    [
      "read",
      { expand: ["line"] },
      "Invalid field",
      'Unknown relation "line" in expand; did you mean "lines"?',
    ],
    [
      "read",
      { expand: { customer: { expand: ["order"] } } },
      "Invalid field",
      'Unknown relation "customer.order" in expand',
    ],
    [
      "read",
      { expand: ["constructor"] },
      "Invalid field",
      'Unknown relation "constructor" in expand',
    ],
    ["read", { expand: ["order_no"] }, "Invalid parameter", '"order_no" in expand is no relation'],
    [
      "read",
      { expand: [1] },
      "Invalid parameter",
      "expand must be an array of relations, or an object of them with their options",
    ],
    [
      "read",
      { expand: { lines: [] } },
      "Invalid parameter",
      "The options of an expanded relation must be an object",
    ],
    ...[0, -1, 1.5, 1001, "10", true].map((limit): [string, object, string, string] => [
      "read",
      { expand: { lines: { limit } } },
      "Invalid parameter",
      "limit must be a whole number from 1 to 1000",
    ]),
    ...["where", "limit", "sort_columns", "operations"].map(
      (name): [string, object, string, string] => [
        "first",
        { where: is("id", "o1"), expand: { customer: { [name]: [] } } },
        "Invalid parameter",
        `customer leads to one record, so it takes no ${name}`,
      ],
    ),
    ...["select", "sort_columns", "limit", "expand"].map(
      (name): [string, object, string, string] => [
        "read",
        { expand: { lines: { operations: [count], [name]: [] } } },
        "Invalid parameter",
        `lines has operations, so it takes no ${name}`,
      ],
    ),
    [
      "read",
      { expand: { lines: { operations: [{ function: "median", field: "qty" }] } } },
      "Invalid parameter",
      "function must be one of: count, countDistinct, sum, avg, min, max",
    ],
    [
      "read",
      { expand: { lines: { expand: { product: { expand: ["tags"] } } } } },
      "Invalid parameter",
      "expand nests at most 2 levels",
    ],
    [
      "read",
      {
        expand: {
          customer: { expand: ["city", "boss", "staff", "orders"] },
          writer: { expand: ["city", "boss", "staff", "orders"] },
          lines: {},
        },
      },
      "Invalid parameter",
      "expand takes at most 10 relations",
    ],
    [
      "delete",
      { where: [{ key: "customer", value: "x" }] },
      "Invalid field",
      'Unknown column "customer" in where',
    ],
    [
      "aggregate",
      { operations: [{ function: "count", field: "lines" }] },
      "Invalid field",
      'Unknown column "lines" in operations',
    ],
  ];
  test.each(cases)("%s of %j", async (action, body, error, message, role) => {
    const answer = await trade.post(`orders/${action}`, body, as(role));
    expect(answer).toMatchObject({ status: 400, body: { success: false, error, message } });
  });
});

describe("taken", () => {
  const cases: [name: string, path: string, body: object, data: unknown][] = [
    [
      "four relations",
      "order-lines/read",
      { select: ["order.customer.boss.city.name"], ...when(is("id", "l3")) },
      [{ order: { customer: { boss: { city: { name: "Oslo" } } } } }],
    ],
    [
      "all own columns beside a path",
      "products/read",
      { select: ["*"], ...when(is("id", "p1")) },
      [{ id: "p1", name: "Pen", price: 1.5 }],
    ],
    [
      "all own columns of a list beside a path",
      "orders/read",
      {
        select: ["id"],
        expand: { lines: { select: ["*", "product.name"] } },
        ...when(is("id", "o2")),
      },
      [
        {
          id: "o2",
          lines: [
            {
              id: "l3",
              order_id: "o2",
              product_id: "p1",
              qty: null,
              note: null,
              product: { name: "Pen" },
            },
          ],
        },
      ],
    ],
    [
      "100 conditions, that on many among them",
      "orders/read",
      { select: ["id"], ...when(any("lines", { logic: "OR", conditions: quantities(98) })) },
      [{ id: "o1" }, { id: "o5" }],
    ],
    ["five levels", "customers/read", { select: ["id"], ...when(bosses(4)) }, []],
    [
      "an operator in any case, and ALL that nothing contradicts",
      "orders/read",
      {
        select: ["id"],
        ...when(is("id", "o3"), { key: "lines", operator: "All", ...when(is("qty", 9)) }),
      },
      [{ id: "o3" }],
    ],
    [
      "a relation twice in a list of names",
      "orders/read",
      { select: ["id"], expand: ["customer", "customer"], ...when(is("id", "o3")) },
      [{ id: "o3", customer: null }],
    ],
    [
      "no relation",
      "orders/read",
      { select: ["id"], expand: [], ...when(is("id", "o3")) },
      [{ id: "o3" }],
    ],
    [
      "options that are null",
      "orders/read",
      {
        select: ["id"],
        expand: { lines: { select: ["id"], where: null, limit: null, operations: null } },
        ...when(is("id", "o2")),
      },
      [{ id: "o2", lines: [{ id: "l3" }] }],
    ],
  ];
  test.each(cases)("%s", async (_, path, body, data) => {
    const answer = await trade.post(path, body);
    expect(answer.body).toMatchObject({ success: true });
    expect(answer.body.data).toEqual(data);
  });

  test("records without select are what they were", async () => {
    const { body } = await trade.post("orders/read", { limit: 1 });
    expect(Object.keys(body.data[0])).toEqual([
      "id",
      "order_no",
      "placed_on",
      "amount",
      "customer_id",
      "customer_email",
    ]);
  });
});

describe("rights", () => {
  test("a relation over records in between needs both", async () => {
    const ask = (role: string) => trade.post("products/read", { expand: ["tags"] }, as(role));
    expect((await ask("blind")).status).toBe(200);
    expect(await ask("untagged")).toMatchObject({ status: 400, body: { error: "Invalid field" } });
    expect((await trade.post("tags/read", { limit: 9 }, as("untagged"))).status).toBe(200);
  });

  const near: [ask: (name: string) => object, name: string, role: string][] = [
    [(name) => ({ select: [`${name}.name`] }), "custome", "outsider"],
    [(name) => ({ expand: [name] }), "custome", "outsider"],
    [(name) => when(any(name)), "custome", "outsider"],
    [(name) => ({ sort_columns: [{ column: name }] }), "customer.emai", "blind"],
    [(name) => ({ expand: { customer: { select: [name] } } }), "emai", "blind"],
  ];
  test.each(near)("no hint names what the caller may not use (%#)", async (ask, name, role) => {
    const { status, body } = await trade.post("orders/read", ask(name), as(role));
    expect(status).toBe(400);
    expect(body.message).not.toMatch(/did you mean "(customer"|.*email\b(?<!customer_email))/);
  });
});

describe("ETags", () => {
  const first = (body: object): Promise<Answer> =>
    trade.post("orders/first", { where: is("id", "o1"), ...body });
  test("are those of the record itself", async () => {
    const tag = (await first({})).headers.get("etag");
    const expand = { customer: {}, lines: {} };
    expect((await first({ expand })).headers.get("etag")).toBe(tag);
    await trade.post("customers/update", { id: "a", credit: 99 });
    await trade.post("order-lines/update", { id: "l1", note: "new" });
    expect((await first({ expand, select: ["customer.name"] })).headers.get("etag")).toBe(tag);
    const { body } = await first({ expand, versions: true });
    expect(body.data._version).toBe(tag);
    expect(body.data.customer).not.toHaveProperty("_version");
    expect(body.data.lines[0]).not.toHaveProperty("_version");
    const matched = { "if-match": tag! };
    const update = await trade.post("orders/update", { id: "o1", amount: 11 }, matched);
    expect(update.status).toBe(200);
    expect((await first({ expand })).headers.get("etag")).not.toBe(tag);
  });
});

const hotel = openForTests(openFixture, {
  tables: [
    {
      name: "rooms",
      columns: {
        house: { type: "integer", notNull: true },
        door: { type: "integer", notNull: true },
        size: "integer",
      },
      primaryKey: ["house", "door"],
    },
    { name: "beds", columns: { id: "key", door_no: "integer", house_no: "integer" } },
    {
      name: "guests",
      columns: {
        id: "key",
        code: { type: "text(20)", unique: true, notNull: true },
        name: "text(20)",
        is_away: "boolean",
        is_deleted: "boolean",
      },
    },
    { name: "stays", columns: { id: "key", title: "text(20)", guest_code: "text(20)" } },
    {
      name: "stay_nights",
      columns: {
        id: "key",
        stay_id: { type: "text(36)", references: { table: "stays", column: "id" } },
        bed_id: "text(36)",
      },
    },
  ],
  setUp: (engine) => {
    const [no, yes] = engine === "sqlite" ? ["0", "1"] : ["false", "true"];
    return [
      "insert into rooms values (1, 1, 20), (1, 2, 30), (2, 1, 40)",
      "insert into beds values ('b1', 1, 1), ('b2', 2, 1), ('b3', 1, 2), ('b4', 1, 1), ('b5', 1, null)",
      `insert into guests values ('g1', 'ann', 'Ann', ${yes}, ${no}), ('g2', 'bob', 'Bob', ${no}, ${no}), ('g3', 'cid', 'Cid', ${no}, ${yes})`,
      "insert into stays values ('s1', 'one', 'ann'), ('s2', 'two', 'bob'), ('s3', 'three', null), ('s4', 'four', 'cid'), ('s5', 'five', 'bob')",
      "insert into stay_nights values ('n1', 's1', 'b1'), ('n2', 's1', 'b2'), ('n3', 's2', 'b1')",
    ];
  },
  endpoints: {
    rooms: {
      tableName: "rooms",
      action: { read: true, first: true },
      relations: { beds: { endpoint: "beds", foreignColumn: ["house_no", "door_no"] } },
    },
    beds: {
      tableName: "beds",
      action: { read: true, first: true, aggregate: true, "bulk-update": true },
      relations: { room: { endpoint: "rooms", column: ["house_no", "door_no"] } },
    },
    guests: {
      tableName: "guests",
      action: { read: true, first: true, create: true, update: true, delete: true, restore: true },
      softDelete: true,
      defaultScope: { read: { is_away: false } },
      relations: { stays: { endpoint: "stays", foreignColumn: "guest_code", key: "code" } },
    },
    stays: {
      tableName: "stays",
      action: {
        read: true,
        first: true,
        create: true,
        update: true,
        delete: true,
        "read-composite": true,
      },
      masterDetail: {
        detailTable: "stay_nights",
        foreignKey: "stay_id",
        detailConfig: { primaryKey: "id" },
      },
      relations: {
        guest: { endpoint: "guests", column: "guest_code", key: "code" },
        stay_nights: { endpoint: "nights", foreignColumn: "stay_id" },
        nights: { endpoint: "nights", foreignColumn: "stay_id" },
        old: false,
      },
    },
    // A relation to one has the name of the details.
    visits: {
      tableName: "stays",
      action: { read: true, "read-composite": true },
      masterDetail: {
        detailTable: "stay_nights",
        foreignKey: "stay_id",
        detailConfig: { primaryKey: "id" },
      },
      relations: { stay_nights: { endpoint: "guests", column: "guest_code", key: "code" } },
    },
    nights: {
      tableName: "stay_nights",
      action: { read: true },
      relations: {
        stay: { endpoint: "stays", column: "stay_id" },
        bed: { endpoint: "beds", column: "bed_id" },
      },
    },
  },
  project: { requests: { unknown: "refuse" } },
});

describe("keys of several columns", () => {
  const cases: [name: string, path: string, body: object, answer: object][] = [
    [
      "to one",
      "beds/read",
      { select: ["id", "room.size"] },
      {
        data: [
          { id: "b1", room: { size: 20 } },
          { id: "b2", room: { size: 30 } },
          { id: "b3", room: { size: 40 } },
          { id: "b4", room: { size: 20 } },
          { id: "b5", room: null },
        ],
      },
    ],
    [
      "to many, with the keys of what was cut",
      "rooms/read",
      { select: ["size"], expand: { beds: { select: ["id"], limit: 1 } } },
      {
        data: [
          { size: 20, beds: [{ id: "b1" }] },
          { size: 30, beds: [{ id: "b2" }] },
          { size: 40, beds: [{ id: "b3" }] },
        ],
        more: { beds: [{ house: 1, door: 1 }] },
      },
    ],
    [
      "to many behind to one, with the keys of the first level",
      "beds/read",
      {
        select: ["id"],
        expand: { room: { select: ["size"], expand: { beds: { select: ["id"], limit: 1 } } } },
        ...when(is("id", "b4")),
      },
      {
        data: [{ id: "b4", room: { size: 20, beds: [{ id: "b1" }] } }],
        more: { "room.beds": [{ house: 1, door: 1 }] },
      },
    ],
    [
      "to many behind to one, by another column than the key that tells what was cut",
      "stays/read",
      {
        select: ["title"],
        expand: { guest: { select: ["name"], expand: { stays: { select: ["id"], limit: 1 } } } },
        ...when(is("id", "s5")),
      },
      {
        data: [{ title: "five", guest: { name: "Bob", stays: [{ id: "s2" }] } }],
        more: { "guest.stays": ["g2"] },
      },
    ],
    [
      "figures",
      "rooms/read",
      { select: ["size"], expand: { beds: { operations: [{ ...count, alias: "n" }] } } },
      {
        data: [
          { size: 20, beds: { n: 2 } },
          { size: 30, beds: { n: 1 } },
          { size: 40, beds: { n: 1 } },
        ],
      },
    ],
    [
      "a condition",
      "rooms/read",
      { select: ["size"], ...when(any("beds", is("room.size", 40))) },
      { data: [{ size: 40 }] },
    ],
    [
      "groups",
      "beds/aggregate",
      { group_by: ["room.house"], operations: [{ ...count, alias: "n" }] },
      {
        data: [
          { "room.house": null, n: 1 },
          { "room.house": 1, n: 3 },
          { "room.house": 2, n: 1 },
        ],
      },
    ],
  ];
  test.each(cases)("%s", async (_, path, body, answer) => {
    const { body: got } = await hotel.post(path, body);
    expect({ data: got.data, ...(got.more && { more: got.more }) }).toEqual(answer);
  });
});

describe("first and read-composite", () => {
  const nights = (...names: string[]) => names.map((id) => ({ id }));
  const cases: [name: string, path: string, body: object, answer: object][] = [
    [
      "first tells what was cut",
      "stays/first",
      {
        where: is("id", "s1"),
        select: ["title"],
        expand: { nights: { select: ["id"], limit: 1 } },
      },
      { data: { title: "one", nights: nights("n1") }, more: { nights: ["s1"] } },
    ],
    [
      "a document expands relations beside its details",
      "stays/read-composite",
      {
        where: [{ key: "guest.name", value: "Bob" }],
        expand: { guest: { select: ["name"] }, nights: { select: ["id", "bed.house_no"] } },
      },
      {
        data: {
          id: "s2",
          title: "two",
          guest_code: "bob",
          guest: { name: "Bob" },
          nights: [{ id: "n3", bed: { house_no: 1 } }],
          stay_nights: [{ id: "n3", stay_id: "s2", bed_id: "b1" }],
        },
      },
    ],
    [
      "a relation with the name of the details takes their place",
      "stays/read-composite",
      {
        where: [{ key: "id", value: "s1" }],
        expand: { stay_nights: { select: ["id"], limit: 1 } },
      },
      {
        data: { id: "s1", title: "one", guest_code: "ann", stay_nights: nights("n1") },
        more: { stay_nights: ["s1"] },
      },
    ],
    [
      "so does a relation to one",
      "visits/read-composite",
      { where: [{ key: "id", value: "s1" }], expand: { stay_nights: { select: ["name"] } } },
      { data: { id: "s1", title: "one", guest_code: "ann", stay_nights: { name: "Ann" } } },
    ],
    [
      "a document that is not there expands nothing",
      "stays/read-composite",
      { where: [{ key: "id", value: "x" }], expand: ["guest"] },
      { data: null },
    ],
  ];
  test.each(cases)("%s", async (_, path, body, answer) => {
    const { body: got } = await hotel.post(path, body);
    expect({ data: got.data, ...(got.more && { more: got.more }) }).toEqual(answer);
  });

  test("the ETag of a document is that of its header", async () => {
    const where = [{ key: "id", value: "s1" }];
    const plain = await hotel.post("stays/read-composite", { where });
    const more = await hotel.post("stays/read-composite", { where, expand: ["guest", "nights"] });
    expect(more.headers.get("etag")).toBe(plain.headers.get("etag"));
  });
});

describe("what does not narrow related records", () => {
  test("the default scope of their endpoint", async () => {
    const own = await hotel.post("guests/read", { select: ["name"] });
    expect(own.body.data).toEqual([{ name: "Bob" }]);
    const { body } = await hotel.post("stays/read", {
      select: ["id", "guest.name"],
      ...when({ key: "guest", operator: "ANY" }),
    });
    expect(body.data).toEqual([
      { id: "s1", guest: { name: "Ann" } },
      { id: "s2", guest: { name: "Bob" } },
      { id: "s5", guest: { name: "Bob" } },
    ]);
  });

  test("but soft delete does", async () => {
    const names = async () =>
      (await hotel.post("stays/read", { select: ["guest.name"], ...when(is("id", "s4")) })).body
        .data;
    expect(await names()).toEqual([{ guest: null }]);
    await hotel.post("guests/restore", { where: [{ key: "id", value: "g3" }] });
    expect(await names()).toEqual([{ guest: { name: "Cid" } }]);
    await hotel.post("guests/delete", { where: [{ key: "id", value: "g3" }] });
    expect(await names()).toEqual([{ guest: null }]);
  });
});

describe("writes take no paths", () => {
  const unknown = { "guest.name": "x" };
  const cases: [path: string, body: object, error: string][] = [
    ["stays/create", { id: "s9", title: "x", ...unknown }, "Invalid payload"],
    ["stays/create", { id: "s9", guest: { name: "x" } }, "Invalid payload"],
    ["stays/update", { id: "s1", title: "x", ...unknown }, "Invalid payload"],
    ["stays/delete", { where: [{ key: "guest.name", value: "Ann" }] }, "Invalid field"],
    ["guests/restore", { where: [{ key: "stays.title", value: "x" }] }, "Invalid field"],
    ["stays/read", { selct: [] }, "Invalid payload"],
    ["stays/read", { expand: { nights: { selct: [] } } }, "Invalid payload"],
    ["stays/read", { select: ["old.name"] }, "Invalid field"],
  ];
  test.each(cases)("%s with %j", async (path, body, error) => {
    const answer = await hotel.post(path, body);
    expect(answer).toMatchObject({ status: 400, body: { error } });
  });

  test.each([
    [is("room.size", 40), ["b3"]],
    [any("room", is("size", 40)), ["b3"]],
    [any("room.beds", is("id", "b1")), ["b1", "b4"]],
    [{ key: "room", operator: "NONE" }, ["b5"]],
  ])("but conditions of bulk-update do: %j", async (condition, ids) => {
    const body = { ...when(condition), set: { door_no: 1 }, expect: ids.length, dry_run: true };
    const answer = await hotel.post("beds/bulk-update", body);
    expect(answer.body, JSON.stringify(answer.body)).toMatchObject({ success: true });
    const other = await hotel.post("beds/bulk-update", { ...body, expect: ids.length + 1 });
    expect(other.status).toBe(409);
  });
});
