/** The catalog of each engine knows the columns of each type that the engine has. */
import { beforeAll, expect, test } from "vitest";
import type { ColumnType } from "../../core/values/types/column.ts";
import { columnTypes } from "../../core/values/types/column-types.ts";
import { typeCases } from "../values/type-cases.ts";
import { engine, useBench } from "./conformance.ts";

const nativeOf = (type: ColumnType): string | null => typeCases[type].native[engine];
const types = (Object.keys(columnTypes) as ColumnType[]).filter((type) => nativeOf(type) !== null);

const bench = useBench();
beforeAll(async () => {
  const columns = types.map((type) => `${type}_field ${nativeOf(type)}`);
  await bench.plain.run(`create table things (${columns.join(", ")})`);
});

test.each(types)("a column of type %s is found to be one", async (type) => {
  const table = await bench.db.catalog.table("things");
  expect(table?.columns.get(`${type}_field`)?.type).toBe(type);
});
