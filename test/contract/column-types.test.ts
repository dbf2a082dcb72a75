/**
 * Each column type over HTTP, on each engine that has it: it accepts and shows its value, refuses an invalid one, and
 * supports exactly the operations that its object lists.
 */
import { describe, expect, inject, test } from "vitest";
import type { ColumnType } from "../../core/values/types/column.ts";
import { columnTypes } from "../../core/values/types/column-types.ts";
import { typeCases } from "../values/type-cases.ts";
import { check, record, records } from "./cases.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

const engine = inject("engine");
const types = (Object.keys(columnTypes) as ColumnType[]).filter(
  (type) => typeCases[type].native[engine] !== null,
);

/** A column of each type; its name is no word of SQL. */
const fieldOf = (type: ColumnType): string => `${type}_field`;
const fields = types.map((type) => `${fieldOf(type)} ${typeCases[type].native[engine]}`);

const service = openForTests(openFixture, {
  tables: [],
  setUp: () => [
    `create table things (id varchar(36) primary key, ${fields.join(", ")})`,
    "create view seen as select * from things",
  ],
  endpoints: {
    things: {
      tableName: "things",
      action: { create: true, update: true, read: true, first: true, aggregate: true },
    },
    seen: { viewName: "seen", primaryKey: "id", action: { first: true } },
  },
  project: { cache: { enabled: false } },
});

const post = (action: string, body: object): Promise<Answer> =>
  service.post(`things/${action}`, body);

describe.each(types)("%s", (type) => {
  const { taken, refused } = typeCases[type];
  const can = columnTypes[type];
  const field = fieldOf(type);
  const create = (sent: unknown) => post("create", { id: null, [field]: sent });
  const aggregate = (id: unknown, asked: object) =>
    post("aggregate", { where: [{ key: "id", value: id }], ...asked });

  /** 200 where the type can do it, else 400. */
  const checkAble = (answer: Answer, isAble: boolean): void => {
    expect({ isAble, status: answer.status }, JSON.stringify(answer.body)).toEqual({
      isAble,
      status: isAble ? 200 : 400,
    });
  };

  test("create stores what the type takes, and answers show it", async () => {
    const created = await create(taken.sent);
    expect(created.status, JSON.stringify(created.body)).toBe(201);
    expect(record(created)[field]).toEqual(taken.shown);
    const { id } = record(created);
    const throughView = await service.post("seen/first", { where: { key: "id", value: id } });
    expect(record(throughView)).toEqual(record(created));
    const first = await post("first", { where: { key: "id", value: id } });
    expect(record(first)).toEqual(record(created));
  });

  test("create and update refuse what it does not take", async () => {
    const expected = {
      status: 400,
      error: "Validation failed",
      errors: { [field]: [refused.message] },
    };
    check(await create(refused.sent), expected);
    const { id } = record(await create(taken.sent));
    check(await post("update", { id, [field]: refused.sent }), expected);
  });

  test("read compares, sorts and searches by it as the type says", async () => {
    const { id } = record(await create(taken.sent));
    const read = (condition: object, others: object = {}) => {
      const conditions = [{ key: "id", operator: "=", value: id }, condition];
      return post("read", { where: { conditions }, ...others });
    };
    const equal = await read({ key: field, operator: "=", value: taken.shown });
    checkAble(equal, true);
    expect(records(equal)).toHaveLength(1);
    checkAble(await read({ key: field, operator: ">=", value: taken.shown }), can.isCompared);
    const isThere = { key: field, operator: "IS NOT NULL" };
    checkAble(await read(isThere, { sort_columns: [{ column: field }] }), can.isSorted);
    const alike = await read({ key: field, operator: "LIKE", value: `${String(taken.shown)}%` });
    checkAble(alike, can.fromMember === null);
    if (can.fromMember === null) expect(records(alike)).toHaveLength(can.hasText ? 1 : 0);
  });

  test("aggregate groups, compares and adds as the type says", async () => {
    const { id } = record(await create(taken.sent));
    const grouped = await aggregate(id, { group_by: [field] });
    checkAble(grouped, can.isGrouped);
    if (can.isGrouped) expect(grouped.body.data).toMatchObject([{ [field]: taken.shown }]);
    for (const [name, isAble] of [
      ["min", can.hasExtremes],
      ["max", can.hasExtremes],
      ["sum", can.arithmetic !== null],
      ["avg", can.arithmetic !== null],
    ] as const) {
      const answer = await aggregate(id, {
        operations: [{ function: name, field, alias: "result" }],
      });
      checkAble(answer, isAble);
      if (isAble) expect(answer.body.data.result).toEqual(taken.shown);
    }
  });
});
