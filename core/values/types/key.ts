/** The key of a table's rows: one column or several, and their values. A single column gets no special treatment. */
import type { Column } from "./column.ts";
import type { Json } from "../json.ts";
import type { Scalar } from "../scalar.ts";

/**
 * The columns that identify the rows of a table, in the order in which they are configured or indexed; empty = none do.
 */
export type Key = readonly Column[];

/** What identifies one row: the values of the key's columns, in their order. None is null. */
export type KeyValue = readonly Scalar[];

/** A text that is equal for equal values of one key. */
export const keyText = (value: KeyValue): string =>
  JSON.stringify(value.map((one) => (typeof one === "bigint" ? String(one) : one)));

/** The values as answers show them, as one text: `10248_1`. */
export const joinedKey = (row: Readonly<Record<string, Json>>, key: Key): string =>
  key.map(({ name }) => partText(row[name] ?? null)).join("_");

const partText = (value: Json): string =>
  typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);

/** The names of the columns, for messages: `order_id, line_no`. */
export const keyNames = (key: Key): string => key.map(({ name }) => name).join(", ");

/** Whether the column is one of the key's. */
export const isOfKey = (key: Key, { name }: Pick<Column, "name">): boolean =>
  key.some((column) => column.name === name);
