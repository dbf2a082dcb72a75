/** Writes, their errors and transactions: the same on every engine. */
import { beforeAll, describe, expect, test } from "vitest";
import type { ErrorKind, FieldErrors } from "../../core/values/errors.ts";
import { type Assignment, type Condition, equals } from "../../core/query/statement.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import {
  column,
  engine,
  errorOf,
  insert,
  insertAll,
  reopen,
  select,
  session,
  set,
  update,
  useBench,
} from "./conformance.ts";
import { bareSession } from "./bare-session.ts";

const bench = useBench();
const of = (name: string) => column(bench.people, name);

/** A new person; its key. */
async function person(row: Record<string, Scalar> = { name: "x" }): Promise<bigint> {
  const [created] = await session(bench).insert(insert(bench.people, row, ["id"]));
  return BigInt(created!["id"] as number);
}
const read = (id: Scalar, ...names: string[]) =>
  session(bench).one(select(bench.people, names, { where: equals(of("id"), id) }));
const remove = (where: Condition, ...names: string[]) =>
  session(bench).delete({
    kind: "delete",
    table: bench.people,
    key: [of("id")],
    where,
    returning: names.map(of),
  });
const add = (name: string, delta: string): Assignment => ({ kind: "add", column: of(name), delta });

beforeAll(async () => {
  await session(bench).insert(
    insertAll(bench.parents, [
      { id: "p1", name: "one" },
      { id: "p2", name: "two" },
      { id: "free", name: "free" },
    ]),
  );
});

describe("an insert", () => {
  test("answers the stored rows in order, with what the database filled in", async () => {
    const rows = ["c", "a", "b"].map((code) => ({ code: `order-${code}`, stock: 1n }));
    const stored = await session(bench).insert(
      insertAll(bench.people, rows, ["id", "code", "name"]),
    );
    expect(stored.map((row) => row["code"])).toEqual(["order-c", "order-a", "order-b"]);
    expect(stored.map((row) => row["name"])).toEqual(["nobody", "nobody", "nobody"]);
    expect(new Set(stored.map((row) => row["id"])).size).toBe(3);
  });

  test("with given keys answers the rows in their order", async () => {
    const rows = ["z", "y", "x", "Y"].map((id) => ({ id: `key-${id}`, name: id }));
    const stored = await session(bench).insert(insertAll(bench.parents, rows, ["name"]));
    expect(stored).toEqual([{ name: "z" }, { name: "y" }, { name: "x" }, { name: "Y" }]);
  });

  test("of nothing but defaults works", async () => {
    const statement = {
      kind: "insert",
      table: bench.people,
      key: [of("id")],
      columns: [],
      rows: [[], []],
      returning: [of("name")],
    } as const;
    expect(await session(bench).insert(statement)).toEqual([
      { name: "nobody" },
      { name: "nobody" },
    ]);
  });

  test("of more rows than one statement takes is one whole", async () => {
    const rows = Array.from({ length: 3_000 }, (_, at) => ({
      code: `many-${at}`,
      name: "m",
      stock: BigInt(at),
    }));
    const stored = await session(bench, 30_000).insert(insertAll(bench.people, rows, ["code"]));
    expect(stored).toHaveLength(3_000);
    expect(stored[2_999]).toEqual({ code: "many-2999" });
    const twice = [
      ...rows.map((row) => ({ ...row, code: `${row.code}-again` })),
      { code: "many-7", name: "m", stock: 1n },
    ];
    expect(
      (await errorOf(session(bench, 30_000).insert(insertAll(bench.people, twice)))).kind,
    ).toBe("duplicateEntry");
    expect(
      await session(bench).all(
        select(bench.people, ["id"], { where: equals(of("code"), "many-7-again") }),
      ),
    ).toEqual([]);
  });
});

describe("an update", () => {
  test("answers the row after the change", async () => {
    const id = await person({ name: "old", stock: 5n });
    const changed = await session(bench).updateOne(
      update(bench.people, id, [set(bench.people, "name", "new"), add("stock", "-7")], {
        returning: ["name", "stock"],
      }),
    );
    expect(changed).toEqual({ name: "new", stock: -2 });
  });

  test("that changes nothing still answers the row", async () => {
    const id = await person({ name: "same" });
    const change = update(bench.people, id, [set(bench.people, "name", "same")], {
      returning: ["name"],
    });
    expect(await session(bench).updateOne(change)).toEqual({ name: "same" });
  });

  test("of a row that is not there answers null", async () => {
    expect(
      await session(bench).updateOne(update(bench.people, -1n, [set(bench.people, "name", "x")])),
    ).toBeNull();
  });

  test("whose guard does not hold answers null and changes nothing", async () => {
    const id = await person({ name: "x", stock: 3n });
    const guard: Condition = { kind: "compare", column: of("stock"), operator: ">=", value: 5n };
    expect(
      await session(bench).updateOne(update(bench.people, id, [add("stock", "-5")], { guard })),
    ).toBeNull();
    expect(await read(id, "stock")).toEqual({ stock: 3 });
  });

  test("of the key answers the row under its new key", async () => {
    await session(bench).insert(insert(bench.parents, { id: "before", name: "n" }));
    const changed = await session(bench).updateOne(
      update(bench.parents, "before", [set(bench.parents, "id", "after")], {
        returning: ["id", "name"],
      }),
    );
    expect(changed).toEqual({ id: "after", name: "n" });
  });

  test.each([
    ["0.1", "0.2", 0.3],
    ["1.1", "2.2", 3.3],
    ["9999999999.98", "0.01", 9_999_999_999.99],
    ["0.3", "-0.1", 0.2],
    ["5", "-5", 0],
  ])("adds decimals exactly: %s and %s", async (start, delta, sum) => {
    const id = await person({ name: "x", price: start });
    expect(
      await session(bench).updateOne(
        update(bench.people, id, [add("price", delta)], { returning: ["price"] }),
      ),
    ).toEqual({ price: sum });
    const where: Condition = {
      kind: "and",
      members: [equals(of("id"), id), equals(of("price"), String(sum))],
    };
    expect(await session(bench).all(select(bench.people, ["price"], { where }))).toHaveLength(1);
  });

  test("adds big integers exactly", async () => {
    const id = await person({ name: "x", big: 9_007_199_254_740_993n });
    expect(
      await session(bench).updateOne(
        update(bench.people, id, [add("big", "2")], { returning: ["big"] }),
      ),
    ).toEqual({ big: "9007199254740995" });
  });

  test("leaves a null null when it adds", async () => {
    const id = await person({ name: "x", stock: null });
    expect(
      await session(bench).updateOne(
        update(bench.people, id, [add("stock", "1")], { returning: ["stock"] }),
      ),
    ).toEqual({ stock: null });
  });

  test.each([
    ["null and no other", null, null, "2026-01-01T00:00:00.000Z"],
    ["earlier", "2025-01-01T00:00:00.000Z", null, "2026-01-01T00:00:00.000Z"],
    ["the same", "2026-01-01T00:00:00.000Z", null, "2026-01-01T00:00:00.001Z"],
    ["later", "2026-05-01T10:00:00.999Z", null, "2026-05-01T10:00:01.000Z"],
    ["null and the other the same", null, "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.001Z"],
    [
      "earlier than the other",
      "2026-02-01T00:00:00.000Z",
      "2026-03-01T00:00:00.123Z",
      "2026-03-01T00:00:00.124Z",
    ],
  ])(
    "stamps the time of a change so that it grows: the old is %s",
    async (_case, changed, created, expected) => {
      const id = await person({ name: "x", changed, created });
      const stamp: Assignment = {
        kind: "stamp",
        column: of("changed"),
        after: of("created"),
        now: "2026-01-01T00:00:00.000Z",
      };
      expect(
        await session(bench).updateOne(
          update(bench.people, id, [stamp], { returning: ["changed"] }),
        ),
      ).toEqual({ changed: expected });
      const where: Condition = {
        kind: "and",
        members: [equals(of("id"), id), equals(of("changed"), expected)],
      };
      expect(await session(bench).all(select(bench.people, ["id"], { where }))).toHaveLength(1);
    },
  );

  test("64 times at once never goes below its guard", async () => {
    const id = await person({ name: "x", stock: 40n });
    const guard: Condition = { kind: "compare", column: of("stock"), operator: ">=", value: 1n };
    const outcomes = await Promise.all(
      Array.from({ length: 64 }, () =>
        session(bench).updateOne(
          update(bench.people, id, [add("stock", "-1")], { guard, returning: ["stock"] }),
        ),
      ),
    );
    expect(outcomes.filter((row) => row !== null)).toHaveLength(40);
    expect(new Set(outcomes.flatMap((row) => (row === null ? [] : [row["stock"]]))).size).toBe(40);
    expect(await read(id, "stock")).toEqual({ stock: 0 });
  });
});

describe("a delete", () => {
  test("answers the rows as they were, and only what was asked for", async () => {
    for (const name of ["d1", "d2"]) await person({ name, first: "del", second: name });
    const gone = await remove(equals(of("first"), "del"), "name", "second");
    expect(gone.toSorted((a, b) => String(a["name"]).localeCompare(String(b["name"])))).toEqual([
      { name: "d1", second: "d1" },
      { name: "d2", second: "d2" },
    ]);
    expect(await remove(equals(of("first"), "del"), "name")).toEqual([]);
  });

  test("tells only the number when no columns are asked for", async () => {
    for (const name of ["e1", "e2"]) await person({ name, first: "num", second: name });
    expect(await remove(equals(of("first"), "num"))).toHaveLength(2);
  });

  test.each([
    ["an empty group", { kind: "and", members: [] }],
    ["an empty group within an or", { kind: "or", members: [{ kind: "and", members: [] }] }],
  ] as [string, Condition][])("with %s is refused", async (_case, where) => {
    await expect(remove(where, "id")).rejects.toThrow("A DELETE needs a condition");
  });

  test("of a referenced row says that it is in use", async () => {
    await person({ name: "child", parent: "p1" });
    const { parents } = bench;
    const error = await errorOf(
      session(bench).delete({
        kind: "delete",
        table: parents,
        key: [column(parents, "id")],
        where: equals(column(parents, "id"), "p1"),
        returning: [],
      }),
    );
    expect(error.kind).toBe("foreignKeyInUse");
    expect(
      await session(bench).count({
        kind: "count",
        source: { kind: "table", schema: null, name: "parents", columns: new Map() },
        where: equals(column(parents, "id"), "p1"),
      }),
    ).toBe(1);
  });
});

describe("a failure", () => {
  const cases: readonly (readonly [
    string,
    Record<string, Scalar>,
    ErrorKind,
    FieldErrors | undefined,
  ])[] = [
    [
      "a unique column",
      { name: "x", code: "taken" },
      "duplicateEntry",
      { code: ["already exists"] },
    ],
    [
      "a unique pair",
      { name: "x", first: "pair", second: "pair" },
      "duplicateEntry",
      { first: ["already exists"], second: ["already exists"] },
    ],
    [
      "a foreign key",
      { name: "x", parent: "nobody" },
      "foreignKeyMissing",
      { parent: ["does not exist"] },
    ],
    ["not null", { name: null, code: "nn" }, "validationFailed", { name: ["must not be null"] }],
    [
      "a check",
      { stock: -101n },
      "validationFailed",
      { stock: ["is not allowed by the database"] },
    ],
  ];

  beforeAll(async () => {
    await person({ name: "x", code: "taken", first: "pair", second: "pair" });
  });

  test.each(cases)(
    "of %s names the field, on insert and on update",
    async (_case, row, kind, errors) => {
      const created = await errorOf(session(bench).insert(insert(bench.people, row, ["id"])));
      expect([created.kind, created.errors]).toEqual([kind, errors]);
      const id = await person();
      const changes = Object.entries(row).map(([name, value]) => set(bench.people, name, value));
      const changed = await errorOf(session(bench).updateOne(update(bench.people, id, changes)));
      expect(changed.kind).toBe(kind);
      if (kind !== "validationFailed" || changes.length === 1)
        expect(changed.errors).toEqual(errors);
    },
  );

  test("says nothing of SQL, values or the driver", async () => {
    const error = await errorOf(
      session(bench).insert(insert(bench.people, { name: "x", code: "taken" })),
    );
    expect(JSON.stringify([error.message, error.errors])).not.toMatch(
      /taken|people|insert|constraint|key/i,
    );
    expect(error.cause).toBeInstanceOf(Error);
  });

  test("that nobody foresaw is internal", async () => {
    const source = { kind: "table", schema: null, name: "not_there", columns: new Map() } as const;
    const error = await errorOf(session(bench).count({ kind: "count", source, where: null }));
    expect([error.kind, error.message]).toEqual(["internal", "Internal server error"]);
  });

  // SQLite keeps texts and integers of any declared size; the service refuses them before it is asked.
  test.runIf(engine !== "sqlite")("of a text that is too long is the request's fault", async () => {
    const error = await errorOf(
      session(bench).insert(insert(bench.people, { first: "x".repeat(11) })),
    );
    expect([error.kind, error.errors]).toEqual(["validationFailed", { first: ["is too long"] }]);
  });

  test.runIf(engine !== "sqlite")("of a number out of range is the request's fault", async () => {
    const error = await errorOf(
      session(bench).insert(insert(bench.people, { stock: 3_000_000_000n })),
    );
    expect([error.kind, Object.keys(error.errors ?? {})]).toEqual(["validationFailed", ["stock"]]);
  });
});

describe("a transaction", () => {
  test("commits what its work did, and answers its result", async () => {
    const id = await session(bench).tx(async (tx) => {
      const [row] = await tx.insert(insert(bench.people, { name: "tx" }, ["id"]));
      expect(
        await tx.one(
          select(bench.people, ["name"], { where: equals(of("id"), BigInt(row!["id"] as number)) }),
        ),
      ).toEqual({ name: "tx" });
      return row!["id"] as number;
    });
    expect(await read(BigInt(id), "name")).toEqual({ name: "tx" });
  });

  test("undoes everything when its work fails", async () => {
    const work = session(bench).tx(async (tx) => {
      await tx.insert(insert(bench.people, { name: "x", code: "undone" }, ["id"]));
      throw new Error("stop");
    });
    await expect(work).rejects.toThrow("stop");
    expect(
      await session(bench).all(
        select(bench.people, ["id"], { where: equals(of("code"), "undone") }),
      ),
    ).toEqual([]);
  });

  test("cannot go on after a failed statement, even when the failure was caught", async () => {
    const work = session(bench).tx(async (tx) => {
      await tx.insert(insert(bench.people, { name: "x", code: "caught" }, ["id"]));
      await tx.insert(insert(bench.people, { name: "x", code: "caught" }, ["id"])).catch(() => {});
      await tx
        .insert(insert(bench.people, { name: "x", code: "caught-2" }, ["id"]))
        .catch(() => {});
    });
    expect((await errorOf(work)).kind).toBe("duplicateEntry");
    expect(
      await session(bench).all(
        select(bench.people, ["id"], {
          where: {
            kind: "like",
            column: of("code"),
            pattern: "caught%",
            negated: false,
            ignoreCase: false,
          },
        }),
      ),
    ).toEqual([]);
  });

  test("lets nothing through of statements that were not awaited when it failed", async () => {
    const work = session(bench).tx((tx) =>
      Promise.all(
        ["taken-2", "taken-2", "late"].map((code) =>
          tx.insert(insert(bench.people, { name: "x", code }, ["id"])),
        ),
      ),
    );
    expect((await errorOf(work)).kind).toBe("duplicateEntry");
    expect(
      await session(bench).all(select(bench.people, ["id"], { where: equals(of("code"), "late") })),
    ).toEqual([]);
  });

  test("refuses statements after its end", async () => {
    let kept: Parameters<Parameters<ReturnType<typeof session>["tx"]>[0]>[0] | undefined;
    await session(bench).tx(async (tx) => {
      kept = tx;
    });
    await expect(kept!.insert(insert(bench.people, { name: "x", code: "after" }))).rejects.toThrow(
      "The transaction has ended",
    );
    expect(
      await session(bench).all(
        select(bench.people, ["id"], { where: equals(of("code"), "after") }),
      ),
    ).toEqual([]);
  });

  test("is not seen by others before its end", async () => {
    await session(bench).tx(async (tx) => {
      await tx.insert(insert(bench.people, { name: "x", code: "unseen" }));
      expect(
        await session(bench).all(
          select(bench.people, ["id"], { where: equals(of("code"), "unseen") }),
        ),
      ).toEqual([]);
    });
  });

  test("runs beside 19 others without losing an update", async () => {
    const id = await person({ name: "x", stock: 0n });
    await Promise.all(
      Array.from({ length: 20 }, () =>
        session(bench).tx(async (tx) => {
          const row = await tx.one(
            select(bench.people, ["stock"], { where: equals(of("id"), id), lock: true }),
          );
          await tx.updateOne(
            update(bench.people, id, [
              set(bench.people, "stock", BigInt(row!["stock"] as number) + 1n),
            ]),
          );
        }),
      ),
    );
    expect(await read(id, "stock")).toEqual({ stock: 20 });
  });

  test("runs again after a deadlock", async () => {
    const [one, two] = [
      await person({ name: "x", stock: 0n }),
      await person({ name: "x", stock: 0n }),
    ];
    let tries = 0;
    const cross = (from: bigint, to: bigint) =>
      session(bench).tx(async (tx) => {
        tries++;
        await tx.updateOne(update(bench.people, from, [add("stock", "1")]));
        await new Promise((resolve) => setTimeout(resolve, 50));
        await tx.updateOne(update(bench.people, to, [add("stock", "1")]));
      });
    await Promise.all([cross(one, two), cross(two, one)]);
    expect([await read(one, "stock"), await read(two, "stock")]).toEqual([
      { stock: 2 },
      { stock: 2 },
    ]);
    expect(tries).toBeGreaterThanOrEqual(engine === "sqlite" ? 2 : 3);
  });
});

describe("a deadline", () => {
  test("that is past stops a statement before it runs", async () => {
    const late = bareSession(bench.db, performance.now() - 1);
    expect(
      (await errorOf(late.insert(insert(bench.people, { name: "x", code: "too-late" })))).kind,
    ).toBe("unavailable");
    expect((await errorOf(late.tx(async () => {}))).kind).toBe("unavailable");
    expect(
      await session(bench).all(
        select(bench.people, ["id"], { where: equals(of("code"), "too-late") }),
      ),
    ).toEqual([]);
  });

  test("ends a transaction whose work takes too long, and undoes it", async () => {
    const startedAtMs = performance.now();
    const work = session(bench, 300).tx(async (tx) => {
      await tx.insert(insert(bench.people, { name: "x", code: "slow" }));
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await tx.insert(insert(bench.people, { name: "x", code: "slow-2" }));
    });
    expect((await errorOf(work)).kind).toBe("unavailable");
    expect(performance.now() - startedAtMs).toBeLessThan(800);
    expect(
      await session(bench).all(select(bench.people, ["id"], { where: equals(of("code"), "slow") })),
    ).toEqual([]);
  });

  test("ends the wait for a row that another transaction holds", async () => {
    const id = await person({ name: "x", stock: 1n });
    await session(bench).tx(async (tx) => {
      await tx.updateOne(update(bench.people, id, [add("stock", "1")]));
      const startedAtMs = performance.now();
      expect(
        (
          await errorOf(
            session(bench, 300).updateOne(update(bench.people, id, [add("stock", "10")])),
          )
        ).kind,
      ).toBe("unavailable");
      expect(performance.now() - startedAtMs).toBeLessThan(1_000);
    });
    // The server can still execute a statement whose caller gave up; nothing is half done.
    expect([2, 12]).toContain((await read(id, "stock"))!["stock"]);
  });
});

describe("a database", () => {
  test("answers a ping", async () => {
    await expect(bench.db.ping()).resolves.toBeUndefined();
  });

  test("refuses statements after it was closed", async () => {
    const other = await reopen(bench, {});
    await other.ping();
    await other.close();
    expect(
      (
        await errorOf(
          bareSession(other, Infinity).count({
            kind: "count",
            source: { kind: "table", schema: null, name: "people", columns: new Map() },
            where: null,
          }),
        )
      ).kind,
    ).toBe("unavailable");
  });

  test("serves many more callers than it has connections", async () => {
    const counts = await Promise.all(
      Array.from({ length: 300 }, () =>
        session(bench).count({
          kind: "count",
          source: { kind: "table", schema: null, name: "parents", columns: new Map() },
          where: null,
        }),
      ),
    );
    expect(new Set(counts).size).toBe(1);
  });
});
