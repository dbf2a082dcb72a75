/**
 * What a transaction changed so far: for each row of a recorded table its image before the first change and after the
 * last one. However often a request writes a row, that is one change.
 */
import type { RecordedTable } from "../plans/change-tables.ts";
import { comparand } from "../query/comparisons.ts";
import type { Row } from "../values/row.ts";
import type { KeyValue } from "../values/types/key.ts";

/** A row that was changed. */
export interface RowChange {
  readonly recorded: RecordedTable;
  /** Null: there was none. */
  readonly before: Row | null;
  /** Null: there is none any more. */
  readonly after: Row | null;
  /** The database changed it, because a row that it references was deleted. */
  readonly isCascade: boolean;
}

interface Entry {
  readonly changed: RowChange | null;
  /** The row as it is now; null = there is none. */
  readonly image: Row | null;
}

export class ChangeBook {
  private entries = new Map<string, Entry>();

  /** The rows that differ, in the order in which they were first written. */
  get changes(): RowChange[] {
    return [...this.entries.values()].flatMap(({ changed }) => changed ?? []);
  }

  /** The row as it is now; undefined: it is not known. */
  imageOf(recorded: RecordedTable, key: KeyValue): Row | null | undefined {
    return this.entries.get(nameOf(recorded, key))?.image;
  }

  /** The row is locked, and looks like this. */
  saw(recorded: RecordedTable, image: Row): void {
    const name = nameOf(recorded, imageKey(recorded, image));
    const { changed = null } = this.entries.get(name) ?? {};
    this.entries.set(name, { changed, image });
  }

  note(recorded: RecordedTable, before: Row | null, after: Row | null, isCascade = false): void {
    const was = before && nameOf(recorded, imageKey(recorded, before));
    const is = after && nameOf(recorded, imageKey(recorded, after));
    // A row whose key changes is another record.
    if (was !== null && is !== null && was !== is) {
      this.note(recorded, before, null, isCascade);
      this.note(recorded, null, after, isCascade);
      return;
    }
    const name = (was ?? is)!;
    const first = this.entries.get(name)?.changed;
    const changed = { recorded, before: first ? first.before : before, after, isCascade };
    this.entries.set(name, { changed, image: after });
  }

  /** Returns a function that forgets everything that was noted since. */
  mark(): () => void {
    const kept = new Map(this.entries);
    return () => void (this.entries = kept);
  }
}

export const imageKey = ({ key }: RecordedTable, row: Row): KeyValue =>
  key.map((column) => comparand(column, row[column.name] ?? null));

const nameOf = ({ table }: RecordedTable, key: KeyValue): string =>
  JSON.stringify([table.identity, ...key.map(String)]);
