/** call: procedures of the database with values of requests and claims; on SQLite, which has none, a fault. */
import { describe, expect, inject, test } from "vitest";
import type { Callers } from "../../core/callers/callers.ts";
import { createLog } from "../../app/start/observing/log.ts";
import type { EngineName } from "../servers/session.ts";
import { check, checkEnvelope } from "./cases.ts";
import { type FixtureOptions, openFixture, openForTests } from "./harness.ts";

const engine = inject("engine");

const callers: Callers = {
  authenticate(headers) {
    const by = headers.get("x-by");
    const roles = [headers.get("x-role") ?? "clerk"];
    return { kind: "key", id: by ?? "nobody", roles, claims: by === null ? {} : { name: by } };
  },
};

const onPostgres = [
  `create procedure post_entry(account text, amount integer, on_day date, out entry_id integer, out total numeric) language plpgsql as $$
   begin
     if amount = 13 then raise exception 'no thirteens'; end if;
     insert into entries (entry_id, account, amount, on_day) values ((select coalesce(max(e.entry_id), 0) + 1 from entries e), account, amount, on_day) returning entries.entry_id into entry_id;
     select sum(e.amount) / 2.0 into total from entries e where e.account = post_entry.account;
   end $$`,
  `create procedure twice(inout value integer, out at timestamptz, out is_big boolean) language plpgsql as $$
   begin value := value * 2; at := '2026-01-02 03:04:05Z'; is_big := value > 10; end $$`,
  `create procedure note(by_whom text) language sql as $$ insert into notes (note) values (by_whom) $$`,
  `create procedure blank(amount integer) language sql as $$ insert into entries (entry_id, account, amount) values (-1, null, amount) $$`,
  `create function entries_of(account text, at_least integer default 0) returns table (entry_id integer, amount integer, secret text) language sql as $$
   select e.entry_id, e.amount, 'x' from entries e where e.account = $1 and e.amount >= $2 order by 1 $$`,
  `create procedure plan_entry(account text, day_text text) language plpgsql as $$
   begin insert into entries (entry_id, account, on_day) values (900, account, day_text::date); end $$`,
  `create procedure drop_owner(owner_id text) language plpgsql as $$ begin delete from owners o where o.id = owner_id; end $$`,
  `create procedure rename_owner(owner_id text) language plpgsql as $$ begin update only owners o set id = 'other' where o.id = owner_id; end $$`,
  `create procedure give_pet(owner_id text) language plpgsql as $$ begin update pets p set owner_id = give_pet.owner_id; end $$`,
  `create function pairs_of(inout start integer, out double integer) returns setof record language sql as $$
   select n, n * 2 from generate_series(start, start + 1) n $$`,
  `create procedure finish() language plpgsql as $$ begin insert into notes values ('finished'); commit; end $$`,
];

const onMysql = [
  `create procedure post_entry(account varchar(40), amount int, on_day date, out entry_id int, out total decimal(12,4))
   begin
     if amount = 13 then signal sqlstate '45000' set message_text = 'no thirteens'; end if;
     set entry_id = (select coalesce(max(e.entry_id), 0) + 1 from entries e);
     insert into entries (entry_id, account, amount, on_day) values (entry_id, account, amount, on_day);
     set total = (select sum(e.amount) / 2 from entries e where e.account = account);
   end`,
  `create procedure twice(inout value int, out at datetime(3), out is_big boolean)
   begin set value = value * 2; set at = '2026-01-02 03:04:05'; set is_big = value > 10; end`,
  `create procedure note(by_whom varchar(40)) insert into notes (note) values (by_whom)`,
  `create procedure blank(amount int) insert into entries (entry_id, account, amount) values (-1, null, amount)`,
  `create procedure entries_of(account varchar(40), at_least int)
   select e.entry_id, e.amount, 'x' as secret from entries e where e.account = account and e.amount >= at_least order by 1`,
  `create procedure drop_owner(owner_id varchar(36)) delete from owners where id = owner_id`,
  `create procedure rename_owner(owner_id varchar(36)) update owners set id = 'other' where id = owner_id`,
  `create procedure give_pet(owner_id varchar(36)) update pets p set p.owner_id = owner_id`,
  `create procedure plan_entry(account varchar(40), day_text varchar(40))
   insert into entries (entry_id, account, on_day) values (900, account, day_text)`,
];

const action = { call: true };
const may = { access: { clerk: ["call"] } };

const endpoints = {
  "post-entry": {
    action,
    ...may,
    procedure: {
      name: "post_entry",
      params: {
        account: { required: true, constraints: { maxLength: 10 } },
        amount: { type: "integer", default: 1, constraints: { min: 1 } },
        on_day: { type: "date" },
        entry_id: { type: "integer", out: true },
        total: { type: "decimal", out: true },
      },
    },
  },
  twice: {
    action,
    ...may,
    procedure: {
      name: "twice",
      params: {
        value: { type: "integer", inout: true },
        at: { type: "timestamp", out: true },
        is_big: { type: "boolean", out: true },
      },
    },
  },
  note: { action, ...may, procedure: { name: "note", params: { by_whom: { claim: "name" } } } },
  blank: { action, ...may, procedure: { name: "blank", params: { amount: { type: "integer" } } } },
  "entries-of": {
    action,
    ...may,
    hiddenFields: ["secret"],
    procedure: {
      name: "entries_of",
      params: {
        account: {},
        ...(engine === "mysql" && { at_least: { type: "integer", default: 0 } }),
      },
    },
  },
  "plan-entry": {
    action,
    ...may,
    procedure: { name: "plan_entry", params: { account: {}, day_text: {} } },
  },
  ...Object.fromEntries(
    ["drop", "rename", "give"].map((verb) => [
      verb,
      {
        action,
        ...may,
        procedure: {
          name: `${verb}_${verb === "give" ? "pet" : "owner"}`,
          params: { owner_id: {} },
        },
      },
    ]),
  ),
  ...(engine === "postgres" && {
    "pairs-of": {
      action,
      ...may,
      procedure: { name: "pairs_of", params: { start: { type: "integer" } } },
    },
    finish: { action, ...may, procedure: { name: "finish" } },
  }),
  entries: {
    tableName: "entries",
    primaryKey: "entry_id",
    action: { read: true, call: false },
    access: { clerk: "*" },
  },
};

const lines: string[] = [];

const options = (own: Readonly<Record<string, object>>): FixtureOptions => ({
  tables: [
    {
      name: "entries",
      columns: {
        entry_id: { type: "integer", notNull: true, unique: true },
        account: { type: "text(40)", notNull: true },
        amount: "integer",
        on_day: { type: "date", unique: true },
      },
    },
    { name: "notes", columns: { note: { type: "text(40)", unique: true } } },
    { name: "owners", columns: { id: "key" } },
    { name: "pets", columns: { owner_id: { type: "text(36)", references: "owners" } } },
  ],
  setUp: (name: EngineName) => [
    ...(name === "postgres" ? onPostgres : name === "mysql" ? onMysql : []),
    "insert into owners (id) values ('a')",
    "insert into pets (owner_id) values ('a')",
  ],
  endpoints: own,
  callers,
  log: createLog("error", { write: (line) => void lines.push(line) }),
  project: {
    auth: { jwt: { secret: "a secret of at least thirty-two bytes" } },
    database: { triggerMessages: true },
    batch: { enabled: true },
    cache: { enabled: true },
  },
});

test.runIf(engine === "sqlite")("on SQLite, a procedure is a fault", async () => {
  await expect(openFixture(options({ note: endpoints.note }))).rejects.toThrow(
    /procedure[^]*this database has none/,
  );
});

describe.skipIf(engine === "sqlite")("call", () => {
  const fixture = openForTests(openFixture, options(endpoints));

  const count = async (table: string): Promise<number> =>
    Number((await fixture.sql(`select count(*) as n from ${table}`))[0]!["n"]);

  test("answers output parameters", async () => {
    const params = { account: "a", amount: 3, on_day: "2026-05-01" };
    const answer = await fixture.post("post-entry/call", { params });
    checkEnvelope(answer);
    check(answer, { status: 200, data: { entry_id: 1, total: 1.5 } });
    const more = await fixture.post("post-entry/call", { params: { account: "a", amount: "4" } });
    expect(more.body.data).toEqual({ entry_id: 2, total: 3.5 });
    expect(await count("entries")).toBe(2);
  });

  test("answers parameters that are also taken, in their types", async () => {
    const { body } = await fixture.post("twice/call", { params: { value: 21 } });
    expect(body.data).toEqual({ value: 42, at: "2026-01-02T03:04:05.000Z", is_big: true });
    const none = await fixture.post("twice/call", { params: {} });
    expect(none.body.data).toMatchObject({ value: null, is_big: null });
  });

  test("answers rows, without hidden columns", async () => {
    await fixture.post("post-entry/call", { params: { account: "rows", amount: 7 } });
    const { body } = await fixture.post("entries-of/call", { params: { account: "rows" } });
    expect(body.data).toEqual([{ entry_id: expect.any(Number), amount: 7 }]);
    const none = await fixture.post("entries-of/call", { params: { account: "nobody" } });
    expect(none.body.data).toEqual([]);
  });

  test.runIf(engine === "postgres")("answers all rows whose columns are parameters", async () => {
    const { body } = await fixture.post("pairs-of/call", { params: { start: 3 } });
    expect(body.data).toEqual([
      { start: 3, double: 6 },
      { start: 4, double: 8 },
    ]);
  });

  test.runIf(engine === "postgres")(
    "stores nothing of a procedure that ends the transaction, and logs why",
    async () => {
      check(await fixture.post("finish/call", {}), { status: 500, error: "Internal server error" });
      expect(await fixture.sql("select note from notes where note = 'finished'")).toEqual([]);
      expect(JSON.parse(lines.at(-1)!).err).toMatchObject({
        code: "2D000",
        message: "invalid transaction termination",
      });
    },
  );

  test("uses claims", async () => {
    check(await fixture.post("note/call", {}, { "x-by": "ada" }), { status: 200, data: [] });
    expect(await fixture.sql("select note from notes")).toEqual([{ note: "ada" }]);
  });

  const refused: [name: string, params: object, errors: Record<string, unknown>][] = [
    ["a required value that is missing", {}, { "params.account": ["is required"] }],
    [
      "a value that is too small",
      { account: "a", amount: 0 },
      { "params.amount": ["must be at least 1"] },
    ],
    [
      "a value that is too long",
      { account: "abcdefghijk" },
      { "params.account": ["must have at most 10 characters"] },
    ],
    ["another type", { account: "a", on_day: "soon" }, { "params.on_day": [expect.any(String)] }],
    [
      "an output parameter",
      { account: "a", total: 1 },
      { "params.total": [expect.stringContaining("is unknown")] },
    ],
    [
      "an unknown one",
      { account: "a", amont: 1 },
      { "params.amont": ['is unknown; did you mean "amount"?'] },
    ],
  ];
  test.each(refused)("refuses %s", async (_, params, errors) => {
    const before = await count("entries");
    const answer = await fixture.post("post-entry/call", { params });
    checkEnvelope(answer);
    check(answer, { status: 400, error: "Validation failed" });
    expect(answer.body.errors).toEqual(errors);
    expect(await count("entries")).toBe(before);
  });

  test("refuses what the database refuses, and stores nothing", async () => {
    const before = await count("entries");
    const raised = await fixture.post("post-entry/call", { params: { account: "a", amount: 13 } });
    check(raised, { status: 422, error: "Rejected by database", message: "no thirteens" });
    const params = { account: "dup", on_day: "2026-06-01" };
    check(await fixture.post("post-entry/call", { params }), { status: 200 });
    check(await fixture.post("post-entry/call", { params }), {
      status: 409,
      error: "Duplicate entry",
    });
    const soon = { account: "a", day_text: "soon" };
    check(await fixture.post("plan-entry/call", { params: soon }), {
      status: 400,
      error: "Validation failed",
    });
    expect(await count("entries")).toBe(before + 1);
  });

  test.each([
    ["deletes what others refer to", "drop", "a", 409],
    ["changes the key of what others refer to", "rename", "a", 409],
    ["refers to nothing", "give", "nobody", 400],
  ])("tells a procedure that %s", async (_, endpoint, owner_id, status) => {
    const answer = await fixture.post(`${endpoint}/call`, { params: { owner_id } });
    check(answer, { status, error: "Foreign key constraint" });
  });

  test("names parameters in errors, and no column of the procedure's own statements", async () => {
    const refused = { status: 400, error: "Validation failed" };
    const blank = await fixture.post("blank/call", { params: { amount: 1 } });
    check(blank, refused);
    expect(blank.body).not.toHaveProperty("errors");
    const large = await fixture.post("blank/call", { params: { amount: 3_000_000_000 } });
    check(large, refused);
    expect(Object.keys(large.body.errors ?? {})).toEqual(
      engine === "mysql" ? ["params.amount"] : [],
    );
    const long = await fixture.post("note/call", {}, { "x-by": "e".repeat(50) });
    check(long, refused);
    expect(long.body).not.toHaveProperty("errors");
  });

  test("refuses callers without the claim, and without the right", async () => {
    check(await fixture.post("note/call", {}), { status: 403, error: "Forbidden" });
    const sent = await fixture.post("note/call", { params: { by_whom: "x" } }, { "x-by": "eve" });
    check(sent, {
      status: 400,
      error: "Validation failed",
      errors: { "params.by_whom": ["cannot be sent"] },
    });
    const guest = { "x-by": "eve", "x-role": "guest" };
    check(await fixture.post("note/call", {}, guest), { status: 403, error: "Forbidden" });
    check(await fixture.post("entries/call", {}), { status: 404, error: "Not found" });
  });

  test("runs once for each Idempotency-Key", async () => {
    const body = { params: { account: "once", amount: 2 } };
    const headers = { "idempotency-key": "k1" };
    const first = await fixture.post("post-entry/call", body, headers);
    const again = await fixture.post("post-entry/call", body, headers);
    expect(again.body.data).toEqual(first.body.data);
    const listed = await fixture.post("entries-of/call", { params: { account: "once" } });
    expect(listed.body.data).toHaveLength(1);
  });

  test("is undone in a dry run and in a batch that fails", async () => {
    const before = await count("entries");
    const body = { params: { account: "undone" } };
    const dry = await fixture.post("post-entry/call", body, { prefer: "tx=rollback" });
    expect(dry.body).toMatchObject({ dry_run: true, data: { total: 0.5 } });
    await fixture.post("_batch", {
      steps: [
        { endpoint: "post-entry", action: "call", body },
        { endpoint: "post-entry", action: "call", body: { params: { account: "a", amount: 13 } } },
      ],
    });
    expect(await count("entries")).toBe(before);
  });

  test("makes kept lists read anew", async () => {
    const read = async () =>
      (await fixture.post("entries/read", { page: 1, per_page: 100 })).body.data.length;
    const before = await read();
    await fixture.post("post-entry/call", { params: { account: "kept" } });
    expect(await read()).toBe(before + 1);
  });

  test("is described with its values and results", async () => {
    const { body } = await fixture.request("/api/test/openapi.json");
    const operation = JSON.stringify(body.paths["/api/test/post-entry/call"].post);
    expect(operation).toContain("Idempotency-Key");
    expect(JSON.stringify(body)).toContain('"entry_id"');
  });

  const faults: [name: string, procedure: object, fault: RegExp][] = [
    [
      "an unknown procedure",
      { name: "post_entri" },
      /procedure\.name[^]*a procedure of the database/,
    ],
    ["a missing parameter", { name: "note" }, /procedure\.params[^]*the parameter by_whom/],
    [
      "an unknown parameter",
      { name: "note", params: { by_whom: {}, by_who: {} } },
      /procedure\.params\.by_who[^]*did you mean "by_whom"/,
    ],
    [
      "a value for an output parameter",
      { name: "twice", params: { value: { inout: true }, at: {}, is_big: { out: true } } },
      /procedure\.params\.at[^]*out, as the procedure has it/,
    ],
  ];
  test.each(faults)("%s is a fault", async (_, procedure, fault) => {
    await expect(openFixture(options({ it: { action, ...may, procedure } }))).rejects.toThrow(
      fault,
    );
  });

  test("an action without a procedure is a fault", async () => {
    await expect(openFixture(options({ it: { action, ...may } }))).rejects.toThrow(
      /procedure\s+expected the procedure for call/,
    );
  });
});
