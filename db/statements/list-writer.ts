/**
 * Writes rows of the same columns as the JSON text of a list, as each comes from the driver, without keeping rows. One
 * writer serves each shape of statement.
 */
import type { Row } from "../../core/values/row.ts";
import type { ListText, TextForm } from "../../core/query/list-text.ts";
import { ReadyJson } from "../../core/values/ready-json.ts";
import { readerOf, type RecordMember, nestedMembers } from "../../core/lists/nested-rows.ts";
import { answeredAs, type Column } from "../../core/values/types/column.ts";
import type { Dialect, ListForms, Marks, RawList, TakeRow, WriteJson } from "./dialect.ts";
import { JsonWriter } from "./json-writer.ts";

/** A list that is being written. */
export interface ListInWriting {
  /** Takes the next row. */
  readonly take: TakeRow;
  /** The text of all rows taken. Throws the error of a row that could not be written. To be called once. */
  end(): ListText;
}

export type BeginList = (form: TextForm) => ListInWriting;

/** A member that is written. */
interface Written {
  /** The place of its column in a row. */
  readonly at: number;
  /** The bytes before the value: the end of the previous value, and the name. */
  readonly head: Uint8Array;
  readonly write: WriteJson;
  /** The members of a related record, instead of the column's value; null = it is the value. */
  readonly part: readonly Written[] | null;
}

/** A column of marks. */
interface Marked {
  readonly at: number;
  readonly name: string;
  readonly decode: (raw: Uint8Array) => string;
}

/** `nests`: as in `TextForm`. Null where the engine's rows come as objects. */
export function listWriterOf(
  dialect: Dialect,
  columns: readonly Column[],
  nests: boolean,
): BeginList | null {
  const { lists, marks } = dialect;
  if (lists === undefined) return null;
  const written = writtenOf(nests ? nestedMembers(columns) : flatMembers(columns), {
    lists,
    columns,
  });
  const marked = markedOf(lists, marks, columns);
  return (form) => {
    const list = new List({ written, marked, isUtf8: lists.isUtf8 }, form);
    return form.isReversed ? reversed(list) : list;
  };
}

/** Keeps all rows, as the last one of the list comes first. */
function reversed(list: ListInWriting): ListInWriting {
  const rows: RawList[] = [];
  return {
    take: (row) => void rows.push(row),
    end() {
      for (const row of rows.reverse()) list.take(row);
      return list.end();
    },
  };
}

/** Unused writers. */
const idle: JsonWriter[] = [];
const idleMax = 8;

interface ListParts extends Pick<ListForms, "isUtf8"> {
  readonly written: readonly Written[];
  readonly marked: readonly Marked[];
}

class List implements ListInWriting {
  private readonly written: readonly Written[];
  private readonly marked: readonly Marked[];
  private readonly isUtf8: ListForms["isUtf8"];
  private readonly rowsMax: number;
  private readonly writer = idle.pop() ?? new JsonWriter();
  private readonly ends: Row[] = [];
  private found = 0;
  private fault: { readonly error: unknown } | null = null;

  constructor({ written, marked, isUtf8 }: ListParts, { rowsMax }: TextForm) {
    this.written = written;
    this.marked = marked;
    this.isUtf8 = isUtf8;
    this.rowsMax = rowsMax;
    this.writer.raw(opening);
  }

  readonly take = (row: RawList): void => {
    if (this.fault !== null) return;
    try {
      this.write(row, this.found++);
    } catch (error) {
      // Drivers call this while they read from a socket, where it would not be caught.
      this.fault = { error };
    }
  };

  end(): ListText {
    const { writer, ends, found, fault } = this;
    if (fault !== null) throw fault.error;
    writer.raw(closing);
    const data = new ReadyJson(writer.written(this.isUtf8));
    writer.clear();
    if (idle.length < idleMax) idle.push(writer);
    return { data, shown: Math.min(found, this.rowsMax), found, ends };
  }

  private write(row: RawList, index: number): void {
    if (index >= this.rowsMax - 1 && this.marked.length > 0) this.ends.push(this.marksOf(row));
    if (index >= this.rowsMax) return;
    if (index > 0) this.writer.raw(comma);
    this.writeMembers(row, this.written);
  }

  private writeMembers(row: RawList, written: readonly Written[]): void {
    const { writer } = this;
    for (const { at, head, write, part } of written) {
      writer.raw(head);
      const value = row[at]!;
      if (value === null) writer.raw(nullText);
      else if (part === null) write(writer, value);
      else this.writeMembers(row, part);
    }
    writer.raw(rowEnd);
  }

  private marksOf(row: RawList): Row {
    return Object.fromEntries(
      this.marked.map(({ at, name, decode }) => {
        const raw = row[at]!;
        return [name, raw && decode(raw)];
      }),
    );
  }
}

/** The shown columns, in the member order of a JavaScript object. */
function flatMembers(columns: readonly Column[]): readonly RecordMember[] {
  const shown = columns.filter(({ markOf }) => markOf === undefined);
  const names = Object.keys(Object.fromEntries(shown.map(({ name }) => [name, null])));
  return names.map((name) => {
    const column = shown.find((one) => one.name === name)!;
    return { name, column, part: null };
  });
}

function writtenOf(
  members: readonly RecordMember[],
  read: { readonly lists: ListForms; readonly columns: readonly Column[] },
): readonly Written[] {
  return members.map(({ name, column, part }, index) => ({
    at: placeOf(column, read.columns),
    head: bytesOf(`${index === 0 ? "{" : ","}${JSON.stringify(name)}:`),
    write: read.lists.write(column),
    part: part && writtenOf(part, read),
  }));
}

const placeOf = (column: Column, columns: readonly Column[]): number =>
  columns.findIndex((one) => one.markOf === undefined && answeredAs(one) === answeredAs(column));

function markedOf(
  { received }: ListForms,
  { decode: decodeMark }: Marks,
  columns: readonly Column[],
): readonly Marked[] {
  return columns.flatMap((column, at) => {
    if (column.markOf === undefined) return [];
    const decode = (raw: Uint8Array): string => (decodeMark ?? String)(received(column, raw));
    return [{ at, name: column.name, decode }];
  });
}

/** The same for rows that came as objects. */
export type ListOfRows = (found: Row[], form: TextForm) => ListText;

/** `nests`: as in `TextForm`. */
export function listOfRowsOf(columns: readonly Column[], nests: boolean): ListOfRows {
  const marks = columns.filter(({ markOf }) => markOf !== undefined);
  const recordOf = nests ? readerOf(nestedMembers(columns)) : null;
  return (found, { rowsMax, isReversed = false }) => {
    const rows = isReversed ? found.toReversed() : found;
    const ends = marks.length > 0 ? rows.slice(rowsMax - 1).map((row) => marksOf(row, marks)) : [];
    const shown = rows.length > rowsMax ? rows.slice(0, rowsMax) : rows;
    const list = { shown: shown.length, found: rows.length, ends };
    if (recordOf !== null) return { ...list, data: shown.map(recordOf) };
    // Deleting from the end keeps the fast form of an object.
    for (const { name } of marks.toReversed()) for (const row of shown) delete row[name];
    return { ...list, data: shown };
  };
}

const marksOf = (row: Row, marks: readonly Column[]): Row =>
  Object.fromEntries(marks.map(({ name }) => [name, row[name]!]));

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

const opening = bytesOf("[");
const closing = bytesOf("]");
const comma = bytesOf(",");
const rowEnd = bytesOf("}");
const nullText = bytesOf("null");
