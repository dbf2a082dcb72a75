/** call: what a procedure changes in its session reaches neither later statements of its transaction nor later requests. */
import { describe, expect, inject, test } from "vitest";
import { check } from "./cases.ts";
import { openFixture, openForTests } from "./harness.ts";

const engine = inject("engine");

/**
 * `clutter` changes all that a session keeps, and fails if told to; `session` answers what it keeps. `unsettle` changes
 * settings on which statements of the service rely.
 */
const onPostgres = [
  "create schema elsewhere",
  `create procedure clutter(fails boolean) language plpgsql as $$
   begin
     perform set_config('DateStyle', 'German', false), set_config('TimeZone', 'Asia/Tokyo', false);
     perform set_config('search_path', 'elsewhere', false), set_config('app.user', 'eve', false);
     perform pg_advisory_lock(4711);
     set role pg_read_all_data;
     create temporary table notes as select 'temporary' as note, timestamptz '1970-01-01Z' as at;
     execute 'declare kept cursor with hold for select 1';
     execute 'listen something';
     if fails then raise exception 'failed'; end if;
   end $$`,
  "create table elsewhere.notes (like notes including all)",
  `create procedure unsettle() language plpgsql as $$
   begin
     perform set_config('search_path', 'elsewhere', true), set_config('DateStyle', 'German', false);
     set local timezone = 'Asia/Tokyo';
     set local role pg_read_all_data;
   end $$`,
  `create function session() returns table (state text) language sql as $$
   select concat_ws(' ', current_setting('DateStyle'), current_setting('TimeZone'), current_setting('search_path'),
     current_setting('app.user', true), current_setting('statement_timeout'), current_user,
     (select count(*) from pg_catalog.pg_locks where locktype = 'advisory' and pid = pg_backend_pid()),
     pg_catalog.to_regclass('pg_temp.notes'), (select count(*) from pg_catalog.pg_cursors where is_holdable),
     (select count(*) from pg_catalog.pg_listening_channels())) $$`,
];

const onMysql = [
  `create procedure clutter(fails boolean)
   begin
     set session sql_mode = '', session time_zone = '+09:00', session autocommit = 0, session foreign_key_checks = 0;
     set session transaction isolation level serializable;
     set names latin1;
     set @kept = 1;
     do get_lock(concat('lock of ', database()), 0);
     create temporary table notes (note text, at datetime(3)) as select 'temporary' as note, '1970-01-01' as at;
     if fails then signal sqlstate '45000' set message_text = 'failed'; end if;
   end`,
  `create procedure unsettle()
   begin
     set session time_zone = '+09:00', session sql_mode = '', session autocommit = 0;
     set names latin1;
   end`,
  `create procedure session()
   select concat_ws(' ', @@sql_mode, @@time_zone, @@autocommit, @@foreign_key_checks, @@character_set_client,
     @@innodb_lock_wait_timeout, @kept, is_used_lock(concat('lock of ', database()))) as state`,
];

describe.skipIf(engine === "sqlite")("call", () => {
  const fixture = openForTests(openFixture, {
    tables: [
      {
        name: "notes",
        columns: { note: { type: "text(40)", notNull: true, unique: true }, at: "timestamp" },
      },
    ],
    setUp: (name) => [
      // On MySQL, times of this type are shown in the zone of the session.
      `alter table notes add column moment ${name === "mysql" ? "timestamp(3) null" : "timestamptz"}`,
      ...(name === "postgres" ? onPostgres : onMysql),
      "insert into notes (note, at) values ('stored', '2026-01-02 03:04:05')",
    ],
    endpoints: {
      clutter: {
        action: { call: true },
        procedure: { name: "clutter", params: { fails: { type: "boolean", default: false } } },
      },
      unsettle: { action: { call: true }, procedure: { name: "unsettle" } },
      session: { action: { call: true }, procedure: { name: "session" } },
      notes: { tableName: "notes", primaryKey: "note", action: { read: true, create: true } },
    },
    project: {
      // With one connection, every statement meets what the one before it left.
      database: { pool: 1 },
      cache: { enabled: false },
      batch: { enabled: true },
    },
    serviceUrl: (url) => (engine === "postgres" ? `${url}?app.user=nobody` : url),
  });

  test.each([
    ["stored something", { params: { fails: false } }, {}, { status: 200 }],
    ["failed", { params: { fails: true } }, {}, { status: 422, error: "Rejected by database" }],
    ["ran in a dry run", { params: { fails: false } }, { prefer: "tx=rollback" }, { status: 200 }],
  ])("leaves nothing in its session when it %s", async (how, body, headers, answer) => {
    const session = async () => (await fixture.post("session/call", {})).body.data;
    const before = await session();
    const shown = async () => (await fixture.post("notes/read", { limit: 10 })).body.data;
    const rows = await shown();
    expect(rows[0]).toMatchObject({ note: "stored", at: "2026-01-02T03:04:05.000Z" });

    check(await fixture.post("clutter/call", body, headers), answer);

    expect(await shown()).toEqual(rows);
    expect(await session()).toEqual(before);
    const note = `then ${how}`;
    check(await fixture.post("notes/create", { note }), { status: 201 });
    expect(await fixture.sql(`select note from notes where note = '${note}'`)).toHaveLength(1);
  });

  test("leaves settings as they were for the rest of its transaction", async () => {
    const once = { "idempotency-key": "unsettled" };
    const first = await fixture.post("unsettle/call", {}, once);
    check(first, { status: 200 });
    expect((await fixture.post("unsettle/call", {}, once)).body).toEqual(first.body);

    const body = {
      note: "a né",
      at: "2026-01-02T03:04:05.000Z",
      moment: "2026-01-02T03:04:05.000Z",
    };
    const steps = [
      { endpoint: "unsettle", action: "call", body: {} },
      { endpoint: "notes", action: "create", body },
      { endpoint: "notes", action: "read", body: { limit: 1 } },
    ];
    const answer = await fixture.post("_batch", { steps });
    check(answer, { status: 200 });
    expect(answer.body.data[1].body.data).toEqual(body);
    expect(answer.body.data[2].body.data).toEqual([body]);
    expect((await fixture.post("notes/read", { limit: 1 })).body.data).toEqual([body]);
  });
});
