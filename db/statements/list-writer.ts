/** Writes rows of the same columns as the JSON text of a list. It is made once for each shape of statement. */
import type { ListText, Row } from "../../core/plans/ports.ts";
import type { TextForm } from "../../core/query/statement.ts";
import type { Column } from "../../core/values/column.ts";
import { JsonWriter } from "../../core/values/json-writer.ts";
import type { Decode, Dialect, RawList, Write } from "./dialect.ts";

export type WriteList = (rows: readonly RawList[], form: TextForm) => ListText;

/** A column whose values are written. */
interface Written {
  /** Its place in a row. */
  readonly at: number;
  /** What stands before the value: the name, and what ends the value before it. */
  readonly head: Uint8Array;
  readonly write: Write;
}

/** A column of marks. */
interface Marked {
  readonly at: number;
  readonly name: string;
  readonly decode: Decode;
}

/** One for all lists: a list is written without a break. */
const writer = new JsonWriter();

export function listWriterOf(dialect: Dialect, columns: readonly Column[]): WriteList {
  const written = writtenOf(dialect, columns);
  const marked = markedOf(dialect, columns);
  const write = (rows: readonly RawList[], count: number): void => {
    writer.raw(opening);
    for (let index = 0; index < count; index++) {
      const row = rows[index]!;
      if (index > 0) writer.raw(comma);
      for (const { at, head, write } of written) {
        writer.raw(head);
        const value = row[at];
        if (value === null) writer.raw(nullText);
        else write(writer, value);
      }
      writer.raw(rowEnd);
    }
    writer.raw(closing);
  };
  const markOf = (row: RawList): Row =>
    Object.fromEntries(
      marked.map(({ at, name, decode }) => [name, row[at] === null ? null : decode(row[at])]),
    );
  return (read, { rowsMax, isReversed = false }) => {
    const rows = isReversed ? read.toReversed() : read;
    const shown = Math.min(rows.length, rowsMax);
    try {
      write(rows, shown);
      return {
        text: writer.written(),
        shown,
        found: rows.length,
        ends: shown < rowsMax ? [] : rows.slice(shown - 1).map(markOf),
      };
    } finally {
      writer.clear();
    }
  };
}

/** The columns that are shown, in the order that the members of an object would have. */
function writtenOf(dialect: Dialect, columns: readonly Column[]): readonly Written[] {
  const shown = columns.filter(({ markOf }) => markOf === undefined);
  const names = Object.keys(Object.fromEntries(shown.map(({ name }) => [name, null])));
  return names.map((name, index) => {
    const at = columns.findIndex((column) => column.markOf === undefined && column.name === name);
    const head = bytesOf(`${index === 0 ? "{" : ","}${JSON.stringify(name)}:`);
    return { at, head, write: dialect.write(columns[at]!) };
  });
}

function markedOf(dialect: Dialect, columns: readonly Column[]): readonly Marked[] {
  const { marks, received = asItIs } = dialect;
  return columns.flatMap((column, at) => {
    if (column.markOf === undefined) return [];
    const decode: Decode = (raw) => {
      const value = received(column, raw);
      return marks.decode === null ? (value as string) : marks.decode(value);
    };
    return [{ at, name: column.name, decode }];
  });
}

const asItIs = (_column: Column, raw: unknown): unknown => raw;

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

const opening = bytesOf("[");
const closing = bytesOf("]");
const comma = bytesOf(",");
const rowEnd = bytesOf("}");
const nullText = bytesOf("null");
