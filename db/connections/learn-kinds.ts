/**
 * Compares the column types of a result with those the statement was compiled with. If the table has changed since,
 * rows are read by the types of the result, and the tables are looked up again.
 */
import type { Column } from "../../core/values/types/column.ts";
import type { Compiled } from "../statements/compile.ts";
import type { Engine, Kinds, RawResult } from "../engines/engine.ts";

type Told = Pick<RawResult, "fields" | "isPreparedAnew">;

/** If a result's columns are of other kinds than before, `reading` uses the columns of the result from now on. */
export function createLearnKinds(
  { kinds, outputs }: Pick<Engine, "kinds" | "outputs">,
  onSchemaDoubt: ((failure: string) => void) | undefined,
) {
  return ({ reading }: Pick<Compiled, "reading">, { fields, isPreparedAnew }: Told): void => {
    if (isPreparedAnew) onSchemaDoubt?.("A statement had to be prepared anew");
    if (reading === null || fields === undefined || reading.asExpected.has(fields)) return;
    const { columns } = reading;
    if (fields.length !== columns.length) return;
    const expected = (reading.kinds ??= columns.map((column) => expectedOf(column, kinds)));
    const isOther = (at: number): boolean => {
      if (expected[at] === null) return false;
      const answered = kinds.answered(fields[at]);
      return answered !== null && answered !== expected[at];
    };
    let first = 0;
    while (first < fields.length && !isOther(first)) first++;
    if (first < fields.length) {
      const told = outputs(fields);
      const read = columns.map((one, at) => (isOther(at) ? typedAs(one, told[at]!) : one));
      const { name } = columns[first]!;
      reading.become(read, `The column "${name}" has become ${kinds.answered(fields[first])}`);
    }
    // Reported at each run: after the tables are looked up again, this statement is no longer used.
    if (reading.difference === null) reading.asExpected.add(fields);
    else onSchemaDoubt?.(reading.difference);
  };
}

/** Null where the kind does not matter: aggregates are read alike for all numbers, and places in an order are texts. */
const expectedOf = (column: Column, kinds: Kinds): string | null =>
  column.isComputed === true || column.markOf !== undefined ? null : kinds.expected(column);

const typedAs = (column: Column, told: Column): Column => ({ ...told, name: column.name });
