/**
 * What `prepared.ts` does past the driver: statements that are sent at once are each answered with their own rows,
 * whatever the others are; parameters arrive as they are; and descriptions of columns that were read before still are
 * those of the answer.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { Connection, Engine } from "../../db/engines/engine.ts";
import { open } from "../../db/engines/mysql/engine.ts";
import { executePacket, type OutgoingPacket } from "../../db/engines/mysql/execute-packet.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { type Line, openLine } from "../servers/line.ts";
import { send } from "./send.ts";

const require = createRequire(import.meta.url);
const driverFile = join(dirname(require.resolve("mysql2/package.json")), "lib/base/connection.js");
const { writePacket } = (
  require(driverFile) as { prototype: { writePacket(packet: OutgoingPacket): void } }
).prototype;

let database: FreshDatabase;
let line: Line;
let engine: Engine;
let connection: Connection;
beforeAll(async () => {
  database = await freshDatabase("mysql");
  const url = new URL(database.url);
  line = await openLine(url);
  url.host = line.host;
  engine = await open(url.href, { connectionsMax: 1, statementTimeoutMs: 0, decimals: "number" });
});
beforeEach(async () => {
  vi.spyOn(console, "error");
  connection = await engine.connect("read");
});
afterEach(() => {
  connection?.destroy();
  // The driver warns there of packets whose numbers it did not expect.
  expect(console.error).not.toHaveBeenCalled();
  vi.restoreAllMocks();
});
afterAll(async () => {
  line?.close();
  await database?.drop();
});

const rows = async (text: string, params: readonly unknown[] = []) =>
  (await send(connection, text, params, true)).rows;
/** Prepares the statement and learns its columns. */
const know = (text: string, params: readonly unknown[] = []) => rows(text, params);
const textOf = (error: unknown): string => (error as Error).message;

async function turnsOf(work: () => Promise<unknown>): Promise<number> {
  const before = line.turns;
  await work();
  return line.turns - before;
}

test("known statements are sent at once, and answered each with its own", async () => {
  await know("select ? + 0 as n", [0]);
  await know("select concat(?, '!') as text, 1 as one", [""]);
  const numbers = Array.from({ length: 100 }, (_, at) => at);
  const answers = () =>
    Promise.all(
      numbers.map((n) =>
        n % 3 === 0
          ? rows("select concat(?, '!') as text, 1 as one", [`t${n}`])
          : rows("select ? + 0 as n", [n]),
      ),
    );
  expect(await answers()).toEqual(
    numbers.map((n) => (n % 3 === 0 ? [{ text: `t${n}!`, one: 1 }] : [{ n }])),
  );
  expect(await turnsOf(() => rows("select ? + 0 as n", [1]))).toBe(1);
  // The server may answer the first before it gets the last.
  expect(await turnsOf(answers)).toBeLessThan(20);
});

const sameTexts = [0, 1, 83, 84, 250, 251, 65_535, 65_536].flatMap((length) => [
  "x".repeat(length),
  "é".repeat(length),
  "𝄞".repeat(length / 2),
]);
const largest = 2n ** 64n - 1n;

test.each<[string, string, readonly unknown[], unknown]>([
  ...sameTexts.map((text): [string, string, string[], string] => [
    `${Buffer.byteLength(text)} bytes in ${text.length} characters`,
    "?",
    [text],
    text,
  ]),
  ["quotes and zeros", "concat(?, ?)", ["a'b\\\"", "\0\n"], "a'b\\\"\0\n"],
  ["no bytes", "hex(?)", [Buffer.alloc(0)], ""],
  ["bytes", "hex(?)", [Buffer.from([0, 255, 39])], "00FF27"],
  ["many bytes", "length(?)", [Buffer.alloc(70_000)], 70_000],
  ["whole numbers", "concat(?, ' ', ?)", [0n, -1n], "0 -1"],
  [
    "the largest",
    "concat(?, ' ', ?)",
    [2n ** 63n - 1n, 2n ** 63n],
    `${2n ** 63n - 1n} ${2n ** 63n}`,
  ],
  ["the ends", "concat(?, ' ', ?)", [-(2n ** 63n), largest], `${-(2n ** 63n)} ${largest}`],
  ["a whole number beside a text", "? = '7.0'", [7n], 1],
  ["fractions", "concat(?, ' ', ?)", [1.5, -2e-9], "1.5 -0.000000002"],
  ["a double's last digit", "? = 0.1e0 + 0.2e0", [0.1 + 0.2], 1],
  ["truth", "concat(?, ?)", [true, false], "10"],
  ["nothing", "coalesce(?, 'nothing')", [null], "nothing"],
  [
    "nothing among others",
    `concat_ws(',', ${Array.from({ length: 19 }, () => "?").join(", ")})`,
    Array.from({ length: 19 }, (_, at) => (at % 3 === 0 ? null : String(at))),
    "1,2,4,5,7,8,10,11,13,14,16,17",
  ],
])("parameters that are %s arrive as they are", async (_what, expression, params, expected) => {
  const ask = () => rows(`select ${expression} as value`, params);
  // The driver sends the first.
  for (let time = 0; time < 3; time++) expect(await ask()).toEqual([{ value: expected }]);
});

test.each([
  [2 ** 24 - 2, [2 ** 24 - 2]],
  [2 ** 24 - 1, [2 ** 24 - 1, 0]],
  [2 ** 24, [2 ** 24 - 1, 1]],
  [2 ** 25 - 2, [2 ** 24 - 1, 2 ** 24 - 1, 0]],
])("%s bytes are sent in packets of the protocol", (length, packets) => {
  // A text of 16 MiB or more has five bytes more for its length.
  const beside = length > 2 ** 24 ? 23 : 18;
  const packet = executePacket(1, ["x".repeat(length - beside)]);
  const sent: Buffer[] = [];
  const driver = {
    config: {},
    sequenceId: 0,
    _bumpSequenceId(by: number) {
      this.sequenceId += by;
    },
    write: (bytes: Buffer) => void sent.push(Buffer.from(bytes)),
  };
  writePacket.call(driver, packet);
  const whole = Buffer.concat(sent);
  let at = 0;
  for (const [number, bytes] of packets.entries()) {
    expect([whole.readUIntLE(at, 3), whole[at + 3]]).toEqual([bytes, number]);
    at += 4 + bytes;
  }
  expect(at).toBe(whole.length);
});

test.each([undefined, Symbol("no"), { a: 1 }, () => 1])(
  "a parameter that is none is refused, and nothing else: %s",
  async (value) => {
    await know("select ? + 0 as n", [0]);
    const three = [1, value, 3].map((n) => rows("select ? + 0 as n", [n]));
    const [first, second, third] = await Promise.allSettled(three);
    expect(first).toMatchObject({ value: [{ n: 1 }] });
    expect(second).toMatchObject({ reason: expect.any(TypeError) });
    expect(third).toMatchObject({ value: [{ n: 3 }] });
  },
);

test("among statements that are not known yet, each is answered with its own", async () => {
  await know("select ? + 0 as n", [0]);
  const numbers = Array.from({ length: 60 }, (_, at) => at);
  const answers = numbers.map((n) => {
    if (n % 7 === 3) return rows(`select ${n} as new`);
    if (n % 7 === 5)
      return send(connection, `select ${n} as once`).then(({ rows: [row] }) => [row]);
    return n % 7 === 6 ? rows("set @x = 1").then(() => []) : rows("select ? + 0 as n", [n]);
  });
  const names: Record<number, string> = { 3: "new", 5: "once" };
  expect(await Promise.all(answers)).toEqual(
    numbers.map((n) => (n % 7 === 6 ? [] : [{ [names[n % 7] ?? "n"]: n }])),
  );
});

test("a statement that fails, fails alone", async () => {
  await know("select ? + 0 as n", [0]);
  await know("select 1 from seq_1_to_3 where seq = ? having exp(sum(seq) * 1000) > 0", [1]).catch(
    () => [],
  );
  await rows("create table kept (id int primary key)");
  await know("insert into kept values (?)", [1]);
  const work = [
    rows("select ? + 0 as n", [1]),
    rows("insert into kept values (?)", [1]),
    rows("select ? + 0 as n", [2]),
    rows("select missing from kept"),
    rows("insert into kept values (?)", [2]),
  ];
  const results = await Promise.allSettled(work);
  expect(
    results.map((one) => (one.status === "fulfilled" ? one.value : textOf(one.reason))),
  ).toEqual([
    [{ n: 1 }],
    expect.stringContaining("Duplicate entry '1'"),
    [{ n: 2 }],
    expect.stringContaining("Unknown column 'missing'"),
    [],
  ]);
  expect(await rows("select id from kept")).toEqual([{ id: 1 }, { id: 2 }]);
});

test("a statement that is killed takes no other with it", async () => {
  await know("select ? + 0 as n", [0]);
  await know("select sleep(?) as slept", [0]);
  const [{ id }] = (await rows("select connection_id() as id")) as [{ id: number }];
  const slow = rows("select sleep(?) as slept", [20]).then(
    ([row]) => row!["slept"],
    (error: unknown) => engine.failure(error).kind,
  );
  const behind = rows("select ? + 0 as n", [7]);
  const other = await engine.connect("read");
  await expect
    .poll(async () => {
      const text = "select state from information_schema.processlist where id = ?";
      return (await send(other, text, [id])).rows[0]!["state"];
    })
    .toBe("User sleep");
  await send(other, `kill query ${id}`);
  other.destroy();
  // MariaDB ends a sleep with 1, or with an error.
  expect([1, "timeout"]).toContain(await slow);
  expect(await behind).toEqual([{ n: 7 }]);
});

test.each([
  ["more columns", "alter table changing add column c int default 3", { a: 1, b: "x", c: 3 }],
  ["fewer columns", "alter table changing drop column a", { b: "x" }],
  ["another name", "alter table changing rename column a to z", { z: 1, b: "x" }],
  ["another type", "alter table changing modify a varchar(9)", { a: "1", b: "x" }],
  ["a larger type", "alter table changing modify a bigint", { a: 1, b: "x" }],
  ["another sign", "alter table changing modify a int unsigned", { a: 1, b: "x" }],
  ["another character set", "alter table changing modify b text charset latin1", { a: 1, b: "x" }],
])("a table with %s is read as it is", async (_what, change, after) => {
  await rows("drop table if exists changing");
  await rows("create table changing (a int, b varchar(9))");
  await rows("insert into changing values (1, 'x')");
  const read = () => rows("select * from changing");
  for (let time = 0; time < 3; time++) expect(await read()).toEqual([{ a: 1, b: "x" }]);
  await rows(change);
  for (let time = 0; time < 3; time++) expect(await read()).toEqual([after]);
  await rows("delete from changing");
  expect(await read()).toEqual([]);
});

test("descriptions that come in pieces, and many rows, are read", async () => {
  const names = Array.from({ length: 900 }, (_, at) => `column_with_a_long_name_${at}`);
  const text = `select ${names.map((name, at) => `seq + ${at} as ${name}`).join(", ")} from seq_1_to_9`;
  for (let time = 0; time < 4; time++) {
    const found = await rows(text);
    expect(found).toHaveLength(9);
    expect(found[8]![names[899]!]).toBe(908);
    expect(Object.keys(found[0]!)).toEqual(names);
  }
});

test("a transaction begins with its first statement, and every answer comes back in its place", async () => {
  await rows("create table moved (id int primary key, n int)");
  await rows("insert into moved values (1, 0)");
  const plain = (text: string) => ({ text, params: [], reuse: false });
  const text = "update moved set n = n + ? where id = 1";
  await know(text, [0]);
  const before = [plain("start transaction")];
  const begin = () => connection.send({ text, params: [1], reuse: true, before });
  expect(await turnsOf(async () => expect((await begin()).matched).toBe(1))).toBe(1);
  await send(connection, "rollback");
  expect(await rows("select n from moved")).toEqual([{ n: 0 }]);
  const failing = { ...plain("insert into moved values (1, 1)"), before };
  await expect(connection.send(failing)).rejects.toThrow("Duplicate entry '1'");
  await send(connection, "insert into moved values (2, 2)");
  await send(connection, "rollback");
  expect(await rows("select n from moved")).toEqual([{ n: 0 }]);
  const impossible = { text, params: [1], reuse: true, before: [plain("start nonsense")] };
  await expect(connection.send(impossible)).rejects.toThrow("nonsense");
  expect(connection.alive).toBe(true);
});

test("statements beyond those that stay prepared still run, at once too", async () => {
  const texts = Array.from({ length: 450 }, (_, at) => `select ${at} + ? as n`);
  for (let round = 0; round < 2; round++) {
    const found = await Promise.all(texts.map((text) => rows(text, [1])));
    expect(found).toEqual(texts.map((_, at) => [{ n: at + 1 }]));
  }
});

test("a procedure's results are read, also after one with other columns", async () => {
  await rows(
    "create procedure several(which int) begin if which = 1 then select 1 as a; else select 'x' as b, 2 as c; end if; select 3 as d; end",
  );
  for (const [which, expected] of [
    [1, { a: 1 }],
    [2, { b: "x", c: 2 }],
    [1, { a: 1 }],
  ] as const)
    expect(await rows("call several(?)", [which])).toEqual([expected]);
});

test("nothing is sent ahead to a server that must not get it", async () => {
  const url = new URL(database.url);
  url.host = line.host;
  url.searchParams.set("pipelining", "false");
  const options = { connectionsMax: 1, statementTimeoutMs: 0, decimals: "number" } as const;
  connection.destroy();
  connection = await (await open(url.href, options)).connect("read");
  await know("select ? + 0 as n", [0]);
  const three = () => Promise.all([1, 2, 3].map((n) => rows("select ? + 0 as n", [n])));
  expect(await turnsOf(three)).toBe(3);
  const before = [{ text: "start transaction", params: [], reuse: false }];
  const begin = async () =>
    connection.send({ text: "select ? + 0 as n", params: [1], reuse: true, before });
  expect(await turnsOf(begin)).toBe(2);
  await expect(open(`${url.href}&pipeline=no`, options)).rejects.toThrow(
    'unknown option "pipeline"',
  );
});

test("a reset session prepares anew", async () => {
  await know("select ? + 0 as n", [0]);
  await engine.reset(connection);
  expect(await Promise.all([1, 2, 3].map((n) => rows("select ? + 0 as n", [n])))).toEqual([
    [{ n: 1 }],
    [{ n: 2 }],
    [{ n: 3 }],
  ]);
});
