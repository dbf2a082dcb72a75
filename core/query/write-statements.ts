/** Statements that write, with the parts that most of them leave out. */
import type { Scalar } from "../values/scalar.ts";
import type { Column, Table } from "../values/types/column.ts";
import type { Assignment, Delete, Insert, UpdateMany, UpdateOne } from "./statement.ts";

export const setTo = (column: Column, value: Scalar): Assignment => ({
  kind: "set",
  column,
  value,
});

/** By default nothing of the stored rows is answered. */
export const insertInto = (
  table: Table,
  asked: Pick<Insert, "key" | "columns" | "rows"> & Partial<Omit<Insert, "kind" | "table">>,
): Insert => ({ kind: "insert", table, returning: [], ...asked });

/** By default the row is changed whatever it has, and nothing of it is answered. */
export const updateRow = (
  table: Table,
  asked: Pick<UpdateOne, "key" | "keyValue" | "set"> & Partial<Omit<UpdateOne, "kind" | "table">>,
): UpdateOne => ({ kind: "update", table, guard: null, returning: [], ...asked });

/** By default the rows are changed whatever they have, each to its own values only. */
export const updateRows = (
  table: Table,
  asked: Pick<UpdateMany, "key" | "rows"> & Partial<Omit<UpdateMany, "kind" | "table">>,
): UpdateMany => ({
  kind: "updateMany",
  table,
  columns: [],
  guard: null,
  set: [],
  returning: [],
  ...asked,
});

/** Only the number of the rows is answered. */
export const deleteFrom = (
  table: Table,
  { key, where }: Pick<Delete, "key" | "where">,
): Delete => ({ kind: "delete", table, key, where, returning: [] });
