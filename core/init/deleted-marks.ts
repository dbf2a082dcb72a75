/** Columns that mark deleted rows, judged by name and type, as `softDelete` of an endpoint's file. */
import { marksIn } from "../config/compiling/soft-delete-plan.ts";
import { markNames } from "../plans/soft-delete.ts";
import type { Table } from "../values/types/column.ts";
import { columnTypes } from "../values/types/column-types.ts";
import { wordsOf } from "./name-words.ts";

export interface DeletedMarks {
  /** `true`, or the names that differ from the usual ones. */
  readonly setting: true | Readonly<Record<string, string>>;
  /** All names, in the order of the table. */
  readonly names: ReadonlySet<string>;
}

/** The usual name of each column, and its names in words. */
const known = {
  flag: { usual: "is_deleted", words: ["is deleted", "deleted", "deleted flag"] },
  at: { usual: "deleted_at", words: ["deleted at", "deleted on"] },
  by: { usual: "deleted_by", words: ["deleted by"] },
} as const;

/**
 * Null if there are no such columns: a name is not enough if the column cannot store a mark. `refuse`: a column has the
 * usual name, but cannot, so that softDelete would be a fault.
 */
export function deletedMarks(
  { columns, primaryKey, transactional }: Table,
  refuse: (name: string, expected: string) => void = () => {},
): DeletedMarks | null {
  if (primaryKey.length === 0 || !transactional) return null;
  const pick = (member: keyof typeof known): string => {
    const { usual, words } = known[member];
    const names = [...columns.keys()].filter((name) =>
      (words as readonly string[]).includes(wordsOf(name).join(" ")),
    );
    return names.includes(usual) ? usual : (names[0] ?? usual);
  };
  const found = { flag: pick("flag"), at: pick("at"), by: pick("by") };
  let isRefused = false;
  const marks = marksIn(columns, { ...found, hasAuth: false }, (member, expected, { name }) => {
    if (member === "by" || name !== known[member].usual) return;
    isRefused = true;
    refuse(name, expected);
  });
  if (isRefused || marks === null) return null;
  if (primaryKey.some((name) => Object.values(found).includes(name))) return null;
  const { flag, at } = markNames(marks);
  // A text could hold anything, and a number could count.
  const isTime = marks.at !== null && columnTypes[marks.at.type].isInstant;
  const isFlag = marks.flag?.type === "boolean" || (flag !== null && flag !== "deleted");
  if (!isTime && !isFlag) return null;
  const names = [flag, at, marks.by?.name ?? null].filter((name) => name !== null);
  const others = Object.entries(found).filter(
    ([member, name]) => names.includes(name) && name !== known[member as keyof typeof known].usual,
  );
  return {
    setting: others.length === 0 ? true : Object.fromEntries(others),
    names: new Set([...columns.keys()].filter((name) => names.includes(name))),
  };
}
