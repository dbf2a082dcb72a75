/** Columns for tests without a database: all that is not given is without limit. */
import type { Column, Columns, ColumnType } from "../core/values/column.ts";

export function column(type: ColumnType, given: Partial<Column> = {}): Column {
  return {
    name: type,
    type,
    native: type,
    nullable: true,
    hasDefault: false,
    generated: "none",
    lengthMax: null,
    bytesMax: null,
    fixedLength: false,
    range: null,
    precision: null,
    scale: null,
    fractionDigits: 3,
    span: null,
    labels: null,
    ...given,
  };
}

export const columnsOf = (...columns: Column[]): Columns =>
  new Map(columns.map((each) => [each.name, each]));
