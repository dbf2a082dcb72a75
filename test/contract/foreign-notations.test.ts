/** Types known to the service only by their text form: bits as digits (PostgreSQL, MySQL), MySQL geometry as WKT. */
import { describe, expect, inject, test } from "vitest";
import { check, record, records } from "./cases.ts";
import { openFixture, openForTests } from "./harness.ts";

const engine = inject("engine");
const isMysql = engine === "mysql";

const service = openForTests(openFixture, {
  tables: [],
  setUp: () => [
    `create table things (id integer primary key, flags bit(9)${isMysql ? ", wide bit(64), place point, area geometry" : ", ones bit varying(9)"})`,
  ],
  endpoints: {
    things: {
      tableName: "things",
      action: {
        create: true,
        read: true,
        first: true,
        update: true,
        aggregate: true,
        datatables: true,
      },
    },
  },
  project: { cache: { enabled: false } },
});

const found = async (key: string, operator: string, value: unknown): Promise<unknown[]> => {
  const where = { conditions: [{ key, operator, value }] };
  const answer = await service.post("things/read", { where });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return records(answer).map(({ id }) => id);
};
const refusal = (key: string, message: string) => ({
  status: 400,
  error: "Validation failed",
  errors: { [key]: [message] },
});

const tooLong: [string, unknown, string][] = [["ones", "1010101010", "must have at most 9 digits"]];

describe.skipIf(engine === "sqlite")("bits", () => {
  test("are shown, stored, compared and searched as all their digits", async () => {
    for (const [id, flags] of [
      [1, "000000101"],
      [2, "100000000"],
    ] as const) {
      const created = await service.post("things/create", { id, flags });
      expect(record(created)).toMatchObject({ flags });
      expect(await found("flags", "=", flags)).toEqual([id]);
    }
    expect(await found("flags", ">", "000000101")).toEqual([2]);
    expect(await found("flags", "LIKE", "%0101")).toEqual([1]);
    expect(
      record(await service.post("things/update", { id: 1, flags: "000000111" })),
    ).toMatchObject({ flags: "000000111" });
    const sorted = { sort_columns: [{ column: "flags", direction: "DESC" }], per_page: 1 };
    const page = await service.post("things/read", { ...sorted, page: 1 });
    expect(records(page)).toMatchObject([{ id: 2 }]);
    const grouped = await service.post("things/aggregate", {
      group_by: ["flags"],
      sort_columns: [{ column: "flags", direction: "ASC" }],
    });
    expect(grouped.body.data).toMatchObject([{ flags: "000000111" }, { flags: "100000000" }]);
  });

  test("are walked by cursor", async () => {
    const body = {
      sort_columns: [{ column: "flags", direction: "ASC" }],
      per_page: 1,
      cursor: true,
    };
    const first = await service.post("things/read", body);
    check(first, { status: 200 });
    const { next_cursor: cursor } = first.body.pagination;
    const second = await service.post("things/read", { ...body, cursor });
    expect([...records(first), ...records(second)]).toMatchObject([{ id: 1 }, { id: 2 }]);
  });

  test.each<[string, unknown, string]>([
    ["flags", "101", "must have exactly 9 digits"],
    ["flags", "0000001012", "must be a text of the digits 0 and 1"],
    ["flags", true, "must be text"],
    ...(isMysql ? [] : tooLong),
  ])("%s refuses %j", async (key, value, message) => {
    check(await service.post("things/create", { id: 3, [key]: value }), refusal(key, message));
  });

  test.runIf(isMysql)("keep 64 of them", async () => {
    const wide = "1".repeat(63) + "0";
    expect(record(await service.post("things/create", { id: 4, wide }))).toMatchObject({ wide });
    expect(await found("wide", "=", wide)).toEqual([4]);
    expect(await found("wide", "LIKE", "1%10")).toEqual([4]);
  });
});

describe.runIf(isMysql)("geometry", () => {
  const area = "POLYGON((0 0,4 0,4 4,0 0))";

  test("is stored, shown and compared as WKT", async () => {
    const created = await service.post("things/create", { id: 10, place: "point( 1  2.5 )", area });
    expect(record(created)).toMatchObject({ place: "POINT(1 2.5)", area });
    expect(await found("place", "=", "POINT(1 2.5)")).toEqual([10]);
    expect(await found("place", "=", "POINT (1.0 2.5)")).toEqual([10]);
    expect(await found("area", "LIKE", "POLYGON%")).toEqual([10]);
    const sent = { id: 10, place: "POINT(-1 1e3)", area: null };
    expect(record(await service.post("things/update", sent))).toMatchObject({
      place: "POINT(-1 1000)",
      area: null,
    });
  });

  test.each([
    ["area", "GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(0 0,1 1))"],
    ["area", "GEOMETRYCOLLECTION EMPTY"],
    ["area", "MULTIPOINT(1 2,3 4)"],
    ["area", "MULTIPOLYGON(((0 0,4 0,4 4,0 0)),((5 5,6 5,6 6,5 5)))"],
    ["area", "MULTILINESTRING((0 0,1 1),(2 2,3 3))"],
  ])("%s takes %s", async (key, sent) => {
    const answer = await service.post("things/update", { id: 10, [key]: sent });
    expect(record(answer)).toMatchObject({ [key]: sent });
  });

  const message = "must be a geometry as WKT, such as POINT(1 2)";
  test.each([
    ["place", "x"],
    ["place", "POINT(1)"],
    ["place", "POINT(1 2) or 1=1"],
    ["place", ""],
    ["area", "POLYGON((0 0,4 0,4 4))"],
    ["area", "LINESTRING(0 0)"],
    ["area", "GEOMETRYCOLLECTION(POINT(1 2)"],
  ])("%s refuses %j", async (key, value) => {
    const before = await service.post("things/first", { where: { key: "id", value: 10 } });
    check(await service.post("things/update", { id: 10, [key]: value }), refusal(key, message));
    const after = await service.post("things/first", { where: { key: "id", value: 10 } });
    expect(record(after)).toEqual(record(before));
  });

  test("of another kind than the column's is refused", async () => {
    check(await service.post("things/update", { id: 10, place: "LINESTRING(0 0,1 1)" }), {
      status: 400,
      error: "Validation failed",
      errors: ["place"],
    });
  });

  test("that the server alone refuses is refused, and not stored as null", async () => {
    const tooLarge = `POINT(1e400 ${"1".repeat(5)})`;
    const answer = await service.post("things/update", { id: 10, place: tooLarge });
    check(answer, { status: 400, error: "Validation failed", errors: ["place"] });
  });

  test("in a condition that is none is refused", async () => {
    const where = { conditions: [{ key: "place", operator: "=", value: "x" }] };
    check(await service.post("things/read", { where }), {
      status: 400,
      error: "Invalid parameter",
    });
  });
});
