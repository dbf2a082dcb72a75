/**
 * Specific to PostgreSQL: sessions that die, its own types, errors and catalog. The other files of this folder test
 * what all engines have in common.
 */
import { randomUUID } from "node:crypto";
import net from "node:net";
import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";
import { inspect } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { limits } from "../../core/values/limits.ts";
import { accept } from "../../core/values/types/accept.ts";
import { sourceOf } from "../../core/query/statement.ts";
import { createCompiler } from "../../db/statements/compile.ts";
import { createDb } from "../../db/connections/db.ts";
import type { Column, Table } from "../../core/values/types/column.ts";
import { ExactNumber } from "../../core/values/json.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import type { Connection, Engine } from "../../db/engines/engine.ts";
import type { RawRow } from "../../db/statements/dialect.ts";
import { open } from "../../db/engines/postgres/engine.ts";
import { startSilentDoor } from "../jobs/silent-door.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { bareSession } from "./bare-session.ts";
import { errorOf, send, streamed } from "./send.ts";

const options = { connectionsMax: 4, statementTimeoutMs: 0, decimals: "number" } as const;

let database: FreshDatabase;
let engine: Engine;
let own: Connection;
const opened: Connection[] = [];

beforeAll(async () => {
  database = await freshDatabase("postgres");
  engine = await open(database.url, options);
  own = await engine.connect("write");
});
afterEach(() => {
  vi.unstubAllEnvs();
  for (const connection of opened.splice(0)) connection.destroy();
});
afterAll(async () => {
  await own?.close();
  await database?.drop();
});

/** Another connection, cut when the test ends. */
async function connect(from: Engine = engine): Promise<Connection> {
  const connection = await from.connect("write");
  opened.push(connection);
  return connection;
}

const rows = async (text: string, params: unknown[] = [], connection = own): Promise<RawRow[]> => [
  ...(await send(connection, text, params)).rows,
];
const pidOf = async (connection: Connection): Promise<unknown> =>
  (await rows("select pg_backend_pid() as pid", [], connection))[0]!["pid"];

describe("a session that dies", () => {
  test(
    "leaves every transaction whole or undone, and the process alive",
    { timeout: 30_000 },
    async () => {
      await rows("create table bursts (tx text, pid int, filler text)");
      const sizes = [10, 600, 1_500, 200_000];
      let killing = true;
      let acknowledged = 0;
      const errors: unknown[] = [];
      const survivors: Connection[] = [];
      const writers = sizes.map(async (size, writer) => {
        for (let round = 0; killing; round++) {
          const connection = await errorOrConnection();
          if (connection === null) continue;
          try {
            for (let again = 0; again < 50 && killing; again++) {
              for (const text of engine.begin) await send(connection, text);
              for (let part = 0; part < 3; part++) {
                const params = [`${writer}-${round}-${again}`, "x".repeat(size)];
                await send(
                  connection,
                  "insert into bursts values ($1::text, pg_backend_pid(), $2::text)",
                  params,
                  part > 0,
                );
              }
              await send(connection, "commit");
              acknowledged++;
            }
            await connection.close();
          } catch (error) {
            errors.push(error);
            if (connection.alive) survivors.push(connection);
            expect(await errorOf(send(connection, "select 1", [], true))).toBeInstanceOf(Error);
          }
        }
      });
      for (let burst = 0; burst < 60; burst++) {
        await wait(30);
        await rows(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
        );
      }
      killing = false;
      await Promise.all(writers);

      expect(errors.length).toBeGreaterThan(20);
      expect(new Set(errors.map((error) => engine.failure(error).kind))).toEqual(
        new Set(["connection"]),
      );
      expect(survivors).toEqual([]);
      const torn = await rows(
        "select tx from bursts group by tx having count(*) <> 3 or count(distinct pid) <> 1",
      );
      expect(torn).toEqual([]);
      const [stored] = await rows("select count(distinct tx)::int as transactions from bursts");
      // A commit can succeed without its answer; an acknowledged one is stored.
      expect(stored!["transactions"]).toBeGreaterThanOrEqual(acknowledged);

      async function errorOrConnection(): Promise<Connection | null> {
        return engine.connect("write").catch((error: unknown) => {
          errors.push(error);
          return null;
        });
      }
    },
  );

  test("never comes back as another session", async () => {
    const connection = await connect();
    await send(connection, "begin");
    await rows("select pg_terminate_backend($1::int)", [await pidOf(connection)]);
    while (connection.alive) await wait(5);
    const error = await errorOf(send(connection, "select 1"));
    expect(engine.failure(error)).toEqual({ kind: "connection" });
  });

  test("ends its stream with an error, not as if that had been all", async () => {
    const connection = await connect();
    const pid = await pidOf(connection);
    const read = async (): Promise<void> => {
      for await (const batch of streamed(
        connection,
        "select * from generate_series(1, 1000) n",
        10,
      )) {
        expect(batch).toHaveLength(10);
        await rows("select pg_terminate_backend($1::int)", [pid]);
        await wait(50);
      }
    };
    expect(engine.failure(await errorOf(read())).kind).toBe("connection");
    expect(connection.alive).toBe(false);
  });

  test("is cut off at once when it no longer answers", async () => {
    const door = await startSilentDoor(database.url);
    const connection = await connect(await open(door.url, options));
    door.silence();
    const run = errorOf(send(connection, "select 1"));
    await wait(100);
    const cutAt = performance.now();
    connection.destroy();
    expect(engine.failure(await run).kind).toBe("connection");
    expect(performance.now() - cutAt).toBeLessThan(200);
    door.goOn();
    await expect.poll(() => door.openSockets()).toBe(0);
    await door.stop();
  });

  test("does not carry out later what it was waiting to do when it was cut off", async () => {
    await rows("create table waiting as select 1 as n");
    const holder = await connect();
    await send(holder, "begin");
    await send(holder, "update waiting set n = n + 1");
    const waiter = await connect();
    const late = errorOf(send(waiter, "update waiting set n = n + 10"));
    const waiters =
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await expect.poll(() => rows(waiters)).toHaveLength(1);
    waiter.destroy();
    expect(engine.failure(await late).kind).toBe("connection");
    await expect.poll(() => rows(waiters)).toHaveLength(0);
    await send(holder, "commit");
    expect(await rows("select n from waiting")).toEqual([{ n: 2 }]);
  });

  test("is closed within a second even when it no longer answers", async () => {
    const door = await startSilentDoor(database.url);
    const connection = await connect(await open(door.url, options));
    door.silence();
    const startedAt = performance.now();
    await connection.close();
    expect(performance.now() - startedAt).toBeLessThan(1_100);
    door.goOn();
    await expect.poll(() => door.openSockets()).toBe(0);
    await door.stop();
  });
});

describe("connecting", () => {
  test.each([
    ["a port where nothing listens", () => "postgres://postgres@127.0.0.1:1/x"],
    ["a database that does not exist", () => withPath("/no_such_database")],
    ["a host name that does not exist", () => "postgres://postgres@no-such-host.invalid/x"],
  ])("to %s rejects as a failure of the connection", async (_case, url) => {
    const error = await errorOf((await open(url(), options)).connect("read"));
    expect(engine.failure(error)).toEqual({ kind: "connection" });
  });

  test("needs a URL that can be read, and does not repeat its password", async () => {
    const error = await errorOf(open("postgres://me:secret@host:port/x", options));
    expect(error).toMatchObject({
      message: expect.stringMatching(/^The URL of the PostgreSQL database cannot be read; /),
    });
    expect(inspect(error)).not.toContain("secret");
  });

  test("takes only a server of the kind that the URL asks for", async () => {
    const asking = (role: string): string =>
      Object.assign(new URL(database.url), { search: `?target_session_attrs=${role}` }).href;
    for (const role of ["any", "primary", "read-write", "prefer-standby"])
      expect((await connect(await open(asking(role), options))).alive).toBe(true);
    for (const role of ["standby", "read-only"]) {
      const error = await errorOf((await open(asking(role), options)).connect("read"));
      expect(engine.failure(error)).toEqual({ kind: "connection" });
      expect(String(error)).toContain(`target_session_attrs asks for ${role}`);
    }
    expect(String(await errorOf(open(asking("master"), options)))).toContain(
      'unknown target_session_attrs "master"; known: any, read-write',
    );
  });

  test.each(["any", "prefer-standby", "standby", "no such word"])(
    "goes by the URL, not by PGTARGETSESSIONATTRS=%s of the environment",
    async (role) => {
      vi.stubEnv("PGTARGETSESSIONATTRS", role);
      expect((await connect(await open(database.url, options))).alive).toBe(true);
    },
  );

  test("to a server that hangs up rejects instead of trying for ever", async () => {
    const server = await listen((socket) => socket.end());
    const error = await errorOf((await open(server.url, options)).connect("read"));
    expect(engine.failure(error)).toEqual({ kind: "connection" });
    expect(server.accepted()).toBe(1);
    await server.stop();
  });

  test(
    "passes over a host that never answers, within the time limit",
    { timeout: 10_000 },
    async () => {
      const silent = await listen(() => {});
      const url = new URL(database.url);
      const hosts = database.url.replace(
        url.host,
        `127.0.0.1:${silent.port},${url.hostname}:${url.port || 5432}`,
      );
      const startedAt = performance.now();
      const connection = await connect(await open(hosts, options));
      expect(performance.now() - startedAt).toBeLessThan(limits.connectTimeoutMs);
      expect(connection.alive).toBe(true);
      await silent.stop();
    },
  );

  const withPath = (path: string): string =>
    Object.assign(new URL(database.url), { pathname: path }).href;
});

describe("a connection", () => {
  test("answers the right rows after a statement that failed between rows", async () => {
    const limited = await connect(
      await open(database.url, { ...options, statementTimeoutMs: 200 }),
    );
    const slow =
      "select n, case when n = 900 then pg_sleep(2)::text end as x from generate_series(1, 1000) n";
    expect(engine.failure(await errorOf(send(limited, slow)))).toEqual({ kind: "timeout" });
    expect(limited.alive).toBe(true);
    const next = await send(limited, "select n from generate_series(1, 3) n", [], true);
    expect([...next.rows]).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    const broken = "select 10 / (500 - n) as x from generate_series(1, 1000) n";
    await errorOf(send(limited, broken));
    const batches: RawRow[] = [];
    for await (const batch of streamed(limited, "select n from generate_series(1, 3) n", 2))
      batches.push(...batch);
    expect(batches).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  test("is usable after a stream was left early, and after one failed", async () => {
    const connection = await connect();
    for await (const batch of streamed(connection, "select * from generate_series(1, 99) n", 7)) {
      expect(batch).toHaveLength(7);
      break;
    }
    const failing = connection.stream({
      text: "select 1 / ($1::int - n) from generate_series(1, 9) n",
      params: ["5"],
      reuse: false,
      batchRows: 2,
    });
    expect(await errorOf(Array.fromAsync(failing))).toMatchObject({ code: "22012" });
    expect(
      await rows("select pg_current_xact_id_if_assigned() is null as x", [], connection),
    ).toEqual([{ x: true }]);
    await send(connection, "create temp table usable ()");
  });

  test("keeps one prepared statement per text, whatever the values, and no more than the limit", async () => {
    const connection = await connect();
    for (const value of ["1", null, "2", null])
      await send(connection, "select $1::bigint as x", [value], true);
    expect(await preparedCount(connection)).toBe(1);
    for (let n = 0; n < limits.statementShapesMax + 20; n++)
      await send(connection, `select ${n} as x`, [], true);
    expect(await preparedCount(connection)).toBe(limits.statementShapesMax);
    expect(await rows("select 17 as x", [], connection)).toEqual([{ x: 17 }]);
  });

  test("keeps no long list prepared, whose plan would be used on when the table has grown", async () => {
    await rows("create table listed (id bigint primary key)");
    const watched: Engine = { ...engine, connect: () => connect() };
    const db = createDb(watched, { connectionsMax: 1, statementTimeoutMs: 0 });
    const table = (await db.catalog.table("listed"))!;
    const id = table.columns.get("id")!;
    const find = (count: number) =>
      bareSession(db, Infinity).all({
        kind: "select",
        source: sourceOf(table),
        columns: [id],
        where: {
          kind: "in",
          column: id,
          values: Array.from({ length: count }, (_, at) => BigInt(at)),
          negated: false,
        },
        sort: [],
        limit: null,
        offset: 0,
        lock: false,
      });
    const ofCatalog = Number(await preparedCount(opened[0]!));
    for (const count of [1_000, 200, 40]) await find(count);
    expect(await preparedCount(opened[0]!)).toBe(ofCatalog);
    await find(10);
    expect(await preparedCount(opened[0]!)).toBe(ofCatalog + 1);
  });

  test("refuses two statements in one text", async () => {
    expect(await errorOf(send(own, "select 1; select 2", [], false))).toMatchObject({
      code: "42601",
    });
  });

  test("gives each statement its own rows while the plans of others become stale", async () => {
    const connection = await connect();
    await rows("create table shifting (id int, size int)");
    await rows("insert into shifting values (1, 7)");
    await rows("create table still (id int, name text, other text)");
    await rows("insert into still select n, 'name ' || n, 'other' from generate_series(1, 50) n");
    const shifting = () =>
      send(connection, "select size from shifting where id = $1", ["1"], true).then(
        (one) => one.rows,
      );
    const still = (id: number) =>
      send(connection, "select id, name, other from still where id = $1", [String(id)], true).then(
        (one) => one.rows,
      );
    expect([await shifting(), await still(1)]).toEqual([
      [{ size: 7 }],
      [{ id: 1, name: "name 1", other: "other" }],
    ]);
    for (let round = 0; round < 10; round++) {
      await rows(
        `alter table shifting alter column size type ${round % 2 ? "int" : "text"}` +
          `${round % 2 ? " using size::int" : ""}`,
      );
      const answers = [shifting(), shifting()];
      const others: Promise<unknown>[] = [];
      // Some are sent before the first answer, some between the answers.
      for (let id = 1; id <= 50; id++) {
        others.push(still(id));
        await turn();
      }
      expect(await Promise.all(answers)).toEqual(Array(2).fill([{ size: round % 2 ? 7 : "7" }]));
      expect(await Promise.all(others)).toEqual(
        others.map((_, at) => [{ id: at + 1, name: `name ${at + 1}`, other: "other" }]),
      );
    }
    // Each change of the type made one new plan, not one for each statement that met it.
    expect(await preparedCount(connection)).toBeLessThanOrEqual(2 + 10);
  });

  test("prepares a text anew when its parameter has another type than at first", async () => {
    const connection = await connect();
    await rows("create table retyped (id int, mark int)");
    const find = (mark: string) =>
      send(connection, "select id from retyped where mark = $1", [mark], true);
    const store = (mark: string) =>
      send(connection, "insert into retyped values (1, $1)", [mark], true);
    await store("1");
    expect((await find("1")).rows).toHaveLength(1);
    await rows("alter table retyped alter column mark type json using '1'");
    await rows("alter table retyped alter column mark type text using '1'");
    expect((await find("1")).rows).toHaveLength(1);
    await rows("alter table retyped alter column mark type json using mark::json");
    await store("[2]");
    await store("[3]");
    // For a text that never ran there is nothing to be made anew.
    const before = await preparedCount(connection);
    for (let time = 0; time < 3; time++) {
      const error = await errorOf(send(connection, "select '{}'::json = '{}'::json", [], true));
      expect(error).toMatchObject({ code: "42883" });
      expect(await errorOf(store("no json"))).toMatchObject({ code: "22P02" });
    }
    expect(await preparedCount(connection)).toBe(before);
  });

  test("can run a prepared text again after its table changed", async () => {
    const connection = await connect();
    await rows("create table changing (a int)");
    await send(connection, "select * from changing", [], true);
    await rows("alter table changing add column b text");
    await send(connection, "begin");
    const error = await errorOf(send(connection, "select * from changing", [], true));
    expect(engine.failure(error).kind).toBe("conflict");
    await send(connection, "rollback");
    expect((await send(connection, "select * from changing", [], true)).rows).toHaveLength(0);
  });

  test.each(["one by one", "at once"])(
    "prepares a text of a transaction, sent %s, anew when a type was made again",
    async (how) => {
      const connection = await connect();
      const make = ["create type temper as enum ('fine')", "create table tempers (temper temper)"];
      const drop = ["drop table if exists tempers", "drop type if exists temper"];
      for (const text of [...drop, ...make]) await rows(text);
      const command = { text: "insert into tempers values ($1)", params: ["fine"], reuse: true };
      const before = [{ text: "begin", params: [], reuse: true }];
      const behind = [{ text: "commit", params: [], reuse: true }];
      const store = async (): Promise<unknown> => {
        if (how === "at once") return connection.send({ ...command, before, behind });
        await send(connection, "begin");
        await connection.send(command);
        return send(connection, "commit");
      };
      await store();
      // As a restore of a backup does.
      for (const text of [...drop, ...make]) await rows(text);
      expect(engine.failure(await errorOf(store())).kind).toBe("conflict");
      if (how === "one by one") await send(connection, "rollback");
      await store();
      expect(await rows("select temper from tempers")).toEqual([{ temper: "fine" }]);
    },
  );

  const preparedCount = async (connection: Connection): Promise<unknown> =>
    (
      await rows(
        "select count(*)::int as n from pg_prepared_statements where name <> ''",
        [],
        connection,
      )
    )[0]!["n"];
});

/** Type of the column, what a request sends, and what answers show where that differs. */
const values: [type: string, sent: unknown, shown?: unknown][] = [
  ["smallint", -32768],
  ["bigint", 9007199254740991],
  ["bigint", "9007199254740993"],
  ["oid", "4294967295"],
  ["numeric", 1.5],
  ["numeric(30,10)", "12345678901234567890.0123456789"],
  ["numeric(10,4)", "2.5000", 2.5],
  ["numeric(2,-3)", 99000],
  ["real", 1.5],
  ["double precision", 1e300],
  ["boolean", false],
  ["text", "É\\%_'\"\n{}"],
  ["varchar(3)", "äöü"],
  ["char(5)", "ab"],
  ["name", "n"],
  ["mood", 'so "so"'],
  ["short", "abc"],
  ["date", "2024-02-29"],
  ["timestamp", "2024-02-29T12:34:56.789Z"],
  ["timestamptz", "0099-02-28T12:34:56.789Z"],
  ["timestamp(0)", "2024-02-29T12:34:56.000Z"],
  ["time", "23:59:59"],
  ["timetz", "12:34:56+00"],
  ["uuid", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
  ["json", { a: [1, "x", null] }],
  ["jsonb", 'a "text"'],
  ["jsonb", null],
  ["bytea", "AAH/"],
  ["int[]", [1, null]],
  ["int[]", []],
  [
    "int[]",
    [
      [1, 2],
      [3, 4],
    ],
  ],
  ["text[]", ['a"b\\', "", "NULL", "{x,y}", "é"]],
  ["mood[]", ["sad", 'so "so"']],
  ["boolean[]", [true, false]],
  ["jsonb[]", [{ a: 1 }, "x"]],
  ["bit(3)", "101"],
  ["bit varying(3)", ""],
  ["inet", "10.0.0.0/8"],
  ["interval", "1 day 02:03:04"],
  ["int4range", "[1,5)"],
  ["xml", "<a>1</a>"],
  ["point", "(1,2)"],
];

describe("values", () => {
  const compile = () => createCompiler(engine.dialect);

  beforeAll(async () => {
    await rows("create type mood as enum ('sad', 'so \"so\"')");
    await rows("create domain short as varchar(7) default 'x' not null check (value <> 'bad')");
  });

  /** A table with one column of that type. */
  async function column(type: string) {
    await rows("drop table if exists one");
    await rows(`create table one (id serial primary key, c ${type})`);
    const table = (await engine.table({ connection: own, shared: new Map() }, null, "one"))!;
    return { table, key: table.columns.get("id")!, c: table.columns.get("c")! };
  }

  /** The value as statements carry it. */
  function accepted(one: Column, sent: unknown): Scalar {
    const result = accept(one, sent);
    if (!result.ok) throw new Error(result.message);
    return result.value;
  }

  /** Inserts the rows, and returns the columns of the stored ones. */
  async function store(
    { table, key }: { readonly table: Table; readonly key: Column },
    columns: readonly Column[],
    list: readonly (readonly Scalar[])[],
  ) {
    const insert = compile()({
      kind: "insert",
      table,
      key: [key],
      columns,
      rows: list,
      returning: columns,
    });
    return insert.decode((await send(own, insert.text, insert.params, true)).rows);
  }

  test.each(values)(
    "of type %s come back as they were sent: %j",
    async (type, sent, shown = sent) => {
      const { table, key, c } = await column(type);
      const stored = await store({ table, key }, [c], [[accepted(c, sent)]]);
      expect(stored[0]).toEqual({ c: shown });
      const sorted = compile()({
        kind: "select",
        source: { kind: "table", schema: null, name: "one", columns: new Map() },
        columns: [c],
        where: null,
        sort: [{ column: c, direction: "desc" }],
        limit: 5,
        offset: 0,
        lock: false,
      });
      const read = await send(own, sorted.text, sorted.params, true);
      expect(sorted.decode(read.rows)).toEqual([{ c: shown }]);
    },
  );

  test.each(values)(
    "of type %s come back from several rows as they were sent: %j",
    async (type, sent, shown = sent) => {
      const { table, key, c } = await column(type);
      const value = accepted(c, sent);
      const list = [2n, 1n, 3n].map((id) => [id, value]);
      const stored = await store({ table, key }, [key, c], list);
      expect(stored).toEqual([2, 1, 3].map((id) => ({ id, c: shown })));
    },
  );

  test.each([
    ["numeric", "'NaN'", null],
    ["numeric", "'-Infinity'", null],
    ["real", "'Infinity'", null],
    ["double precision", "0.1::real", 0.10000000149011612],
    ["date", "'infinity'", null],
    ["timestamptz", "'-infinity'", null],
    ["timestamp", "'2024-02-29 12:34:56.789999'", "2024-02-29T12:34:56.789999Z"],
    ["timestamptz", "'2024-02-29 12:34:56+05:30'", "2024-02-29T07:04:56.000Z"],
    ["timetz", "'12:34:56.7+02'", "12:34:56.7+02"],
    ["time", "'12:34:56.999999'", "12:34:56.999999"],
    ["jsonb", "'{\"n\": 12345678901234567890}'", { n: new ExactNumber("12345678901234567890") }],
    ["bigint[]", "'{1,9007199254740993}'", [1, "9007199254740993"]],
    ["numeric[]", "'{NaN,-Infinity,1.5}'", [null, null, 1.5]],
    ["real[]", "'{NaN,Infinity,1.5}'", [null, null, 1.5]],
    ["date[]", "'{-infinity,0044-03-15 BC}'", [null, "0044-03-15 BC"]],
    ["jsonb[]", "array['null'::jsonb, '\"null\"'::jsonb]", [null, "null"]],
    ["money", "12.5", "$12.50"],
  ])("that others stored as %s %s are shown as %j", async (type, literal, shown) => {
    const { c } = await column(type);
    await rows(`insert into one (c) values (${literal})`);
    const source = { kind: "table", schema: null, name: "one", columns: new Map() } as const;
    const base = {
      kind: "select",
      source,
      columns: [c],
      where: null,
      sort: [],
      limit: null,
      offset: 0,
      lock: false,
    } as const;
    const select = compile()(base);
    const read = await send(own, select.text, select.params);
    expect(select.decode(read.rows)).toEqual([{ c: shown }]);
  });

  test.each([
    ["varchar(3)", "abcd", "tooLong"],
    ["char(3)", "abcd", "tooLong"],
    ["bit(3)", "1", "tooLong"],
    ["short", "bad", "check"],
    ["inet", "nonsense", "badValue"],
    ["mood", "happy", "badValue"],
    ["int[]", '["x"]', "badValue"],
    ["numeric(3,1)", "1000", "outOfRange"],
  ])(
    "that a column of type %s cannot hold are refused, not changed: %s",
    async (type, value, kind) => {
      const { table, key, c } = await column(type);
      const insert = compile()({
        kind: "insert",
        table,
        key: [key],
        columns: [c],
        rows: [[value]],
        returning: [],
      });
      expect(engine.failure(await errorOf(send(own, insert.text, insert.params))).kind).toBe(kind);
    },
  );

  test.each([
    ["of locale C", "encoding 'UTF8' lc_collate 'C' lc_ctype 'C'", ["é", "жук"]],
    ["of the server's own locale", "encoding 'UTF8'", ["é", "жук"]],
    ["that knows no letters but those of ASCII", "encoding 'SQL_ASCII' locale 'C'", ["É", "ЖУК"]],
  ])(
    "of text are compared without regard to case in every script, in a database %s",
    async (_case, letters, texts) => {
      const name = `rowgate_test_${randomUUID().replaceAll("-", "").slice(0, 12)}`;
      await rows(`create database ${name} template template0 ${letters}`);
      try {
        const other = await open(
          Object.assign(new URL(database.url), { pathname: name }).href,
          options,
        );
        const connection = await connect(other);
        await rows("create table one (c text)", [], connection);
        await rows("insert into one values ('CAFÉ'), ('ЖУК'), ('100%')", [], connection);
        const c = (await other.table({ connection, shared: new Map() }, null, "one"))!.columns.get(
          "c",
        )!;
        const source = { kind: "table", schema: null, name: "one", columns: new Map() } as const;
        const found = async (text: string): Promise<number> => {
          const where = { kind: "contains", column: c, text } as const;
          const count = createCompiler(other.dialect)({ kind: "count", source, where });
          return Number(Object.values((await rows(count.text, count.params, connection))[0]!)[0]);
        };
        for (const text of [...texts, "caf", "00%"])
          expect([text, await found(text)]).toEqual([text, 1]);
        expect(await found("%x")).toBe(0);
      } finally {
        await rows(`drop database ${name} with (force)`);
      }
    },
  );
});

describe("failures", () => {
  beforeAll(async () => {
    await rows("create table parents (id int primary key)");
    await rows(`create table children (id int generated always as identity, code text constraint code_key unique,
      parent int not null constraint parent_fk references parents, self int, size smallint constraint positive check (size > 0))`);
    await rows("insert into parents values (1), (2)");
    await rows("create view counted as select count(*) as n from parents");
    await rows("create materialized view stored as select 1 as n");
    await rows("insert into children (code, parent) values ('a', 1)");
  });

  test.each([
    [
      `insert into "children" (code, parent) values ('a', 1)`,
      { kind: "duplicate", constraint: "code_key" },
    ],
    [
      `insert into "children" (parent) values (9)`,
      { kind: "foreignKeyMissing", constraint: "parent_fk" },
    ],
    [
      `update "public"."children" set parent = 9`,
      { kind: "foreignKeyMissing", constraint: "parent_fk" },
    ],
    [
      `update "parents" set id = 7 where id = 1`,
      { kind: "foreignKeyInUse", constraint: "parent_fk" },
    ],
    [`delete from "parents" where id = 1`, { kind: "foreignKeyInUse", constraint: "parent_fk" }],
    [`insert into "children" (code) values ('b')`, { kind: "notNull", columns: ["parent"] }],
    [
      `insert into "children" (parent, size) values (1, 0)`,
      { kind: "check", constraint: "positive" },
    ],
    [`insert into "children" (parent, size) values (1, 40000)`, { kind: "outOfRange" }],
    [`insert into "children" (id, parent) values (1, 1)`, { kind: "generated" }],
    [`select 'x'::int`, { kind: "badValue" }],
    [`select '{}'::json = '{}'::json`, { kind: "badValue", mayHaveChanged: true }],
    [`select * from no_such_table`, { kind: "missing" }],
    [`select nothing from parents`, { kind: "missing" }],
    [`insert into counted values (1)`, { kind: "missing" }],
    [`update counted set n = 1`, { kind: "missing" }],
    [`update stored set n = 1`, { kind: "missing" }],
    [`selec`, { kind: "unknown" }],
  ])("of %s are told apart", async (text, expected) => {
    expect(engine.failure(await errorOf(send(own, text)))).toEqual(expected);
  });

  test.each<[string, string, string]>([
    ["XX000", "could not open relation with OID 16385", "conflict"],
    ["XX000", "cache lookup failed for relation 16385", "conflict"],
    ["XX000", "tuple concurrently updated", "conflict"],
    ["XX000", "could not read block 7", "unknown"],
    ["55000", "could not open relation with OID 16385", "unknown"],
  ])("of something that was dropped since it was looked up: %s %s", (code, message, kind) => {
    const error = Object.assign(new Error(message), { code, severity: "ERROR" });
    expect(engine.failure(error)).toEqual({ kind });
  });

  test("of a deadlock are conflicts", async () => {
    const [one, two] = [await connect(), await connect()];
    for (const connection of [one, two]) await send(connection, "begin");
    await send(one, "select 1 from parents where id = 1 for update");
    await send(two, "select 1 from parents where id = 2 for update");
    const both = await Promise.all([
      errorOf(
        send(one, "select 1 from parents where id = 2 for update").then(() => send(one, "commit")),
      ),
      errorOf(
        send(two, "select 1 from parents where id = 1 for update").then(() => send(two, "commit")),
      ),
    ]);
    const kinds = both
      .filter((error) => error !== undefined)
      .map((error) => engine.failure(error).kind);
    expect(kinds).toEqual(["conflict"]);
  });

  test.each([
    [null],
    ["text"],
    [new Error("x")],
    [Object.assign(new Error("x"), { code: "UNDEFINED_VALUE" })],
  ])("that are no answer of the server are unknown: %s", (error) => {
    expect(engine.failure(error)).toEqual({ kind: "unknown" });
  });
});

describe("the catalog", () => {
  beforeAll(async () => {
    await rows("create schema other");
    await rows('create table other."Odd ""name" (id uuid primary key)');
    await rows(`create table kinds (
      id bigint generated always as identity, s serial, plain int, unique_part int, "order" int,
      price numeric(8,2) not null default 0, total numeric generated always as (price * 2) stored,
      link uuid constraint link_fk references other."Odd ""name", at timestamptz(1),
      primary key ("order", id), constraint pair unique (s, plain))`);
    await rows("create unique index sole on kinds (price) include (plain)");
    await rows("create unique index part on kinds (unique_part) where unique_part > 0");
    await rows("create unique index expression on kinds (abs(plain))");
    await rows("create view kinds_view as select id, price, at from kinds");
    await rows("create materialized view kinds_stored as select 1 as x");
    await rows("create table years (y int) partition by range (y)");
    await rows("create table years_1 partition of years for values from (1) to (9)");
  });

  test("tells the keys of a table, and leaves out partial and computed ones", async () => {
    const table = (await engine.table({ connection: own, shared: new Map() }, null, "kinds"))!;
    expect(table.primaryKey).toEqual(["order", "id"]);
    expect(table.unique).toEqual([
      { name: "kinds_pkey", columns: ["order", "id"] },
      { name: "pair", columns: ["s", "plain"] },
      { name: "sole", columns: ["price"] },
    ]);
    expect(table.foreignKeys).toMatchObject([
      { name: "link_fk", columns: ["link"], referencedTable: 'other.Odd "name' },
    ]);
  });

  test.each([
    ["id", { generated: "computed", hasDefault: true, nullable: false, type: "integer" }],
    ["s", { generated: "identity", hasDefault: true }],
    ["total", { generated: "computed", type: "decimal", precision: null, scale: null }],
    ["price", { generated: "none", hasDefault: true, nullable: false, precision: 8, scale: 2 }],
    ["plain", { generated: "none", hasDefault: false, nullable: true }],
    ["at", { type: "timestamp", fractionDigits: 1 }],
  ])("tells of column %s", async (name, expected) => {
    const table = (await engine.table({ connection: own, shared: new Map() }, null, "kinds"))!;
    expect(table.columns.get(name)).toMatchObject(expected);
  });

  test("tells of texts whose own = may find another text, for those who compare exactly", async () => {
    await rows(
      "create collation any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
    );
    await rows("create table cased (plain text, folded text collate any_case)");
    const { columns } = (await engine.table(
      { connection: own, shared: new Map() },
      null,
      "cased",
    ))!;
    expect([...columns.values()].map(({ isLoose = false }) => isLoose)).toEqual([false, true]);
  });

  test("takes views, other schemas and odd names, and knows no others", async () => {
    const view = (await engine.table({ connection: own, shared: new Map() }, null, "kinds_view"))!;
    expect([view.kind, view.primaryKey, view.columns.get("price")?.nullable]).toEqual([
      "view",
      [],
      true,
    ]);
    expect(
      (await engine.table({ connection: own, shared: new Map() }, null, "kinds_stored"))?.kind,
    ).toBe("view");
    expect(
      (await engine.table({ connection: own, shared: new Map() }, "other", 'Odd "name'))
        ?.primaryKey,
    ).toEqual(["id"]);
    for (const name of ["Kinds", "no_such", 'Odd "name', "kinds_pkey", ""]) {
      expect(await engine.table({ connection: own, shared: new Map() }, null, name)).toBe(null);
    }
  });

  test("names the tables and views of the default schema, without partitions", async () => {
    const names = (await rows(engine.namesQuery)).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["kinds", "kinds_view", "kinds_stored", "years"]));
    expect(names).not.toContain("years_1");
    expect(names).not.toContain('Odd "name');
  });

  test("tells the columns of a query without reading rows", async () => {
    const columns = await engine.query(
      own,
      "select k.price, count(*) as n, 1 / (k.plain - k.plain) as never from kinds k group by 1, 3 -- end",
    );
    expect(
      columns.map(({ name, type, nullable, scale }) => ({ name, type, nullable, scale })),
    ).toEqual([
      { name: "price", type: "decimal", nullable: true, scale: 2 },
      { name: "n", type: "integer", nullable: true, scale: null },
      { name: "never", type: "integer", nullable: true, scale: null },
    ]);
    expect(await preparedNames()).toEqual([]);
  });

  test.each([
    ["select 1; select 2", "syntax error"],
    [
      "select 1) as q; drop table kinds; select * from (select 1",
      "cannot insert multiple commands",
    ],
    ["select * from no_such", 'relation "no_such" does not exist'],
    ["delete from kinds", "syntax error"],
    ["select 1 as a, 2 as a", 'column "a" appears more than once'],
    ["", "syntax error"],
  ])("refuses the query %j and says why", async (text, message) => {
    await expect(engine.query(own, text)).rejects.toThrow(message);
  });

  const preparedNames = () =>
    rows("select name from pg_prepared_statements where name <> '' and statement like '%never%'");
});

/** A test server that handles each connection with `serve`. */
async function listen(serve: (socket: net.Socket) => void) {
  const sockets = new Set<net.Socket>();
  let accepted = 0;
  const server = net.createServer((socket) => {
    accepted++;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as net.AddressInfo;
  return {
    port,
    url: `postgres://postgres@127.0.0.1:${port}/x`,
    accepted: () => accepted,
    async stop(): Promise<void> {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
