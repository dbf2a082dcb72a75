/** Columns for tests without a database: all that is not given is without limit. */
import {
  type Column,
  type Columns,
  type ColumnType,
  derivedColumn,
} from "../../core/values/types/column.ts";

export const column = (type: ColumnType, given: Partial<Column> = {}): Column =>
  derivedColumn(type, type, { native: type, fractionDigits: 3, ...given });

export const columnsOf = (...columns: Column[]): Columns =>
  new Map(columns.map((each) => [each.name, each]));
