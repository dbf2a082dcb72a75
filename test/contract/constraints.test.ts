/** A value that a database constraint refuses is reported with its field and the right error. */
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { check, record } from "./cases.ts";
import { type Fixture, openFixture } from "./harness.ts";

const engine = inject("engine");

const refused = (errors: Record<string, string[]>) => ({
  status: 400,
  error: "Validation failed",
  errors,
});

// Only PostgreSQL has exclusion constraints, domains and GENERATED ALWAYS AS IDENTITY.
describe.runIf(engine === "postgres")("constraints of PostgreSQL", () => {
  let service: Fixture;
  beforeAll(async () => {
    service = await openFixture({
      tables: [],
      setUp: () => [
        "create extension if not exists btree_gist",
        "create domain short_code as text check (length(value) <= 5)",
        "create domain upper_code as short_code constraint in_capitals check (value = upper(value))",
        "create table bookings (id varchar(36) primary key, room int, during int4range, note text, exclude using gist (room with =, during with &&))",
        "create table coded (id varchar(36) primary key, code upper_code, other upper_code, name text, low int, high int, constraint in_order check (low < high))",
        "create table numbered (id int generated always as identity primary key, place int generated always as identity, name text)",
      ],
      endpoints: {
        bookings: { tableName: "bookings", action: { create: true, update: true } },
        coded: { tableName: "coded", action: { create: true, update: true } },
        numbered: { tableName: "numbered", action: { create: true, update: true } },
      },
    });
  });
  afterAll(() => service.close());

  test("an exclusion constraint names its fields, and is no duplicate", async () => {
    const booking = { room: 1, during: "[1,5)", note: "a" };
    await service.post("bookings/create", booking);
    check(
      await service.post("bookings/create", { ...booking, during: "[4,9)" }),
      refused({
        room: ["conflicts with another record"],
        during: ["conflicts with another record"],
      }),
    );
  });

  test.each([
    ["the check of its own", { code: "abc", name: "x" }],
    ["the check of the domain below", { code: "ABCDEF", name: "x" }],
  ])("a domain names the written field: %s", async (_, body) => {
    const { id } = record(await service.post("coded/create", { code: "A", name: "x" }));
    const expected = refused({ code: ["is not allowed by the database"] });
    check(await service.post("coded/create", body), expected);
    check(await service.post("coded/update", { id, ...body }), expected);
  });

  test("a check over several columns names them", async () => {
    check(
      await service.post("coded/create", { code: "A", low: 2, high: 1, name: "x" }),
      refused({
        low: ["is not allowed by the database"],
        high: ["is not allowed by the database"],
      }),
    );
  });

  test("a key that is GENERATED ALWAYS cannot be sent", async () => {
    check(
      await service.post("numbered/create", { id: 7, name: "x" }),
      refused({ id: ["is made by the database and cannot be set"] }),
    );
  });

  test("another column that is GENERATED ALWAYS is ignored, as all that is never written", async () => {
    const created = await service.post("numbered/create", { place: 99, name: "x" });
    expect(created.status, JSON.stringify(created.body)).toBe(201);
    const { id, place } = record(created);
    expect(place).not.toBe(99);
    const updated = await service.post("numbered/update", { id, place: 98, name: "y" });
    expect(record(updated)).toEqual({ id, place, name: "y" });
  });
});

/** Checks with names and without, of a column and of the table. */
const checked = {
  sqlite: `create table coded (id varchar(36) primary key, low int, high int check ( high < 100 and 'low' <> '(' ), "the ""code" text, name text,
    length int constraint [long (enough)] check (length > 0 or length is null), -- constraint none check (id)
    constraint in_order check (low < high), check (length("the ""code") < 4 /* name */))`,
  mysql: `create table coded (id varchar(36) primary key, low int, high int check ( high < 100 and 'low' <> '(' ), \`the "code\` text, name text,
    length int check (length > 0 or length is null),
    constraint in_order check (low < high), check (char_length(\`the "code\`) < 4 /* name */))`,
};

describe.skipIf(engine === "postgres")("a check of a table", () => {
  let service: Fixture;
  beforeAll(async () => {
    service = await openFixture({
      tables: [],
      setUp: (name) => [checked[name as keyof typeof checked]],
      endpoints: { coded: { tableName: "coded", action: { create: true, update: true } } },
    });
  });
  afterAll(() => service.close());

  test.each<[object, string[]]>([
    [{ low: 2, high: 1 }, ["low", "high"]],
    [{ low: 2, high: 100 }, ["high"]],
    [{ length: -1 }, ["length"]],
    [{ 'the "code': "abcd" }, ['the "code']],
  ])("names the fields of %j", async (body, fields) => {
    const expected = refused(
      Object.fromEntries(fields.map((field) => [field, ["is not allowed by the database"]])),
    );
    const { id } = record(await service.post("coded/create", { name: "x" }));
    check(await service.post("coded/create", { name: "x", ...body }), expected);
    check(await service.post("coded/update", { id, name: "x", ...body }), expected);
  });
});

// MySQL refuses SET NULL on such a column when the table is created.
describe.skipIf(engine === "mysql")("a reference that SET NULL would make null", () => {
  let service: Fixture;
  beforeAll(async () => {
    service = await openFixture({
      tables: [],
      setUp: () => [
        "create table owners (id integer primary key, pet integer)",
        "create table pets (id integer primary key, owner integer not null references owners on delete set null)",
        "insert into owners values (1, 1)",
        "insert into pets values (1, 1)",
      ],
      endpoints: { owners: { tableName: "owners", action: { delete: true, first: true } } },
      project: { cache: { enabled: false } },
    });
  });
  afterAll(() => service.close());

  test("keeps the record, as any reference does", async () => {
    const where = [{ key: "id", value: 1 }];
    check(await service.post("owners/delete", { where }), {
      status: 409,
      error: "Foreign key constraint",
    });
    expect(record(await service.post("owners/first", { where }))).toEqual({ id: 1, pet: 1 });
  });
});

describe("a reference", () => {
  let service: Fixture;
  beforeAll(async () => {
    service = await openFixture({
      tables: [
        {
          name: "owners",
          columns: {
            id: "key",
            code: { type: "text(36)", unique: true },
            boss_id: { type: "text(36)", references: "owners" },
          },
        },
        {
          name: "pets",
          columns: {
            id: "key",
            owner_code: { type: "text(36)", references: { table: "owners", column: "code" } },
          },
        },
      ],
      setUp: () => [
        "insert into owners (id, code) values ('a', 'A')",
        "insert into pets (id, owner_code) values ('p', 'A')",
      ],
      endpoints: {
        owners: {
          tableName: "owners",
          action: { update: true, "bulk-update": true, upsert: true, workflow: true },
          workflow: { statusField: "code" },
        },
        pets: { tableName: "pets", action: { update: true } },
      },
    });
  });
  afterAll(() => service.close());

  const inUse = { status: 409, error: "Foreign key constraint" };
  const missing = { status: 400, error: "Foreign key constraint" };
  const unknown = ["does not exist"];
  test.each([
    ["from others to what an update changes", "owners/update", { id: "a", code: "Z" }, inUse],
    ["of a bulk-update", "owners/bulk-update", { data: [{ id: "a", code: "Z" }] }, inUse],
    ["of an upsert", "owners/upsert", { data: { id: "a", code: "Z" } }, inUse],
    ["of a change of status", "owners/change-status", { id: "a", status: "Z" }, inUse],
    [
      "to nothing within the table",
      "owners/update",
      { id: "a", boss_id: "z" },
      { ...missing, errors: { boss_id: unknown } },
    ],
    [
      "to nothing in another table",
      "pets/update",
      { id: "p", owner_code: "z" },
      { ...missing, errors: { owner_code: unknown } },
    ],
  ])("%s is told from others", async (_, path, body, refusal) => {
    check(await service.post(path, body), refusal);
  });
});

describe("a reference without its row", () => {
  let service: Fixture;
  const references = { table: "places", column: "id" } as const;
  const bulk = { "bulk-create": true, "bulk-update": true, upsert: true };
  const writing = { create: true, update: true, ...bulk };
  beforeAll(async () => {
    service = await openFixture({
      tables: [
        { name: "places", columns: { id: "key" } },
        {
          name: "trips",
          columns: {
            id: "key",
            start: { type: "text(36)", references },
            stop: { type: "text(36)", references },
            parent: { type: "text(36)", references: "trips" },
          },
        },
      ],
      endpoints: {
        places: { tableName: "places", action: { create: true } },
        trips: { tableName: "trips", action: writing },
      },
    });
    await service.post("places/create", { id: "here" });
    await service.post("trips/create", { id: "t" });
  });
  afterAll(() => service.close());

  test.each([
    ["create", { start: "nowhere", stop: null }, "start"],
    ["create", { start: null, stop: "nowhere" }, "stop"],
    ["create", { stop: "nowhere" }, "stop"],
    ["update", { id: "t", start: "nowhere", stop: null }, "start"],
    ["bulk-create", { data: [{ start: null, stop: "here" }, { stop: "nowhere" }] }, "[1].stop"],
    ["create", { start: "here", stop: "nowhere" }, "stop"],
    ["create", { start: "nowhere", stop: "here" }, "start"],
    ["create", { id: "own", start: "nowhere", stop: "here", parent: "own" }, "start"],
    ["create", { start: "here", stop: "here", parent: "none" }, "parent"],
    ["update", { id: "t", start: "here", stop: "nowhere" }, "stop"],
    ["bulk-create", { data: [{ stop: "here" }, { start: "here", stop: "nowhere" }] }, "[1].stop"],
    ["bulk-update", { data: [{ id: "t", start: "here", stop: "nowhere" }] }, "[0].stop"],
    ["upsert", { data: { id: "t", start: "here", stop: "nowhere" } }, "[0].stop"],
  ])("is named, whatever the others are: %s %j", async (action, body, field) => {
    check(await service.post(`trips/${action}`, body), {
      status: 400,
      error: "Foreign key constraint",
      errors: { [field]: ["does not exist"] },
    });
  });
});
