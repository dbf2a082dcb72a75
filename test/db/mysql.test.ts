/**
 * Specific to MySQL and MariaDB: sessions that die, session set-up, comparisons with implicit type conversion, their
 * own types, errors and catalog. The other files of this folder test what all engines have in common.
 */
import net from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { ExactNumber } from "../../core/values/json.ts";
import type { Column } from "../../core/values/types/column.ts";
import type { UnscopedQueries } from "../../core/query/session.ts";
import type { Condition, Statement } from "../../core/query/statement.ts";
import { insertInto } from "../../core/query/write-statements.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import { accept } from "../../core/values/types/accept.ts";
import { createCompiler } from "../../db/statements/compile.ts";
import { createDb } from "../../db/connections/db.ts";
import type { Connection, Engine, SharedFacts } from "../../db/engines/engine.ts";
import type { RawRow } from "../../db/statements/dialect.ts";
import { open } from "../../db/engines/mysql/engine.ts";
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
  database = await freshDatabase("mysql");
  engine = await open(database.url, options);
  own = await engine.connect("write");
});
afterEach(() => {
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

const rows = async (text: string, params: unknown[] = [], connection = own): Promise<RawRow[]> =>
  (await send(connection, text, params)).rows;
const idOf = async (connection: Connection): Promise<unknown> =>
  (await rows("select connection_id() as id", [], connection))[0]!["id"];
const kill = (id: unknown): Promise<unknown> => rows(`kill ${String(id)}`).catch(() => null);
const kindOf = async (work: Promise<unknown>): Promise<string> =>
  engine.failure(await errorOf(work)).kind;

/** Runs a statement as `db.ts` would, and answers the rows as answers show them. */
async function execute(statement: Statement) {
  const { text, params, decode } = createCompiler(engine.dialect)(statement);
  const { rows: found, matched } = await send(own, text, params, true);
  return { matched, text, params, rows: decode(found) };
}

/** A table `one` with one column `c` of that type. */
async function tableWith(type: string) {
  await rows("drop table if exists one");
  await rows(`create table one (id serial primary key, c ${type})`);
  const table = (await engine.table({ connection: own, shared: new Map() }, null, "one"))!;
  const [key, c] = [table.columns.get("id")!, table.columns.get("c")!];
  const source = { kind: "table", schema: null, name: "one", columns: new Map() } as const;
  return {
    c,
    insert: (value: Scalar) =>
      execute({ kind: "insert", table, key: [key], columns: [c], rows: [[value]], returning: [] }),
    select: async (where: Condition | null = null) =>
      (
        await execute({
          kind: "select",
          source,
          columns: [c],
          where,
          sort: [{ column: c, direction: "desc" }],
          limit: 5,
          offset: 0,
          lock: false,
        })
      ).rows.map((row) => row["c"]),
    remove: (where: Condition) =>
      execute({ kind: "delete", table, key: [key], where, returning: [] }),
    update: (set: Extract<Statement, { kind: "update" }>["set"], guard: Condition | null) =>
      execute({ kind: "update", table, key: [key], keyValue: [1n], guard, set, returning: [] }),
  };
}

const equalTo = (column: Column, value: Scalar): Condition => ({
  kind: "compare",
  column,
  operator: "=",
  value,
});

test("a view over tables that the user has no right to is counted and not explained", async () => {
  await rows("create table walled (id int primary key)");
  await rows("insert into walled values (1), (2), (3)");
  await rows("create sql security definer view window as select * from walled");
  const url = new URL(database.url);
  const user = `guest_${url.pathname.slice(-8)}`;
  // An anonymous user of one host, if it exists, takes precedence over a named one of all hosts.
  const users = [`'${user}'@'%'`, `'${user}'@'localhost'`];
  for (const one of users) await rows(`create user ${one} identified by 'pass'`);
  try {
    for (const one of users) await rows(`grant select on window to ${one}`);
    Object.assign(url, { username: user, password: "pass" });
    const db = createDb(await open(url.href, options), options);
    const session = bareSession(db, performance.now() + 5_000);
    const source = { kind: "table", schema: null, name: "window", columns: new Map() } as const;
    expect(await session.estimate({ kind: "count", source, where: null })).toBeNull();
    expect(await session.count({ kind: "count", source, where: null })).toBe(3);
    await db.close();
  } finally {
    for (const one of users) await rows(`drop user ${one}`);
  }
});

// The image of MySQL has no such statement.
test("a transaction that ends by what it found is over, even where its end was stopped", async () => {
  const connection = await connect();
  if (connection.conditional === undefined) return;
  await rows("create table ends (id int primary key, n int)");
  await rows("insert into ends values (1, 0)");
  const command = (text: string) => ({ text, params: [], reuse: false });
  const behind = connection.conditional.commitIfFound.map(command);
  const id = await idOf(connection);
  let isOver = false;
  const stopping = (async () => {
    while (!isOver) await kill(`query ${String(id)}`);
  })();
  const open: unknown[] = [];
  for (let time = 0; time < 60; time++) {
    await send(connection, "start transaction").catch(() => {});
    await send(connection, "update ends set n = n + 1").catch(() => {});
    await Promise.resolve(connection.send({ ...command("select n from ends"), behind })).catch(
      () => {},
    );
    const text = "select 1 from information_schema.innodb_trx where trx_mysql_thread_id = ?";
    open.push(...(await rows(text, [id])));
  }
  isOver = true;
  await stopping;
  expect(open).toEqual([]);
  await rows("update ends set n = 0");
  for (const [found, n] of [
    ["select n from ends", 1],
    ["select n from ends where id = 2", 1],
    ["select nothing from ends", 1],
  ] as const) {
    await send(connection, "start transaction");
    await send(connection, "update ends set n = n + 1");
    await Promise.resolve(connection.send({ ...command(found), behind })).catch(() => {});
    expect(await rows("select n from ends")).toEqual([{ n }]);
  }
});

test("a transaction whose deadline comes while its last statement waits stores nothing", async () => {
  const other = await connect();
  await rows("create table late_ones (id int primary key, n int)");
  const db = createDb(engine, { connectionsMax: 2, statementTimeoutMs: 0 });
  const table = (await db.catalog.table("late_ones"))!;
  const [id, n] = ["id", "n"].map((name) => table.columns.get(name)!) as [Column, Column];
  const store = (key: bigint, withinMs: number) =>
    db
      .session(performance.now() + withinMs)
      .tx((tx) =>
        tx.last(() =>
          (tx as unknown as UnscopedQueries).insert(
            insertInto(table, { key: [id], columns: [id, n], rows: [[key, 1n]] }),
          ),
        ),
      );
  // Only what is known is sent ahead.
  for (const key of [1n, 2n]) await store(key, 15_000);
  await rows("lock tables late_ones read", [], other);
  const late = errorOf(store(3n, 1_000));
  expect(await late).toMatchObject({ kind: "unavailable" });
  await rows("unlock tables", [], other);
  await wait(500);
  expect(await rows("select id from late_ones order by id")).toEqual([{ id: 1 }, { id: 2 }]);
  await db.close();
});

describe("a session that dies", () => {
  test(
    "leaves every transaction whole or undone, and the process alive",
    { timeout: 30_000 },
    async () => {
      await rows("create table bursts (tx varchar(40), size int) engine = innodb");
      let killing = true;
      let acknowledged = 0;
      const errors: unknown[] = [];
      const survivors: Connection[] = [];
      const writers = Array.from({ length: 4 }, async (_, writer) => {
        for (let n = 0; killing; n++) {
          const connection = await engine.connect("write").catch((error: unknown) => {
            errors.push(error);
            return null;
          });
          if (connection === null) continue;
          try {
            for (let part = 0; killing; part++) {
              await send(connection, engine.begin[0]!, [], true);
              for (const size of [10, 1_500, 200_000]) {
                const text = "insert into bursts select ?, length(?)";
                await send(connection, text, [`${writer}-${n}-${part}`, "x".repeat(size)], true);
              }
              await send(connection, "commit", [], true);
              acknowledged++;
            }
          } catch (error) {
            errors.push(error);
            await wait(20);
            if (connection.alive) survivors.push(connection);
          }
          connection.destroy();
        }
      });
      for (let burst = 0; burst < 12; burst++) {
        await wait(60);
        const sessions = await rows(
          "select id from information_schema.processlist where id <> connection_id() and db = database()",
        );
        await Promise.all(sessions.map(({ id }) => kill(id)));
      }
      killing = false;
      await Promise.all(writers);

      expect(errors.length).toBeGreaterThan(20);
      expect(new Set(errors.map((error) => engine.failure(error).kind))).toEqual(
        new Set(["connection"]),
      );
      expect(survivors).toEqual([]);
      expect(await rows("select tx from bursts group by tx having count(*) <> 3")).toEqual([]);
      const [stored] = await rows("select count(distinct tx) as n from bursts");
      // A commit can succeed without its answer; an acknowledged one is stored.
      expect(stored!["n"]).toBeGreaterThanOrEqual(acknowledged);
    },
  );

  test("never comes back as another session", async () => {
    const connection = await connect();
    await send(connection, "start transaction");
    await kill(await idOf(connection));
    await expect.poll(() => connection.alive).toBe(false);
    expect(await kindOf(send(connection, "select 1"))).toBe("connection");
  });

  test("ends its stream with an error, not as if that had been all", async () => {
    const connection = await connect();
    const id = await idOf(connection);
    const read = async (): Promise<void> => {
      const text = "select seq, repeat('x', 1000) as filler from seq_1_to_200000";
      for await (const batch of streamed(connection, text, 10)) {
        expect(batch).toHaveLength(10);
        await kill(id);
        await wait(10);
      }
    };
    expect(await kindOf(read())).toBe("connection");
    expect(connection.alive).toBe(false);
  });

  test("is cut off at once when it no longer answers", async () => {
    const door = await startSilentDoor(database.url);
    const connection = await connect(await open(door.url, options));
    door.silence();
    const run = kindOf(send(connection, "select 1"));
    await wait(100);
    const cutAt = performance.now();
    connection.destroy();
    expect(await run).toBe("connection");
    expect(performance.now() - cutAt).toBeLessThan(200);
    door.goOn();
    await expect.poll(() => door.openSockets()).toBe(0);
    await door.stop();
  });

  test("ends its stream when it is cut off, and nothing goes uncaught", async () => {
    const door = await startSilentDoor(database.url);
    const connection = await connect(await open(door.url, options));
    door.silence();
    const read = kindOf(Array.fromAsync(streamed(connection, "select 1", 10)));
    await wait(50);
    connection.destroy();
    expect(await read).toBe("connection");
    door.goOn();
    await expect.poll(() => door.openSockets()).toBe(0);
    await door.stop();
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
    ["a port where nothing listens", () => "mysql://root@127.0.0.1:1/x"],
    ["a database that does not exist", () => withPath("/no_such_database")],
    ["a host name that does not exist", () => "mysql://root@no-such-host.invalid/x"],
  ])("to %s rejects as a failure of the connection", async (_case, url) => {
    expect(await kindOf((await open(url(), options)).connect("read"))).toBe("connection");
  });

  test("to a server that hangs up rejects", async () => {
    const server = net.createServer((socket) => socket.end()).listen(0, "127.0.0.1");
    await expect.poll(() => server.listening).toBe(true);
    const { port } = server.address() as net.AddressInfo;
    const silent = await open(`mysql://root@127.0.0.1:${port}/x`, options);
    expect(await kindOf(silent.connect("read"))).toBe("connection");
    server.close();
  });

  test.each([
    ["mysql://root@127.0.0.1/", "has no database name"],
    ["mysql://root@127.0.0.1/x?charset=latin1", 'unknown option "charset"'],
    [
      "mysql://root@127.0.0.1/x?ssl-mode=maybe",
      "it may be disable, prefer, require, verify-ca or verify-full",
    ],
    [
      "mysql://root@127.0.0.1/x?ssl=perhaps",
      "it may be disable, prefer, require, verify-ca or verify-full",
    ],
  ])("by %s is refused before a socket opens", async (url, message) => {
    await expect(open(url, options)).rejects.toThrow(message);
  });

  const withPath = (path: string): string =>
    Object.assign(new URL(database.url), { pathname: path }).href;
});

describe("a session", () => {
  test("is strict, in UTC and reads what is committed, however lax the server is", async () => {
    const connection = await connect(
      await open(database.url, { ...options, statementTimeoutMs: 700 }),
    );
    const [session] = await rows(
      `select @@sql_mode as mode, @@time_zone as zone, @@character_set_client as charset,
        @@innodb_lock_wait_timeout as wait, @@autocommit as autocommit`,
      [],
      connection,
    );
    expect(session).toMatchObject({ zone: "+00:00", charset: "utf8mb4", wait: 10, autocommit: 1 });
    const modes = String(session!["mode"]).split(",");
    expect(modes).toEqual(expect.arrayContaining(["STRICT_ALL_TABLES", "NO_ZERO_IN_DATE"]));
    for (const lax of ["ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "PIPES_AS_CONCAT"])
      expect(modes).not.toContain(lax);
    const [isolation] = await rows(
      "show variables where variable_name in ('tx_isolation', 'transaction_isolation')",
      [],
      connection,
    );
    expect(isolation!["Value"]).toBe("READ-COMMITTED");
    expect(await kindOf(send(connection, "select sleep(3), 1 from seq_1_to_3"))).toBe("timeout");
    expect(connection.alive).toBe(true);
  });

  test("stores a key of 0, and finds no row by a key that is null", async () => {
    await rows("create table zeros (id int auto_increment primary key)");
    expect((await send(own, "insert into zeros values (0)")).insertId).toBe(null);
    expect((await send(own, "insert into zeros values ()")).insertId).toBe(1n);
    expect(await rows("select id from zeros where id is null")).toEqual([]);
    expect(await rows("select id from zeros")).toEqual([{ id: 0 }, { id: 1 }]);
  });

  test("keeps a bounded number of statements prepared, and still runs the older ones", async () => {
    const connection = await connect();
    for (let n = 0; n < 230; n++) await send(connection, `select ${n} as x`, [], true);
    expect(await rows("select 17 as x", [], connection)).toEqual([{ x: 17 }]);
    expect(await preparedCount(connection)).toBeLessThanOrEqual(200);
    const once = await connect();
    for (let n = 0; n < 20; n++) await send(once, `select ${n} as x`);
    expect(await preparedCount(once)).toBeLessThanOrEqual(1);
  });

  test("runs a prepared text again after its table changed", async () => {
    const connection = await connect();
    await rows("create table changing (a int)");
    await rows("insert into changing values (1)");
    await send(connection, "select * from changing", [], true);
    await rows("alter table changing add column b varchar(9) default 'x'");
    const again = await send(connection, "select * from changing", [], true);
    expect(again.rows).toEqual([{ a: 1, b: "x" }]);
  });

  test("is usable after a stream ended or failed, and gone after one was left early", async () => {
    const connection = await connect();
    const text = "select seq from seq_1_to_25";
    const sizes = (await Array.fromAsync(streamed(connection, text, 10))).map(
      (batch) => batch.length,
    );
    expect(sizes).toEqual([10, 10, 5]);
    expect(await kindOf(Array.fromAsync(streamed(connection, "select * from nowhere", 10)))).toBe(
      "missing",
    );
    expect(await rows("select 1 as x", [], connection)).toEqual([{ x: 1 }]);
    for await (const batch of streamed(connection, "select seq from seq_1_to_1000000", 10)) {
      expect(batch).toHaveLength(10);
      break;
    }
    expect(connection.alive).toBe(false);
  });

  test("refuses two statements in one text", async () => {
    expect(await errorOf(send(own, "select 1; select 2", [], false))).toMatchObject({
      errno: 1064,
    });
  });

  /** Prepared and not closed again; asking counts as one. */
  const preparedCount = async (connection: Connection): Promise<number> => {
    const status = await rows("show session status like 'Com_stmt_%'", [], connection);
    const count = new Map(status.map((row) => [row["Variable_name"], Number(row["Value"])]));
    return count.get("Com_stmt_prepare")! - count.get("Com_stmt_close")!;
  };
});

/** Type of the column, what a request sends, and what answers show where that differs. */
const values: [type: string, sent: unknown, shown?: unknown][] = [
  ["tinyint", -128],
  ["tinyint(1)", true],
  ["boolean", false],
  ["bit(1)", true],
  ["bit(12)", "111111111111"],
  ["int", -2147483648],
  ["bigint", 9007199254740991],
  ["bigint", "-9007199254740993"],
  ["bigint unsigned", "18446744073709551615"],
  ["year", "2155"],
  ["decimal(10,4)", "2.5000", 2.5],
  ["decimal(65,30)", "12345678901234567890123456789012345.123456789012345678901234567891"],
  ["decimal(65,0)", "9".repeat(65)],
  ["float", 1.1],
  ["float", 16777216],
  ["double", 1e300],
  ["double", 0.1],
  ["varchar(9)", "É\\%_'\"\n"],
  ["varchar(2)", "😀é"],
  ["char(5)", "ab"],
  ["text", ""],
  ["enum('sad','so ''so''')", "so 'so'"],
  ["set('a','b','3')", "a,b"],
  ["set('a','b','3')", "3"],
  ["date", "2024-02-29"],
  ["date", "0001-01-01"],
  ["datetime(3)", "2024-02-29T12:34:56.789Z"],
  ["datetime", "2024-02-29T12:34:56.000Z"],
  ["datetime(3)", "0001-01-01T00:00:00.001Z"],
  ["datetime(6)", "9999-12-31T23:59:59.999Z"],
  ["timestamp(3) null", "1970-01-01T00:00:01.000Z"],
  ["timestamp(3) null", "2038-01-19T03:14:07.999Z"],
  ["time", "23:59:59"],
  ["uuid", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
  ["json", { a: [1, "x", null] }],
  ["json", 'a "text"'],
  ["varbinary(4)", "AAH/"],
  ["blob", "wyg="],
  ["inet6", "::1"],
];

describe("values", () => {
  test.each(values)(
    "of type %s come back, and are found, as they were sent: %j",
    async (type, sent, shown = sent) => {
      const { c, insert, select } = await tableWith(type);
      const accepted = accept(c, sent);
      if (!accepted.ok) throw new Error(accepted.message);
      await insert(accepted.value);
      expect(await select()).toEqual([shown]);
      expect(await select(equalTo(c, accepted.value))).toEqual([shown]);
    },
  );

  test.each([
    ["date", "'0000-00-00'", null],
    ["datetime", "'0000-00-00 00:00:00'", null],
    ["datetime(6)", "'2024-02-29 12:34:56.789999'", "2024-02-29T12:34:56.789999Z"],
    ["time(3)", "'12:34:56.999'", "12:34:56.999"],
    ["time", "'-838:59:59'", "-838:59:59"],
    ["tinyint(1)", "2", true],
    ["float", "1e0/3", 0.33333334],
    ["json", "'{\"n\": 12345678901234567890}'", { n: new ExactNumber("12345678901234567890") }],
    ["point", "st_geomfromtext('POINT(1 2)')", "POINT(1 2)"],
  ])("that others stored as %s %s are shown as %j", async (type, literal, shown) => {
    const { select } = await tableWith(type);
    const lax = await connect();
    await send(lax, "set sql_mode = ''");
    await send(lax, `insert into one (c) values (${literal})`);
    expect(await select()).toEqual([shown]);
  });

  test.each([
    ["varchar(3)", "abcd", "tooLong"],
    ["tinyint", 128n, "outOfRange"],
    ["int unsigned", -1n, "outOfRange"],
    ["decimal(3,1)", "1000", "outOfRange"],
    ["enum('a')", "b", "badValue"],
    ["set('a','b')", "3", "badValue"],
    ["varchar(9) character set latin1", "Ж", "badValue"],
    ["json", "{bad", "check"],
    ["inet6", "nonsense", "badValue"],
    ["uuid", "nonsense", "badValue"],
    ["timestamp null", "2106-02-07T06:28:16.000Z", "badValue"],
    ["time", "nonsense", "badValue"],
  ])(
    "that a column of type %s cannot hold are refused, not changed: %s",
    async (type, value, kind) => {
      const { insert } = await tableWith(type);
      const failure = engine.failure(await errorOf(insert(value)));
      expect(failure).toMatchObject({ kind, columns: ["c"] });
    },
  );

  test.each(["0", "1e1", "", " 7", "true"])(
    "of text are never compared as numbers: %j deletes its own row alone",
    async (text) => {
      const { c, insert, remove, select } = await tableWith("varchar(20)");
      for (const code of ["A", "0x", "7", "10", "1", text]) await insert(code);
      const { matched, params } = await remove(equalTo(c, text));
      expect([matched, params]).toEqual([1, [text]]);
      expect(await select()).toHaveLength(5);
    },
  );

  test("of large integers and decimals are compared exactly", async () => {
    const whole = await tableWith("bigint unsigned");
    await whole.insert(9007199254740993n);
    expect(await whole.select(equalTo(whole.c, 9007199254740992n))).toEqual([]);
    const decimal = await tableWith("decimal(40,2)");
    await decimal.insert("12345678901234567890.12");
    expect(await decimal.select(equalTo(decimal.c, "12345678901234567890.1"))).toEqual([]);
    expect(
      await decimal.select({
        kind: "compare",
        column: decimal.c,
        operator: ">",
        value: "12345678901234567890.119",
      }),
    ).toHaveLength(1);
  });

  test.each([
    ["bigint", 5n],
    ["decimal(20,4)", "5.5"],
    ["double", 5.5],
    ["varchar(20)", "5"],
    ["uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
    ["datetime(3)", "2024-02-29T12:34:56.789Z"],
    ["date", "2024-02-29"],
    ["varbinary(20)", Uint8Array.of(1, 2)],
    ["tinyint(1)", true],
  ])("of type %s are found through an index", async (type, value) => {
    const { c, insert } = await tableWith(`${type}, key (c)`);
    await insert(value);
    const { text, params } = createCompiler(engine.dialect)({
      kind: "count",
      source: { kind: "table", schema: null, name: "one", columns: new Map() },
      where: equalTo(c, value),
    });
    expect(await rows(`explain ${text}`, params)).toMatchObject([{ key: "c", type: "ref" }]);
  });

  test("are searched as they are shown, without regard to case, with regard to accents", async () => {
    const contains = async (type: string, value: Scalar, text: string): Promise<number> => {
      const { c, insert, select } = await tableWith(type);
      await insert(value);
      return (await select({ kind: "contains", column: c, text })).length;
    };
    const text = "varchar(99) collate utf8mb4_general_ci";
    const cases: [string, Scalar, string, number][] = [
      [text, "CAFÉ", "fé", 1],
      [text, "CAFÉ", "fe", 0],
      [text, "CAFÉ", "caf", 1],
      [text, "NAÏVE", "nai", 0],
      ["varchar(99) collate utf8mb4_unicode_520_ci", "CAFÉ", "cafe", 0],
      ["varchar(99) collate utf8mb4_unicode_520_ci", "CAFÉ", "CaF", 1],
      [text, "ЖУК", "жук", 1],
      [text, "𐐀x", "𐐨X", 1],
      [text, "100%", "00%", 1],
      [text, "1000", "00%", 0],
      [text, "a_\\b", "_\\B", 1],
      ["varchar(9) character set latin1", "CAFÉ", "fé", 1],
      ["enum('Red')", "Red", "RED", 1],
      ["decimal(9,3)", "100.500", "00.5", 1],
      ["decimal(9,3)", "100.500", "500", 0],
      ["decimal(9,3)", "100.000", "100.", 0],
      ["decimal(9,0)", "100", "100", 1],
      ["datetime", "2024-02-29T12:34:56.000Z", "t12:34:56.000z", 1],
      ["date", "2024-02-29", "-29", 1],
      ["time", "12:34:56", "34:", 1],
      ["bigint", -9007199254740993n, "-900", 1],
      ["bit(9)", "100101100", "0101", 1],
      ["float", 1.1, "1.1", 1],
      ["uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "EEBC", 1],
      ["boolean", true, "1", 0],
      ["blob", Uint8Array.of(65), "A", 0],
    ];
    for (const [type, value, part, found] of cases)
      expect([type, value, part, await contains(type, value, part)]).toEqual([
        type,
        value,
        part,
        found,
      ]);
  });
});

describe("assignments", () => {
  test.each([
    ["int unsigned", 5n, "-5", 0],
    ["bigint unsigned", 18446744073709551610n, "5", "18446744073709551615"],
    ["decimal(30,10)", "0.1", "0.2", 0.3],
    ["double", 1.5, "-2", -0.5],
  ])("to a column of type %s add exactly", async (type, start, delta, result) => {
    const { c, insert, select, update } = await tableWith(type);
    await insert(start);
    await update([{ kind: "add", column: c, delta }], null);
    expect(await select()).toEqual([result]);
  });

  test("to a decimal column of full length lose no digit", async () => {
    const { c, insert, select, update } = await tableWith("decimal(65,30)");
    await insert("12345678901234567890123456789012345.000000000000000000000000000001");
    await update([{ kind: "add", column: c, delta: "0.000000000000000000000000000002" }], null);
    expect(await select()).toEqual([
      "12345678901234567890123456789012345.000000000000000000000000000003",
    ]);
  });

  test("below zero fail for an unsigned column, and do nothing where a guard forbids them", async () => {
    const { c, insert, select, update } = await tableWith("int unsigned");
    await insert(5n);
    const change = [{ kind: "add", column: c, delta: "-6" }] as const;
    expect(await kindOf(update(change, null))).toBe("outOfRange");
    const guard: Condition = { kind: "compare", column: c, operator: ">=", value: 6n };
    expect((await update(change, guard)).matched).toBe(0);
    expect(await select()).toEqual([5]);
  });

  test("that change nothing count as matched", async () => {
    const { c, insert, update } = await tableWith("int");
    await insert(5n);
    expect((await update([{ kind: "set", column: c, value: 5n }], null)).matched).toBe(1);
  });

  test.each([
    ["datetime(3)", null, "2024-01-01T00:00:00.999Z"],
    ["datetime(3)", "2024-01-01T00:00:00.998Z", "2024-01-01T00:00:00.999Z"],
    ["datetime(3)", "2024-01-01T00:00:00.999Z", "2024-01-01T00:00:01.000Z"],
    ["datetime(6)", "2025-01-01T00:00:00.000Z", "2025-01-01T00:00:00.001Z"],
    ["timestamp(3) null", "2025-01-01T00:00:00.000Z", "2025-01-01T00:00:00.001Z"],
    ["datetime(1)", "2024-01-01T00:00:00.900Z", "2024-01-01T00:00:01.000Z"],
    ["datetime(1)", null, "2024-01-01T00:00:00.900Z"],
    ["datetime", null, "2024-01-01T00:00:00.000Z"],
    ["datetime", "2025-01-01T00:00:00.000Z", "2024-01-01T00:00:00.000Z"],
    ["date", null, "2024-01-01"],
  ])("stamp a column of type %s that holds %s with a later time", async (type, old, shown) => {
    const { c, insert, select, update } = await tableWith(type);
    await insert(old);
    for (const after of [null, c]) {
      await rows("update one set c = ?", [old === null ? null : engine.dialect.bind(c, old)]);
      await update([{ kind: "stamp", column: c, after, now: "2024-01-01T00:00:00.999Z" }], null);
      expect(await select()).toEqual([shown]);
    }
  });
});

describe("failures", () => {
  beforeAll(async () => {
    await rows("create table parents (id int primary key)");
    await rows(`create table children (id int auto_increment primary key, code varchar(99), parent int not null, size smallint,
      doc json, unique key code_key (code), constraint parent_fk foreign key (parent) references parents (id),
      constraint positive check (size > 0))`);
    await rows("insert into parents values (1), (2)");
    await rows("create view counted as select count(*) as n from parents");
    await rows("insert into children (code, parent) values ('a', 1), ('for key ''x''', 1)");
  });

  test.each([
    [
      "insert into children (code, parent) values ('a', 1)",
      { kind: "duplicate", constraint: "code_key" },
    ],
    [
      "insert into children (code, parent) values ('for key ''x''', 1)",
      { kind: "duplicate", constraint: "code_key" },
    ],
    [
      "insert into children (id, parent) values (1, 1)",
      { kind: "duplicate", constraint: "PRIMARY" },
    ],
    [
      "insert into children (parent) values (9)",
      { kind: "foreignKeyMissing", constraint: "parent_fk" },
    ],
    ["update children set parent = 9", { kind: "foreignKeyMissing", constraint: "parent_fk" }],
    [
      "update parents set id = 7 where id = 1",
      { kind: "foreignKeyInUse", constraint: "parent_fk" },
    ],
    ["delete from parents where id = 1", { kind: "foreignKeyInUse", constraint: "parent_fk" }],
    ["insert into children (code) values ('b')", { kind: "notNull", columns: ["parent"] }],
    ["insert into children (parent) values (null)", { kind: "notNull", columns: ["parent"] }],
    [
      "insert into children (parent, size) values (1, 0)",
      { kind: "check", constraint: "positive" },
    ],
    ["insert into children (parent, doc) values (1, '{')", { kind: "check", columns: ["doc"] }],
    [
      "insert into children (parent, size) values (1, 40000)",
      { kind: "outOfRange", columns: ["size"] },
    ],
    [
      "insert into children (parent, size) values (1, 'for column `x` at row 1')",
      { kind: "badValue", columns: ["size"] },
    ],
    [
      "insert into children (parent, code) values (1, repeat('x', 100))",
      { kind: "tooLong", columns: ["code"] },
    ],
    ["select * from no_such_table", { kind: "missing" }],
    ["select nothing from parents", { kind: "missing" }],
    ["insert into counted values (1)", { kind: "missing" }],
    ["update counted set n = 1", { kind: "missing" }],
    ["selec", { kind: "unknown" }],
  ])("of %s are told apart", async (text, expected) => {
    expect(engine.failure(await errorOf(send(own, text)))).toEqual(expected);
  });

  test("of a table that was changed since the snapshot are conflicts", async () => {
    const connection = await connect();
    await rows("create table replaced (id int primary key)");
    await send(connection, engine.beginSnapshot[0]!);
    for (const text of engine.beginSnapshot.slice(1)) await send(connection, text);
    await rows("truncate table replaced");
    const error = await errorOf(send(connection, "select * from replaced"));
    expect(error).toMatchObject({ errno: 1412 });
    expect(engine.failure(error)).toEqual({ kind: "conflict" });
  });

  test("of a deadlock are conflicts", async () => {
    const [one, two] = [await connect(), await connect()];
    const lock = (connection: Connection, id: number) =>
      send(connection, "select 1 from parents where id = ? for update", [id]);
    for (const connection of [one, two]) await send(connection, engine.begin[0]!);
    await lock(one, 1);
    await lock(two, 2);
    const errors = await Promise.all([
      errorOf(lock(one, 2).then(() => send(one, "commit"))),
      errorOf(lock(two, 1).then(() => send(two, "commit"))),
    ]);
    const kinds = errors.filter(Boolean).map((error) => engine.failure(error).kind);
    expect(kinds).toEqual(["conflict"]);
  });

  test.each([
    [null],
    ["text"],
    [new Error("x")],
    [new TypeError("Bind parameters must not contain undefined")],
  ])("that are no answer of the server are unknown: %s", (error) => {
    expect(engine.failure(error)).toEqual({ kind: "unknown" });
  });
});

describe("the catalog", () => {
  beforeAll(async () => {
    await rows("create table `odd ``name` (id uuid primary key)");
    await rows(`create table kinds (
      id bigint unsigned auto_increment, plain int, \`order\` int, code varchar(20) not null default 'x', note text, doc json,
      price decimal(8,2) unsigned not null default 0, total decimal(9,2) generated always as (price * 2) stored,
      link uuid, at timestamp(6) null, made datetime(1), mood enum('a','it''s'), fixed char(3), flag tinyint(1), old varchar(9) character set latin1,
      place point, moved timestamp not null default current_timestamp on update current_timestamp,
      primary key (id, \`order\`), unique key pair (plain, code), unique key part (note(5)), key plain_key (plain),
      constraint link_fk foreign key (link) references \`odd \`\`name\` (id))`);
    await rows("create table isam (id int primary key) engine = myisam");
    await rows("create view kinds_view as select id, price, at, total, doc from kinds");
    await rows(
      "create view outer_view as select k.id, k.note, l.code from kinds k left join kinds l on l.id = k.plain",
    );
  });

  test("tells the keys of a table, and leaves out those of prefixes", async () => {
    const table = (await engine.table({ connection: own, shared: new Map() }, null, "kinds"))!;
    expect(table).toMatchObject({ kind: "table", schema: null, transactional: true });
    expect(table.primaryKey).toEqual(["id", "order"]);
    expect(table.unique).toEqual([
      { name: "pair", columns: ["plain", "code"] },
      { name: "PRIMARY", columns: ["id", "order"] },
    ]);
    expect(table.foreignKeys).toEqual([
      {
        name: "link_fk",
        columns: ["link"],
        referencedTable: "odd `name",
        referencedIdentity: expect.stringMatching(/\.odd `name$/),
        referencedColumns: ["id"],
      },
    ]);
  });

  test.each([
    [
      "id",
      {
        generated: "identity",
        hasDefault: true,
        nullable: false,
        range: { min: 0n, max: 18446744073709551615n },
      },
    ],
    [
      "plain",
      {
        type: "integer",
        hasDefault: false,
        nullable: true,
        range: { min: -2147483648n, max: 2147483647n },
      },
    ],
    ["code", { type: "text", hasDefault: true, nullable: false, lengthMax: 20, bytesMax: null }],
    ["note", { type: "text", lengthMax: null, bytesMax: 65535, hasDefault: false }],
    ["doc", { type: "json", hasDefault: false }],
    ["price", { type: "decimal", precision: 8, scale: 2, hasDefault: true }],
    ["total", { generated: "computed", hasDefault: true }],
    ["link", { type: "uuid" }],
    ["at", { type: "timestamp", fractionDigits: 6, span: { first: "1970-01-01T00:00:01.000Z" } }],
    ["made", { type: "timestamp", fractionDigits: 1, span: null }],
    ["mood", { type: "text", labels: ["a", "it's"] }],
    ["fixed", { fixedLength: true, lengthMax: 3 }],
    ["flag", { type: "boolean", range: null }],
    ["old", { lengthMax: 9, bytesMax: null }],
    ["place", { type: "other", notation: "wkt", generated: "none" }],
    ["moved", { hasDefault: true, fractionDigits: 0 }],
  ])("tells of column %s", async (name, expected) => {
    const table = (await engine.table({ connection: own, shared: new Map() }, null, "kinds"))!;
    expect(table.columns.get(name)).toMatchObject(expected);
  });

  test("takes views, other databases and odd names, and knows no others", async () => {
    const view = (await engine.table({ connection: own, shared: new Map() }, null, "kinds_view"))!;
    expect([view.kind, view.primaryKey, view.transactional]).toEqual(["view", [], true]);
    expect(view.columns.get("price")).toMatchObject({ nullable: true, scale: 2 });
    expect(view.columns.get("id")).toMatchObject({ generated: "identity" });
    expect(
      (await engine.table({ connection: own, shared: new Map() }, null, "odd `name"))?.primaryKey,
    ).toEqual(["id"]);
    expect(
      (await engine.table({ connection: own, shared: new Map() }, "information_schema", "TABLES"))
        ?.columns.size,
    ).toBeGreaterThan(5);
    expect(
      (await engine.table({ connection: own, shared: new Map() }, null, "isam"))?.transactional,
    ).toBe(false);
    for (const name of ["no_such", "pair", ""])
      expect(await engine.table({ connection: own, shared: new Map() }, null, name)).toBe(null);
    expect(await engine.table({ connection: own, shared: new Map() }, "no_such", "kinds")).toBe(
      null,
    );
  });

  test("takes no column of an outer join for one that nobody can set", async () => {
    const view = (await engine.table({ connection: own, shared: new Map() }, null, "outer_view"))!;
    expect([...view.columns.values()].map(({ generated }) => generated)).toEqual(
      Array(3).fill("none"),
    );
    expect(view.refusals!.map(({ statement }) => statement).sort()).toEqual([
      "delete",
      "insert",
      "update",
    ]);
  });

  test.each([1205, 1213, 1317, 1461, 1615, 1927])(
    "takes the passing fault %d for no fault of what is described",
    async (errno) => {
      const fail = () => Promise.reject(Object.assign(new Error("passing"), { errno }));
      const db = createDb({ ...engine, query: fail, table: fail }, options);
      const expected = { kind: "unavailable", cause: { errno } };
      await expect(db.catalog.query("select 1 as a")).rejects.toMatchObject(expected);
      await expect(db.catalog.table("kinds")).rejects.toMatchObject(expected);
      await db.close();
      const connection = await connect();
      Object.assign(connection, { describe: fail });
      const asked = engine.table({ connection, shared: new Map() }, null, "kinds_view");
      expect(engine.failure(await errorOf(asked)).kind).not.toBe("unknown");
      expect(
        engine.failure(await errorOf(engine.query(connection, "select 1 as a"))).kind,
      ).not.toBe("unknown");
    },
  );

  test("takes a column that the driver cannot name for no lost server", async () => {
    const connection = await connect();
    const named = send(connection, "select 1 as `__proto__`");
    expect(await kindOf(named)).toBe("unknown");
    expect(connection.alive).toBe(false);
  });

  test.each([17, 40])("tells a statement of %i MB from a lost server", async (megabytes) => {
    const connection = await connect();
    const long = "x".repeat(megabytes * 1024 ** 2);
    expect(await kindOf(send(connection, "select length(?)", [long]))).toBe("tooLarge");
  });

  test("reads once what concerns all tables of the server, for tables that are read together", async () => {
    const shared: SharedFacts = new Map();
    const sent = vi.spyOn(own, "send");
    await engine.table({ connection: own, shared }, null, "kinds");
    await engine.table({ connection: own, shared }, null, "kinds_view");
    const texts = sent.mock.calls.map(([{ text }]) => text);
    sent.mockRestore();
    const wide = texts.filter((text) =>
      /from information_schema.REFERENTIAL_CONSTRAINTS/.test(text),
    );
    expect(wide).toHaveLength(1);
  });

  test("names the tables and views of the database", async () => {
    const names = (await rows(engine.namesQuery)).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["kinds", "kinds_view", "odd `name"]));
    expect(names).not.toContain("TABLES");
  });

  test("tells the columns of a query without reading rows", async () => {
    const columns = await engine.query(
      own,
      "select *, count(*) as n, sum(plain) as s, sleep(9) as slow from kinds group by id, `order` -- end",
    );
    const types = Object.fromEntries(columns.map(({ name, type }) => [name, type]));
    expect(types).toEqual({
      id: "integer",
      plain: "integer",
      order: "integer",
      code: "text",
      note: "text",
      doc: "json",
      price: "decimal",
      total: "decimal",
      link: "uuid",
      at: "timestamp",
      made: "timestamp",
      mood: "text",
      fixed: "text",
      flag: "boolean",
      old: "text",
      place: "other",
      moved: "timestamp",
      n: "integer",
      s: "decimal",
      slow: "integer",
    });
    const by = new Map(columns.map((column) => [column.name, column]));
    expect(by.get("price")).toMatchObject({
      precision: 8,
      scale: 2,
      nullable: true,
      hasDefault: false,
    });
    expect(by.get("made")).toMatchObject({ fractionDigits: 1 });
    expect(by.get("id")).toMatchObject({ generated: "none", range: { min: 0n } });
  });

  test.each([
    ["select 1 as a;", 1],
    ["with q as (select 1 as a) select * from q order by a", 1],
    ["select ? as a, 2 as b", 2],
  ])("takes the query %j", async (text, count) => {
    expect(await engine.query(own, text)).toHaveLength(count);
  });

  test.each([
    ["select 1; select 2", "SQL syntax"],
    ["select 1) as q; drop table kinds; select * from (select 1", "SQL syntax"],
    ["select * from no_such", "doesn't exist"],
    ["delete from kinds", "SQL syntax"],
    ["select 1 as a, 2 as a", "Duplicate column name 'a'"],
    ["", "SQL syntax"],
  ])("refuses the query %j and says why", async (text, message) => {
    await expect(engine.query(own, text)).rejects.toThrow(message);
  });
});

describe("the weight of a text of printable ASCII", () => {
  const printable = Array.from({ length: 94 }, (_, at) => String.fromCharCode(0x21 + at));

  test.each([
    ["utf8mb4_general_ci", true],
    ["utf8mb4_general_nopad_ci", true],
    ["utf8mb4_unicode_ci", true],
    ["utf8mb4_unicode_520_ci", true],
    ["utf8mb4_unicode_520_nopad_ci", true],
    ["utf8mb4_uca1400_ai_ci", true],
    ["utf8mb3_general_ci", true],
    ["utf8mb4_uca1400_as_cs", false],
    ["utf8mb4_spanish2_ci", false],
    ["utf8mb4_danish_ci", false],
  ])("in %s is that of its characters: %s", async (collation, isByCharacter) => {
    const known = await rows(
      "select 1 from information_schema.collations where ? like concat('%', collation_name)",
      [collation],
    );
    if (known.length === 0) return;
    const { c } = await tableWith(`varchar(99) collate ${collation}`);
    const { alike } = c;
    if (typeof alike !== "object") throw new Error("The column has no weights");
    expect(alike.isByCharacter ?? false).toBe(isByCharacter);
    const texts = [
      ...printable,
      ...printable.flatMap((one) => printable.map((other) => one + other)),
    ];
    const weights = new Map<string, unknown>();
    for (let at = 0; at < texts.length; at += 1000) {
      const some = texts.slice(at, at + 1000);
      const outputs = some.map((_, place) => `${alike.before}?${alike.behind} as f${place}`);
      const [row] = await rows(`select ${outputs.join(", ")}`, some);
      some.forEach((text, place) => weights.set(text, row![`f${place}`]));
    }
    const others = texts.filter(
      (text) => weights.get(text) !== [...text].map((one) => weights.get(one)).join(""),
    );
    if (isByCharacter) expect(others).toEqual([]);
    else expect(others).not.toEqual([]);
  });
});

describe('decimals "string"', () => {
  test("makes every decimal and 64-bit integer a text, and leaves smaller integers", async () => {
    const typed = await open(database.url, { ...options, decimals: "string" });
    await rows("create table amounts (big bigint, small int, price decimal(9,2))");
    const { columns } = (await engine.table(
      { connection: own, shared: new Map() },
      null,
      "amounts",
    ))!;
    const shown = (name: string, raw: unknown): unknown =>
      typed.dialect.decode(columns.get(name)!)?.(raw) ?? raw;
    expect([shown("big", 5), shown("small", 5), shown("price", "5.50")]).toEqual(["5", 5, "5.5"]);
  });
});
