/** What stands in a printed statement for values that are not known yet. */
import type { SQL } from "drizzle-orm/sql/sql";

/** One value's place in the printed statement. Drizzle hands these objects back in the order of the text. */
export class Slot {
  readonly place: number;

  constructor(place: number) {
    this.place = place;
  }
}

/** A piece that occurs several times in the printed statement, each time with other values. */
export interface Repetition {
  readonly count: number;
  readonly separator: string;
  readonly piece: SQL;
  /** Number of values in each copy of the piece. */
  readonly step: number;
}
