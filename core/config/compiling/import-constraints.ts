/** The constraints of a table that an import can check before it stores anything. */
import type { Column, Table } from "../../values/types/column.ts";
import type { ImportConstraints, ImportReference } from "../../plans/import-plan.ts";
import type { WritePlan } from "../../plans/write-plan.ts";
import type { Survey } from "./survey.ts";

/** Tables that foreign keys name and that cannot be seen are left to the database. */
export async function constraintsOf(survey: Survey, write: WritePlan): Promise<ImportConstraints> {
  const { table, key, writable, readOnly, audit, flag } = write;
  const settable = new Set<Column>([
    ...key.filter(({ name }) => !readOnly.has(name)),
    ...writable.values(),
  ]);
  const areSettable = (columns: readonly Column[]): boolean =>
    columns.every((column) => settable.has(column));
  const references: ImportReference[] = [];
  if (survey.payload.action["import-preview"] === true) {
    for (const foreignKey of table.foreignKeys) {
      const reference = await referenceOf(survey, table, foreignKey);
      if (reference && areSettable(reference.columns)) references.push(reference);
    }
  }
  // A view has no key of its own: the configured one counts.
  const keys = [key.map(({ name }) => name), table.primaryKey];
  const uniques = [...keys, ...table.unique.map(({ columns }) => columns)]
    .map((names) => [...new Set(names)].flatMap((name) => table.columns.get(name) ?? []))
    .filter((columns) => columns.length > 0 && areSettable(columns));
  const filled = new Set<Column | null>([...audit.map(({ column }) => column), flag]);
  // A trigger may fill anything.
  const open = table.changesWith === null ? [] : [...table.columns.values()];
  const needed = open.filter((column) => mustBeSet(column) && !filled.has(column));
  return { references, uniques: differing(uniques), needed };
}

async function referenceOf(
  { findTable }: Survey,
  own: Table,
  { columns: names, referencedTable, referencedColumns }: Table["foreignKeys"][number],
): Promise<ImportReference | null> {
  const found = await findTable(referencedTable);
  if (found === null) return null;
  const isOwn = found.identity === own.identity;
  const table = isOwn ? own : found;
  const referencedNames = referencedColumns.length > 0 ? referencedColumns : table.primaryKey;
  const columns = names.flatMap((name) => own.columns.get(name) ?? []);
  const referenced = referencedNames.flatMap((name) => table.columns.get(name) ?? []);
  const isKnown =
    columns.length > 0 &&
    columns.length === names.length &&
    referenced.length === columns.length &&
    // Values of another type are compared as the database likes.
    columns.every(({ type }, at) => type === referenced[at]!.type);
  return isKnown ? { columns, table, referenced, isOwn } : null;
}

const mustBeSet = ({ nullable, hasDefault, generated, isFilledByTrigger }: Column): boolean =>
  !nullable && !hasDefault && generated === "none" && isFilledByTrigger !== true;

/** Each set of columns once. */
function differing(sets: readonly (readonly Column[])[]): (readonly Column[])[] {
  const namesKey = (columns: readonly Column[]): string =>
    JSON.stringify(columns.map(({ name }) => name).toSorted());
  return [...new Map(sets.map((columns) => [namesKey(columns), columns])).values()];
}
