/**
 * softDelete of an endpoint -> the columns that mark its rows. `marked-tables.ts` adds what concerns several tables. A
 * source without the columns would show deleted rows, so it is a fault.
 */
import { switchedOn } from "../../actions.ts";
import { isFlag } from "../../callers/visibility.ts";
import type { MarkColumns, MarkNames } from "../../plans/soft-delete.ts";
import type { FieldRule } from "../../rules/rule-definition.ts";
import type { Column, Columns, Table } from "../../values/types/column.ts";
import { columnTypes } from "../../values/types/column-types.ts";
import { limits } from "../../values/limits.ts";
import type { NamedColumns } from "./access-plan.ts";
import { didYouMean, hintAfter } from "../reading/did-you-mean.ts";
import type { Path } from "../reading/faults.ts";
import { fitsAudit, noticeUsers } from "./plans.ts";
import type { Payload } from "../reading/schema.ts";
import type { Survey } from "./survey.ts";

/** The setting with its defaults. */
export type SoftDelete = Exclude<Payload["softDelete"], boolean | undefined>;

/** The setting, applied to the endpoint's own columns. */
export interface SoftDeleteSetting {
  readonly table: Table;
  readonly names: MarkNames;
  readonly marks: MarkColumns;
  readonly reusable: readonly Column[];
  readonly visibility: SoftDelete["visibility"];
  /** For the same columns in the tables of details. */
  readonly config: SoftDelete;
}

/** A source that requests read, and the property that names it. */
export interface ReadSource extends NamedColumns {
  readonly property: string;
}

/** Null: the endpoint has no soft delete. */
export function softDeleteConfig({ softDelete }: Payload): SoftDelete | null {
  if (softDelete === undefined || softDelete === false) return null;
  if (softDelete === true) return byDefault;
  return softDelete.enabled ? softDelete : null;
}

const byDefault: SoftDelete = {
  enabled: true,
  flag: "is_deleted",
  at: "deleted_at",
  by: "deleted_by",
  visibility: "active_only",
  reusable: [],
};

/** Null without soft delete, or with a fault. `sources`: those beside the table. */
export function softDeleteOf(
  survey: Survey,
  { table, sources }: { table: Table | null; sources: readonly ReadSource[] },
): SoftDeleteSetting | null {
  const config = softDeleteConfig(survey.payload);
  if (config === null) {
    const users = switchedOn(survey.payload.action, ({ requires }) => requires.has("softDelete"));
    if (users.length > 0)
      survey.fault(["softDelete"], { expected: `softDelete for ${users.join(", ")}` });
    return null;
  }
  if (table?.kind !== "table") {
    // A table that does not exist is reported as a separate fault.
    if (table !== null || survey.payload.tableName === undefined)
      survey.fault(["softDelete"], { expected: "a tableName, the table whose rows are marked" });
    return null;
  }
  const { hasAuth } = survey;
  const marks = marksIn(table.columns, { ...config, hasAuth }, (member, expected, column) => {
    // As with audit columns, many tables have another kind of user there, and the mark needs none.
    if (member === "by" && config.by === byDefault.by)
      survey.notice(`the service does not fill ${column.name}, because it is not ${expected}`);
    else
      survey.fault(["softDelete", ...(isWritten(survey, member) ? [member] : [])], {
        found: `the column ${column.name}`,
        expected,
      });
  });
  if (marks === null) {
    survey.fault(["softDelete"], {
      found: `the table ${table.name}, which has neither ${config.flag} nor ${config.at}`,
      expected: "a flag or an at that is a column of the table",
      hint: didYouMean(config.flag, table.columns.keys()),
    });
    return null;
  }
  if (!table.transactional)
    survey.fault(["softDelete"], {
      found: `${table.name}, whose storage cannot roll back a change`,
      expected: "a table whose storage has transactions",
    });
  if (marks.by !== null) noticeUsers(survey, marks.by);
  noticeSkipped(survey, { config, marks, table });
  const names = { flag: marks.flag?.name ?? null, at: marks.at?.name ?? null };
  if (config.visibility !== "include_deleted") checkSources(survey, names, sources);
  const reusable = reusableOf(survey, config, table);
  return { table, names, marks, reusable, visibility: config.visibility, config };
}

type Refuse = (member: "flag" | "at" | "by", expected: string, column: Column) => void;

/**
 * The columns of these names that can mark a row; null when there is none. `hasAuth`: as in `fitsAudit`. `refuse`: one
 * is there and cannot.
 */
export function marksIn(
  columns: Columns,
  config: Pick<SoftDelete, "flag" | "at" | "by"> & { readonly hasAuth: boolean },
  refuse: Refuse,
): MarkColumns | null {
  const pick = (
    member: "flag" | "at" | "by",
    [fits, expected]: readonly [(column: Column) => boolean, string],
  ): Column | null => {
    const column = columns.get(config[member]);
    if (column === undefined) return null;
    if (fits(column)) return column;
    refuse(member, expected, column);
    return null;
  };
  const flag = pick("flag", [
    (column) => isFlag(column) && column.generated === "none",
    "a boolean column, or one of whole numbers",
  ]);
  const at = pick("at", [
    (column) => fitsAudit("time", column, false) && column.nullable,
    "a timestamp or a text of at least 24 characters that may be null",
  ]);
  const by = pick("by", [
    (column) => fitsAudit("user", column, config.hasAuth),
    "a text column that holds at least 15 characters",
  ]);
  return flag === null && at === null ? null : { flag, at, by };
}

const isWritten = ({ payload: { softDelete } }: Survey, member: string): boolean =>
  typeof softDelete === "object" && Object.hasOwn(softDelete, member);

function noticeSkipped(
  survey: Survey,
  { config, marks, table }: { config: SoftDelete; marks: MarkColumns; table: Table },
): void {
  for (const member of ["flag", "at", "by"] as const) {
    const isDefault = config[member] === byDefault[member];
    if (marks[member] === null && !isDefault)
      survey.notice(
        `softDelete.${member}: the table has no column ${config[member]}; the setting is ignored${hintAfter(config[member], table.columns.keys())}`,
      );
  }
}

/** Every source needs a column that distinguishes marked rows. */
function checkSources(survey: Survey, names: MarkNames, sources: readonly ReadSource[]): void {
  const wanted = [names.flag, names.at].filter((name) => name !== null);
  for (const { columns, label, property } of sources) {
    if (tellsMarked(names, columns)) continue;
    survey.fault([property], {
      found: `${label} without ${wanted.join(" or ")}`,
      expected: `${wanted.join(" or ")} among its columns, so that deleted rows can be left out (or softDelete.visibility "include_deleted")`,
    });
  }
}

/** Whether the columns of a source distinguish marked rows. */
export function tellsMarked({ flag, at }: MarkNames, columns: Columns): boolean {
  const found = flag === null ? undefined : columns.get(flag);
  return (found !== undefined && isFlag(found)) || (at !== null && columns.has(at));
}

function reusableOf(survey: Survey, { reusable }: SoftDelete, table: Table): Column[] {
  return reusable.flatMap(({ field, length }, at) => {
    const path: Path = ["softDelete", "reusable", at];
    const column = survey.column(
      field,
      table.columns,
      [...path, "field"],
      `the table ${table.name}`,
    );
    if (column === null) return [];
    const isKey = table.primaryKey.includes(field);
    if (!columnTypes[column.type].isText || column.generated !== "none" || isKey) {
      survey.fault([...path, "field"], {
        found: isKey ? `${field}, a part of the primary key` : `a ${column.type} column`,
        expected: "a text column, because its value gets a suffix while the row is deleted",
      });
      return [];
    }
    const most = lengthLeft(column);
    if (most !== null && most < 1) {
      survey.fault([...path, "field"], {
        found: `${field}, which holds ${column.lengthMax} characters`,
        expected: `a column of more than ${limits.markSuffixLength} characters, because its value gets a suffix while the row is deleted`,
      });
    } else if (most !== null && length !== undefined && length > most) {
      survey.notice(
        `softDelete.reusable: values of ${field} have at most ${most} characters, because the column holds ${column.lengthMax} and the suffix of a deleted value takes ${limits.markSuffixLength}`,
      );
    }
    if (!table.unique.some(({ columns }) => columns.includes(field)))
      survey.notice(
        `softDelete.reusable: no unique constraint of ${table.name} has the column ${field}`,
      );
    return [column];
  });
}

/** The column's length minus the suffix; null = no limit. */
const lengthLeft = ({ lengthMax }: Column): number | null =>
  lengthMax === null ? null : lengthMax - limits.markSuffixLength;

/** The rules with the lengths that leave room for the suffix. */
export function withLengths(
  rules: readonly FieldRule[],
  payload: Payload,
  columns: Columns | undefined,
): FieldRule[] {
  const config = softDeleteConfig(payload);
  if (config === null || columns === undefined) return [...rules];
  const bounded = [...rules];
  for (const { field, length } of config.reusable) {
    const column = columns.get(field);
    if (column === undefined || !columnTypes[column.type].isText) continue;
    const at = bounded.findIndex(({ name }) => name === field);
    const own = bounded[at];
    const most = Math.min(
      own?.maxLength ?? Infinity,
      length ?? Infinity,
      lengthLeft(column) ?? Infinity,
    );
    if (most === Infinity || most < 1) continue;
    if (own === undefined) bounded.push({ name: field, maxLength: most });
    else bounded[at] = { ...own, maxLength: most };
  }
  return bounded;
}
