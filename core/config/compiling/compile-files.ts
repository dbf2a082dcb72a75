/**
 * `files` of all endpoints -> the columns that hold files. Rules of tables: they hold through whichever endpoint a record
 * is written.
 */
import { knownTypes, matchesType } from "../../files/file-kind.ts";
import type { Catalog } from "../../plans/database-catalog.ts";
import type { FilesColumn, FileTable, FileTables } from "../../plans/file-tables.ts";
import type { Column, Columns } from "../../values/types/column.ts";
import { didYouMean } from "../reading/did-you-mean.ts";
import type { EndpointConfig, ProjectConfig } from "../reading/read-config.ts";
import type { Payload } from "../reading/schema.ts";
import { withChangedColumns } from "./changed-columns.ts";
import type { CompiledEndpoint } from "./survey.ts";

/** Characters that the description of a file takes, with a name of usual length. */
const lengthMin = 500;

/** The same catalog, in which columns of files have the type for them. */
export const withFiles = (catalog: Catalog, endpoints: readonly EndpointConfig[]): Catalog =>
  withChangedColumns(catalog, endpoints, ({ files = {} }) => [
    Object.keys(files),
    (column) => fileColumn(column, files[column.name]!),
  ]);

/** The same for columns of a view or query that have the name of such a column. */
export const shownFiles = (columns: Columns, { files = {} }: Payload): Columns =>
  new Map(
    [...columns].map(([name, column]) => [
      name,
      Object.hasOwn(files, name) ? fileColumn(column, files[name]!) : column,
    ]),
  );

type FilesConfig = NonNullable<Payload["files"]>[string];

const fileColumn = (column: Column, { multiple }: FilesConfig): Column =>
  canHold(column) ? { ...column, type: "file", holdsMany: multiple } : column;

const canHold = ({ type, notation, labels, generated, isOpaque }: Column): boolean =>
  type === "file" ||
  type === "json" ||
  (type === "text" && !notation && labels === null && generated === "none" && !isOpaque);

/** Adds faults to the surveys. */
export function fileTables(
  compiled: readonly CompiledEndpoint[],
  { fileKeepDays: keepDays }: Pick<ProjectConfig, "fileKeepDays">,
): FileTables {
  const tables = new Map<string, FileTable & { readonly columns: Map<string, FilesColumn> }>();
  const first = new Map<string, { readonly endpoint: string; readonly text: string }>();
  for (const one of compiled) {
    const { survey, entity } = one;
    const { files } = survey.payload;
    if (files === undefined) continue;
    const { write } = entity;
    if (write === null || write.table.kind === "view" || !write.table.transactional) {
      survey.fault(["files"], {
        expected: "a tableName that is a table with a primary key, whose storage has transactions",
      });
      continue;
    }
    const { table } = write;
    for (const [name, config] of Object.entries(files)) {
      const path = ["files", name];
      const column = survey.column(name, table.columns, path, `the table ${table.name}`);
      if (column === null || !isFit(one, column)) continue;
      checkTypes(one, name, config);
      const text = JSON.stringify(config);
      const id = JSON.stringify([table.identity, name]);
      const known = first.get(id) ?? { endpoint: entity.name, text };
      first.set(id, known);
      if (known.text !== text)
        survey.fault(path, {
          expected: `the same as in ${known.endpoint}, which has files in the same column`,
        });
      const own = tables.get(table.identity) ?? { table, columns: new Map(), keepDays };
      tables.set(table.identity, own);
      const { maxMb, types = null } = config;
      own.columns.set(name, { column, bytesMax: maxMb * 1024 ** 2, types });
    }
  }
  return tables;
}

/** False, and a fault, for a column that cannot hold files. */
function isFit({ survey, entity }: CompiledEndpoint, column: Column): boolean {
  const { name, type, lengthMax } = column;
  const { key, audit } = entity.write!;
  const marks = Object.values(entity.marking?.marks ?? {}) as (Column | null)[];
  const fields = new Map([[name, column]]);
  const isOther =
    [...key, ...marks, ...audit.map((one) => one.column)].some((one) => one?.name === name) ||
    entity.workflow?.status.name === name ||
    Object.hasOwn(survey.payload.numbers ?? {}, name) ||
    column.generated !== "none";
  const fault = (found: string, expected: string): false => {
    survey.fault(["files", name], { found, expected });
    return false;
  };
  if (isOther)
    return fault("a column that the service or the database fills", "a column for files alone");
  if (type !== "file") return fault(`a ${type} column`, "a JSON or text column");
  if (lengthMax !== null && lengthMax < lengthMin)
    return fault(
      `a column of ${lengthMax} characters`,
      `a column that holds at least ${lengthMin}: the description of a file`,
    );
  const { values, errors } = entity.rules.check({}, "create", fields);
  // A default that is no file is refused in each record that leaves the field out.
  const isRefused = errors !== null && entity.rules.neededOf(fields).length === 0;
  if (values.size > 0 || isRefused)
    return fault("a field with a default in fieldValidation", "a field without one");
  return true;
}

/** A type that no file is found to have would refuse every file. */
function checkTypes({ survey }: CompiledEndpoint, name: string, { types = [] }: FilesConfig): void {
  for (const [at, type] of types.entries())
    if (!knownTypes.some((known) => matchesType(known, [type])))
      survey.fault(["files", name, "types", at], {
        found: JSON.stringify(type),
        expected: "a media type that the service recognizes by the content of a file",
        hint: didYouMean(type, knownTypes),
      });
}
