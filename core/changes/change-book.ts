/**
 * What a transaction changed so far: for each row of a recorded table its image before the first change and after the
 * last one. However often a request writes a row, that is one change.
 */
import type { ToldTable } from "../plans/change-tables.ts";
import { comparand } from "../query/comparisons.ts";
import type { Row } from "../values/row.ts";
import type { KeyValue } from "../values/types/key.ts";

/** A row that was changed. */
export interface ChangedRow {
  readonly told: ToldTable;
  /** Null: there was none. */
  readonly before: Row | null;
  /** Null: there is none any more. */
  readonly after: Row | null;
  /** The database changed it, because a row that it references was deleted. */
  readonly isCascade: boolean;
}

interface Entry {
  readonly changed: ChangedRow | null;
  /** The row as it is now; null = there is none. */
  readonly image: Row | null;
}

export class ChangeBook {
  private entries = new Map<string, Entry>();

  /** The rows that differ, in the order in which they were first written. */
  get changes(): ChangedRow[] {
    return [...this.entries.values()].flatMap(({ changed }) => changed ?? []);
  }

  /** The row as it is now; undefined: it is not known. */
  imageOf(told: ToldTable, key: KeyValue): Row | null | undefined {
    return this.entries.get(nameOf(told, key))?.image;
  }

  /** The row is locked, and looks like this. */
  saw(told: ToldTable, image: Row): void {
    const name = nameOf(told, keyOf(told, image));
    const { changed = null } = this.entries.get(name) ?? {};
    this.entries.set(name, { changed, image });
  }

  note(told: ToldTable, before: Row | null, after: Row | null, isCascade = false): void {
    const was = before && nameOf(told, keyOf(told, before));
    const is = after && nameOf(told, keyOf(told, after));
    // A row whose key changes is another record.
    if (was !== null && is !== null && was !== is) {
      this.note(told, before, null, isCascade);
      this.note(told, null, after, isCascade);
      return;
    }
    const name = (was ?? is)!;
    const first = this.entries.get(name)?.changed;
    const changed = { told, before: first ? first.before : before, after, isCascade };
    this.entries.set(name, { changed, image: after });
  }

  /** Returns a function that forgets everything that was noted since. */
  mark(): () => void {
    const kept = new Map(this.entries);
    return () => void (this.entries = kept);
  }
}

export const keyOf = ({ key }: ToldTable, row: Row): KeyValue =>
  key.map((column) => comparand(column, row[column.name] ?? null));

const nameOf = ({ table }: ToldTable, key: KeyValue): string =>
  JSON.stringify([table.identity, ...key.map(String)]);
