/**
 * softDelete and rows that refer to each other: what a delete refuses, also marks or leaves unchanged, what restore
 * brings back with a row, details, imports, joins, and many concurrent clients.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { check, column, record, tally } from "./cases.ts";
import { by, openCellar } from "./cellar.ts";
import { importerOf, workbookOf } from "./imports.ts";

const cellar = openCellar();
const { post, create } = cellar;

const maker = (id: string) => create("makers", { maker_id: id, code: `C-${id}`, name: `n ${id}` });
const remove = (endpoint: string, key: string, id: string) => post(endpoint, "delete", by(key, id));
const restore = (endpoint: string, key: string, id: string) =>
  post(endpoint, "restore", by(key, id));
const ids = async (endpoint: string, key: string, like: string): Promise<unknown> =>
  column(
    await post(endpoint, "read", {
      where: { conditions: [{ key, operator: "LIKE", value: like }] },
    }),
    key,
  );
const inUse = { status: 409, error: "Foreign key constraint" };
const points = { status: 400, error: "Foreign key constraint" };

describe("a row that others point at", () => {
  test("is not deleted while an active row points at it", async () => {
    await maker("a1");
    await create("parts", { part_id: "a1p", maker_id: "a1" });
    check(await remove("makers", "maker_id", "a1"), inUse);
    expect(await ids("makers", "maker_id", "a1")).toEqual(["a1"]);
    check(await remove("parts", "part_id", "a1p"), { status: 200 });
    check(await remove("makers", "maker_id", "a1"), { status: 200 });
    check(await restore("parts", "part_id", "a1p"), { ...points, errors: ["maker_id"] });
    check(await restore("makers", "maker_id", "a1"), { status: 200 });
    check(await restore("parts", "part_id", "a1p"), { status: 200 });
  });

  test("is not deleted where the database would delete rows that have no soft delete", async () => {
    await maker("a2");
    await create("tags", { tag_id: "a2t", maker_id: "a2" });
    check(await remove("makers", "maker_id", "a2"), inUse);
    await remove("tags", "tag_id", "a2t");
    check(await remove("makers", "maker_id", "a2"), { status: 200 });
  });

  test("leaves rows whose reference the database would clear", async () => {
    await maker("a3");
    await create("notes", { note_id: "a3n", maker_id: "a3" });
    check(await remove("makers", "maker_id", "a3"), { status: 200 });
    check(await post("notes", "first", by("note_id", "a3n")), {
      status: 200,
      data: { maker_id: "a3" },
    });
    check(await post("notes", "update", { note_id: "a3n", text: "x" }), { status: 200 });
    check(await post("notes", "update", { note_id: "a3n", maker_id: "a3" }), points);
    check(await post("notes", "create", { note_id: "a3m", maker_id: "a3" }), points);
    check(await post("parts", "create", { part_id: "a3p", maker_id: "a3" }), points);
  });

  test("is not pointed at by a change of a part of the reference", async () => {
    for (const page of [1, 2]) await post("pages", "create", { book: "a5", page });
    await remove("pages", "page", "2");
    await post("marks", "create", { book: "a5", mark: 1, page: 1 });
    check(await post("marks", "update", { book: "a5", mark: 1, page: 2 }), points);
    const first = await post("marks", "first", by("book", "a5"));
    check(first, { status: 200, data: { page: 1 } });
  });

  test("is not pointed at by a default of the database", async () => {
    await post("pages", "create", { book: "a6", page: 9 });
    check(await post("marks", "create", { book: "a6", mark: 1 }), { status: 201 });
    await remove("marks", "book", "a6");
    await remove("pages", "book", "a6");
    check(await post("marks", "create", { book: "a6", mark: 2 }), points);
    check(await post("marks", "create", { book: "a6", mark: 2, page: null }), { status: 201 });
  });

  test("takes a row that points at itself with it, and whole trees", async () => {
    await maker("a4");
    for (const [id, boss_id] of [
      ["a4b", "a4"],
      ["a4c", "a4b"],
    ])
      await create("makers", { maker_id: id!, boss_id: boss_id! });
    check(await post("makers", "update", { maker_id: "a4", boss_id: "a4c" }), { status: 200 });
    check(await remove("makers", "maker_id", "a4b"), { status: 200 });
    expect(await ids("gone", "maker_id", "a4%")).toEqual(["a4", "a4b", "a4c"]);
    check(await restore("makers", "maker_id", "a4"), { status: 200 });
    expect(await ids("makers", "maker_id", "a4%")).toEqual(["a4", "a4b", "a4c"]);
  });
});

const inNineHundredYears = {
  sqlite: "'29' || substr(deleted_at, 3)",
  postgres: "deleted_at + interval '900 years'",
  mysql: "deleted_at + interval 900 year",
};

async function deletedAtMs(id: string): Promise<number> {
  const { deleted_at: stored } = await cellar.row("crates", "crate_id", id);
  return stored instanceof Date ? stored.getTime() : Date.parse(String(stored));
}

describe("rows that the same delete marks", () => {
  async function crates(id: string) {
    await maker(id);
    for (const one of ["x", "y"]) {
      await create("crates", { crate_id: `${id}${one}`, maker_id: id, name: `${id}${one}` });
      await create("slips", { slip_id: `${id}${one}s`, crate_id: `${id}${one}` });
    }
  }

  test("come back with it, and no others", async () => {
    await crates("b1");
    await remove("crates", "crate_id", "b1x");
    await remove("makers", "maker_id", "b1");
    expect(await ids("slips", "slip_id", "b1%")).toEqual([]);
    check(await restore("crates", "crate_id", "b1y"), { ...points, errors: ["maker_id"] });
    await restore("makers", "maker_id", "b1");
    expect(await ids("crates", "crate_id", "b1%")).toEqual(["b1y"]);
    expect(await ids("slips", "slip_id", "b1%")).toEqual(["b1ys"]);
    await restore("crates", "crate_id", "b1x");
    expect(await ids("slips", "slip_id", "b1%")).toEqual(["b1xs", "b1ys"]);
  });

  test("have a later time than rows that were marked at the same moment before", async () => {
    await crates("b2");
    await remove("crates", "crate_id", "b2x");
    await cellar.fixture.sql(
      `update crates set deleted_at = ${inNineHundredYears[cellar.fixture.engine]} where crate_id = 'b2x'`,
    );
    await remove("makers", "maker_id", "b2");
    const [x = 0, y = 0] = await Promise.all(["b2x", "b2y"].map(deletedAtMs));
    expect(y).toBeGreaterThan(x);
    await restore("makers", "maker_id", "b2");
    expect(await ids("crates", "crate_id", "b2%")).toEqual(["b2y"]);
  });

  test("give back their values, or nothing comes back", async () => {
    await crates("b3");
    await remove("makers", "maker_id", "b3");
    await create("crates", { crate_id: "b3z", name: "b3x" });
    check(await restore("makers", "maker_id", "b3"), { status: 409, error: "Duplicate entry" });
    expect(await ids("makers", "maker_id", "b3")).toEqual([]);
    expect(await ids("crates", "crate_id", "b3%")).toEqual(["b3z"]);
  });

  test("stay deleted while something else that they point at is", async () => {
    await crates("b4");
    await create("parts", { part_id: "b4p" });
    await post("slips", "update", { slip_id: "b4xs", part_id: "b4p" });
    await remove("makers", "maker_id", "b4");
    check(await remove("parts", "part_id", "b4p"), { status: 200 });
    check(await restore("makers", "maker_id", "b4"), { ...points, errors: [] });
    await restore("parts", "part_id", "b4p");
    check(await restore("makers", "maker_id", "b4"), { status: 200 });
  });
});

describe("a header with details", () => {
  const order = (id: string) =>
    post("orders", "create-composite", {
      orders: {
        order_id: id,
        order_lines: [1, 2].map((qty) => ({ line_id: `${id}-${qty}`, qty })),
        order_files: [{ file_id: `${id}-f` }],
      },
    });
  const read = async (id: string) =>
    (await post("orders", "read-composite", by("order_id", id))).body.data;
  const lineIds = (data: { order_lines: { line_id: string }[] }) =>
    data.order_lines.map(({ line_id }) => line_id);

  test("marks details that have the columns, leaves the others, and brings them back", async () => {
    check(await order("o1"), { status: 201, data: { total: 3 } });
    check(await remove("orders", "order_id", "o1"), { status: 200 });
    expect(await read("o1")).toBeNull();
    expect(await cellar.row("order_lines", "line_id", "o1-1")).toMatchObject({
      deleted_by: "Delete from API",
    });
    expect(await cellar.row("order_files", "file_id", "o1-f")).toMatchObject({ order_id: "o1" });
    await restore("orders", "order_id", "o1");
    const data = await read("o1");
    expect([lineIds(data), data.order_files.length]).toEqual([["o1-1", "o1-2"], 1]);
  });

  test("marks a detail that update-composite deletes, and counts the others", async () => {
    await order("o2");
    const answer = await post("orders", "update-composite", {
      orders: { order_id: "o2", order_lines: { delete: [{ line_id: "o2-1" }] } },
    });
    check(answer, { status: 200, data: { total: 2, _operations: { deleted: 1 } } });
    expect(lineIds(await read("o2"))).toEqual(["o2-2"]);
    const queried = await post("queried", "read-composite", by("order_id", "o2"));
    expect(lineIds(queried.body.data)).toEqual(["o2-2"]);
    expect((await cellar.row("order_lines", "line_id", "o2-1"))["deleted_at"]).not.toBeNull();
    const again = { orders: { order_id: "o2", order_lines: { delete: [{ line_id: "o2-1" }] } } };
    check(await post("orders", "update-composite", again), { status: 404, error: "Not found" });
    await remove("orders", "order_id", "o2");
    await restore("orders", "order_id", "o2");
    expect(lineIds(await read("o2"))).toEqual(["o2-2"]);
  });

  test("is not changed by update-composite while it is deleted", async () => {
    await order("o3");
    await remove("orders", "order_id", "o3");
    const body = { orders: { order_id: "o3", name: "x" } };
    check(await post("orders", "update-composite", body), { status: 404, error: "Not found" });
  });
});

describe("joins", () => {
  const asked = {
    tableName: "makers",
    sourceField: "maker",
    targetField: "maker_id",
    fields: ["name"],
  };
  test.each([
    ["by name", "parts", "part_id", "maker", "maker.name"],
    ["of a request", "labels", "label_id", asked, "makers.name"],
  ])("%s show nothing of a deleted row", async (_name, endpoint, key, join, field) => {
    const id = `j-${endpoint}`;
    await create("makers", { maker_id: id, name: "joined" });
    await create("parts", { part_id: id, maker_id: id });
    await cellar.fixture.sql(`update makers set is_deleted = true where maker_id = '${id}'`);
    const answer = await post(endpoint, "aggregate", {
      joins: [join],
      group_by: [field],
      where: [{ key, value: id }],
    });
    expect(answer.body.data).toEqual([{ [field]: null, "count_*": 1 }]);
  });
});

describe("an import", () => {
  test("refuses a row whose record is deleted, and one that points at a deleted record", async () => {
    for (const id of ["i1", "i2"]) await maker(id);
    await create("parts", { part_id: "i1p", maker_id: "i1" });
    await remove("parts", "part_id", "i1p");
    check(await remove("makers", "maker_id", "i1"), { status: 200 });
    const file = await workbookOf([
      ["part_id", "name", "maker"],
      ["i1p", "again", "n i2"],
      ["i2p", "new", "n i1"],
      ["i3p", "new", "n i2"],
    ]);
    const { body } = await importerOf(cellar.fixture).previewed("parts", file);
    const messages = body.errors.map(({ messages: [message] }: { messages: string[] }) => message);
    expect([body.summary, messages]).toEqual([
      { valid: 1, invalid: 2, skip: 0 },
      ["part_id: belongs to a deleted record; restore it first", 'maker: there is no "n i1"'],
    ]);
  });
});

const sixteen = Array.from({ length: 16 }, (_, at) => at);

describe("sixteen clients at once", () => {
  // Each then has a connection: while they are opened, one request after the other is served.
  beforeAll(async () => {
    await Promise.all(sixteen.map(() => post("makers", "first", by("maker_id", "none"))));
  });

  test("delete a row once, and restore it once", async () => {
    await maker("k1");
    for (const action of ["delete", "restore"]) {
      const answers = await Promise.all(
        sixteen.map(() => post("makers", action, by("maker_id", "k1"))),
      );
      expect(tally(answers)).toEqual({ 200: 1, 404: 15 });
    }
  });

  test("never leave an active row that points at a deleted one", async () => {
    for (let round = 0; round < 6; round++) {
      const id = `k2-${round}`;
      await maker(id);
      await create("parts", { part_id: `${id}-p`, maker_id: id });
      await remove("parts", "part_id", `${id}-p`);
      const answers = await Promise.all(
        sixteen.map((at) =>
          at % 4 === 0
            ? remove("makers", "maker_id", id)
            : at % 4 === 1
              ? restore("parts", "part_id", `${id}-p`)
              : post("parts", "create", { part_id: `${id}-${at}`, maker_id: id }),
        ),
      );
      expect(Object.keys(tally(answers)).filter((one) => one >= "500")).toEqual([]);
      const left = await cellar.fixture.sql(
        `select count(*) as n from parts p join makers m on m.maker_id = p.maker_id
         where m.is_deleted and coalesce(p.is_deleted, 0) = 0 and m.maker_id = '${id}'`,
      );
      expect(Number(left[0]!["n"])).toBe(0);
    }
  });

  test("mark and bring back a tree as one", async () => {
    await maker("k3");
    await create("crates", { crate_id: "k3x", maker_id: "k3", name: "k3x" });
    const answers = await Promise.all(
      sixteen.map((at) => (at % 2 ? remove : restore)("makers", "maker_id", "k3")),
    );
    expect(Object.keys(tally(answers)).filter((one) => one >= "500")).toEqual([]);
    const isThere = record(await post("everyone", "first", by("maker_id", "k3")))["is_deleted"];
    expect(await ids("crates", "crate_id", "k3%")).toEqual(isThere ? [] : ["k3x"]);
  });
});
