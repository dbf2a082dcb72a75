/** Reads SQLite's tables and queries' columns. SQLite reports no names of foreign keys and no types of expressions. */
import { quoted } from "../../statements/quoted.ts";
import {
  type Alike,
  type Column,
  derivedColumn,
  type ForeignKey,
  type Table,
  type TableRefusal,
  type UniqueConstraint,
  type WriteKind,
} from "../../../core/values/types/column.ts";
import { changesWith, type TableLinks } from "../changes-with.ts";
import type { ColumnDefinition, Database } from "better-sqlite3";
import { rowsFor, sharedFact, type TableReading } from "../engine.ts";
import { describeView } from "./query-columns.ts";
import { refusedByView } from "./instead-of.ts";
import { formTypeOf, type StoredForms } from "./forms/stored-forms.ts";
import { checksIn, namesIn } from "./outline.ts";
import { isTextType, notationOf, typeFacts } from "./types.ts";

interface ColumnRow {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly dflt_value: string | null;
  readonly pk: number;
  /** 1: of a virtual table; 2 and 3: generated. */
  readonly hidden: number;
}

/** Where tables are read, and where the forms of their values are recorded. */
export interface Reading extends TableReading {
  readonly database: Database;
  readonly forms: StoredForms;
}

export async function readTable(
  { connection, shared, database, forms }: Reading,
  schema: string | null,
  name: string,
): Promise<Table | null> {
  const rows = async <T>(text: string, ...params: unknown[]): Promise<T[]> =>
    (await rowsFor(connection, text, params)) as T[];

  const [found] = await rows<{ type: string; name: string; without_rowid: number; strict: number }>(
    "select type, name, wr as without_rowid, strict from pragma_table_list where schema = ? and name = ? collate nocase",
    schema ?? "main",
    name,
  );
  if (found === undefined || found.type === "shadow") return null;
  const [made] = await rows<{ sql: string }>(
    `select sql from ${quoted(schema ?? "main")}.sqlite_schema where type = 'table' and name = ?`,
    found.name,
  );
  const columnRows = await rows<ColumnRow>(
    "select * from pragma_table_xinfo(?, ?)",
    found.name,
    schema ?? "main",
  );
  const shown = columnRows.filter((row) => row.hidden !== 1);
  const keyRows = shown.filter((row) => row.pk > 0).sort((a, b) => a.pk - b.pk);
  const identity = found.without_rowid === 0 ? await rowNumber(rows, found.name, keyRows) : null;
  const primaryKey = keyRows.map((row) => row.name);
  const self = identityOf(schema, found.name);
  const isView = found.type === "view";
  const place = { schema: schema ?? "main", table: found.name };
  const alikes = isView ? [] : await alikesOf(rows, place, shown);
  const folded = isView ? [] : await foldedColumns(rows, found.name, schema);
  const broken = isView
    ? null
    : await refusedByKeys(rows, {
        table: `${quoted(place.schema)}.${quoted(found.name)}`,
        referenced: await referencedTables(rows, found.name, schema),
        names: shown.filter((row) => row.pk === 0).map((row) => row.name),
      });
  const columns = isView
    ? describeView(database, forms, place)
    : shown.map((row, at) => {
        const column = tableColumn(row, { identity, isStrict: found.strict === 1 });
        const alike = alikes[at];
        const isText = column.type === "text" && isTextType(column.native);
        const hasFoldedIndex = isText && folded.includes(column.name);
        const facts = {
          ...(alike && { alike }),
          ...(hasFoldedIndex && { hasFoldedIndex }),
          ...(broken?.fixed.has(row.name) && { generated: "computed" as const }),
        };
        return learned({ ...column, ...facts }, row, { database, forms, place });
      });
  const triggers = await triggersOf(rows, found.name, schema);
  return {
    kind: isView ? "view" : "table",
    schema,
    name: found.name,
    columns: new Map(columns.map((column) => [column.name, column])),
    primaryKey,
    unique: [
      ...(primaryKey.length > 0 ? [{ name: "primary key", columns: primaryKey }] : []),
      ...(await uniqueIndexes(rows, found.name, schema)),
    ],
    foreignKeys: await foreignKeys(rows, found.name, schema),
    checks: checksIn(made?.sql ?? "").map(({ name: constraint, text }) => {
      const names = namesIn(text);
      const checked = shown.filter((row) => names.has(row.name.toLowerCase()));
      return { name: constraint, columns: checked.map((row) => row.name) };
    }),
    passesOver: passedOver(triggers),
    changesReturned: triggers.some((sql) => writtenBy(sql).includes(found.name.toLowerCase())),
    refusals: broken?.refusals ?? refusedByView(triggers, columns),
    transactional: true,
    identity: self,
    // A write through a view changes the tables under it.
    changesWith: isView
      ? null
      : changesWith(self, await sharedFact(shared, `links ${schema}`, () => linksOf(rows, schema))),
  };
}

/** Without SQLite's internal ones. */
export const namesQuery =
  "select name from sqlite_schema where type in ('table', 'view') and name not like 'sqlite\\_%' escape '\\' order by name";

/** The columns of a result, with any names; values without a declared type are shown unchanged. */
export const outputsOf = (fields: readonly unknown[]): readonly Column[] =>
  (fields as readonly ColumnDefinition[]).map(({ name, type }) =>
    derivedColumn(name, typeFacts(type).type, { native: type ?? "", scale: typeFacts(type).scale }),
  );

type Rows = <T>(text: string, ...params: unknown[]) => Promise<T[]>;

/** The column with the form of its values, where its type has several. */
function learned(
  column: Column,
  { dflt_value: byDefault }: ColumnRow,
  { database, forms, place }: LearnOptions,
): Column {
  const type = formTypeOf(column.type);
  if (type === null) return column;
  const looked = { ...place, column: column.name, type, byDefault };
  const { fractionDigits, ...stored } = forms.learn(database, looked);
  return { ...column, stored, fractionDigits: Math.min(column.fractionDigits, fractionDigits) };
}

interface LearnOptions {
  readonly database: Database;
  readonly forms: StoredForms;
  readonly place: { readonly schema: string; readonly table: string };
}

function tableColumn(
  row: ColumnRow,
  { identity, isStrict }: { identity: string | null; isStrict: boolean },
): Column {
  const isIdentity = row.name === identity;
  const facts = typeFacts(row.type);
  return {
    name: row.name,
    ...facts,
    ...notationOf(facts, isStrict),
    isLoose: facts.type === "text",
    nullable: row.notnull === 0 && row.pk === 0,
    hasDefault: isIdentity || row.dflt_value !== null,
    generated: row.hidden > 1 ? "computed" : isIdentity ? "identity" : "none",
  };
}

/**
 * How the columns of a table compare texts. SQLite shows a column's collation only in the plan of a comparison: one
 * operation for each column. Collations that extensions define are not recognized.
 */
async function alikesOf(
  rows: Rows,
  { schema, table }: LearnOptions["place"],
  columns: readonly ColumnRow[],
): Promise<readonly (Alike | undefined)[]> {
  const compared = columns.map(({ name }) => `+${quoted(name)} = ''`);
  const plan = await rows<{ opcode: string; p4: string | null }>(
    `explain select ${compared.join(", ")} from ${quoted(schema)}.${quoted(table)}`,
  );
  const collations = plan.filter(({ opcode }) => opcode === "Eq" || opcode === "Ne");
  if (collations.length !== columns.length) return [];
  return collations.map(({ p4 }) => alikes.get(/^\w+/.exec(p4 ?? "")?.[0] ?? ""));
}

const alikes: ReadonlyMap<string, Alike> = new Map([
  ["NOCASE", "ascii case"],
  ["RTRIM", "blanks"],
]);

/** `INTEGER PRIMARY KEY` is the rowid and has no index; `INTEGER PRIMARY KEY DESC` is an ordinary column with one. */
async function rowNumber(
  rows: Rows,
  table: string,
  keys: readonly ColumnRow[],
): Promise<string | null> {
  if (keys.length !== 1 || keys[0]!.type.toUpperCase() !== "INTEGER") return null;
  const indexes = await rows<{ origin: string }>("select origin from pragma_index_list(?)", table);
  return indexes.some((index) => index.origin === "pk") ? null : keys[0]!.name;
}

/** Columns with which an index begins that ignores the case of ASCII letters. */
async function foldedColumns(rows: Rows, table: string, schema: string | null): Promise<string[]> {
  const found = await rows<{ column: string }>(
    `select i.name as "column" from pragma_index_list(?, ?) as l, pragma_index_xinfo(l.name, ?) as i
      where l.partial = 0 and i.seqno = 0 and i.name is not null and i."desc" = 0 and i.coll = 'NOCASE' collate nocase`,
    table,
    schema ?? "main",
    schema ?? "main",
  );
  return found.map(({ column }) => column);
}

async function uniqueIndexes(
  rows: Rows,
  table: string,
  schema: string | null,
): Promise<UniqueConstraint[]> {
  const found = await rows<{ index: string; column: string | null }>(
    `select l.name as "index", i.name as "column" from pragma_index_list(?, ?) as l, pragma_index_info(l.name, ?) as i
      where l."unique" = 1 and l.origin <> 'pk' and l.partial = 0 order by l.seq, i.seqno`,
    table,
    schema ?? "main",
    schema ?? "main",
  );
  // An expression has no column; of an index with one, the others need not be unique.
  return [...Map.groupBy(found, (row) => row.index)].flatMap(([name, parts]) => {
    const columns = parts.flatMap(({ column }) => column ?? []);
    return columns.length === parts.length ? [{ name, columns }] : [];
  });
}

async function foreignKeys(
  rows: Rows,
  table: string,
  schema: string | null,
): Promise<ForeignKey[]> {
  const found = await rows<{
    id: number;
    referenced: string;
    column: string;
    target: string | null;
  }>(
    'select id, "table" as referenced, "from" as "column", "to" as target from pragma_foreign_key_list(?, ?) order by id, seq',
    table,
    schema ?? "main",
  );
  const keys = new Map<number, { referencedTable: string; columns: string[]; targets: string[] }>();
  for (const { id, referenced, column, target } of found) {
    const key = keys.get(id) ?? { referencedTable: referenced, columns: [], targets: [] };
    key.columns.push(column);
    if (target !== null) key.targets.push(target);
    keys.set(id, key);
  }
  const all = await Promise.all(
    [...keys].map(async ([id, { referencedTable, columns, targets }]) => ({
      name: `foreign key ${id + 1}`,
      columns,
      referencedTable,
      referencedIdentity: identityOf(schema, referencedTable),
      // A reference that names no column means the primary key.
      referencedColumns: targets.length > 0 ? targets : await keyOf(rows, referencedTable, schema),
    })),
  );
  // SQLite takes a reference to the key of a table that is not there, or has none or a longer one.
  return all.filter((one) => one.referencedColumns.length === one.columns.length);
}

/**
 * What SQLite refuses for every row of a table, because a foreign key refers to a table or column that is not there:
 * statements, and columns that no UPDATE may set. Programs that do not switch foreign keys on do not notice. `table`:
 * quoted. `referenced`: tables that its keys name. `names`: columns that are not of the key.
 */
async function refusedByKeys(
  rows: Rows,
  about: {
    readonly table: string;
    readonly referenced: readonly string[];
    readonly names: readonly string[];
  },
): Promise<{ readonly refusals: TableRefusal[]; readonly fixed: ReadonlySet<string> }> {
  const { table, referenced, names } = about;
  const missing = referenced.map((name) => `no such table: main.${name}`);
  const refusalOf = async (text: string): Promise<string | null> => {
    const message = await rows(`explain ${text} returning *`).then(
      () => "",
      (error: unknown) => (error as Error).message,
    );
    const isOfKeys = message.startsWith("foreign key mismatch - ") || missing.includes(message);
    return isOfKeys ? message : null;
  };
  const statements = [
    ["insert", `insert into ${table} default values`],
    ["delete", `delete from ${table}`],
  ] as const;
  const refusals: TableRefusal[] = [];
  for (const [statement, text] of statements) {
    const message = await refusalOf(text);
    const reason = `where SQLite says: ${message}`;
    if (message !== null) refusals.push({ statement, columns: null, reason, isBroken: true });
  }
  const fixed = new Set<string>();
  if (refusals.length > 0)
    for (const name of names)
      if ((await refusalOf(`update ${table} set ${quoted(name)} = null`)) !== null) fixed.add(name);
  return { refusals, fixed };
}

async function referencedTables(
  rows: Rows,
  table: string,
  schema: string | null,
): Promise<string[]> {
  const found = await rows<{ name: string }>(
    'select distinct "table" as name from pragma_foreign_key_list(?, ?)',
    table,
    schema ?? "main",
  );
  return found.map(({ name }) => name);
}

async function keyOf(rows: Rows, table: string, schema: string | null): Promise<string[]> {
  const found = await rows<{ name: string }>(
    "select name from pragma_table_info(?, ?) where pk > 0 order by pk",
    table,
    schema ?? "main",
  );
  return found.map(({ name }) => name);
}

/** RAISE(IGNORE) ends a row's change without an error, RAISE(FAIL) keeps what was done for the rows before it. */
function passedOver(triggers: readonly string[]): ReadonlySet<WriteKind> {
  const isQuiet = triggers.some((sql) => /\braise\s*\(\s*(ignore|fail)\b/i.test(sql));
  return new Set(isQuiet ? (["insert", "update", "delete"] as const) : []);
}

/** The texts of a table's triggers. */
async function triggersOf(rows: Rows, table: string, schema: string | null): Promise<string[]> {
  const found = await rows<{ sql: string }>(
    `select sql from ${quoted(schema ?? "main")}.sqlite_schema where type = 'trigger' and tbl_name = ? collate nocase`,
    table,
  );
  return found.map(({ sql }) => sql);
}

/** Names are case-insensitive. */
const identityOf = (schema: string | null, table: string): string =>
  `${schema ?? "main"}.${table}`.toLowerCase();

/** Foreign keys that change the referencing rows, and tables with triggers. A foreign key stays within its schema. */
async function linksOf(rows: Rows, schema: string | null): Promise<TableLinks> {
  const cascades = await rows<{ parent: string; child: string }>(
    `select f."table" as parent, t.name as child
      from pragma_table_list as t, pragma_foreign_key_list(t.name, t.schema) as f
      where t.schema = ? and t.type = 'table'
        and (f.on_delete not in ('NO ACTION', 'RESTRICT') or f.on_update not in ('NO ACTION', 'RESTRICT'))`,
    schema ?? "main",
  );
  const stored = await rows<{ type: string; name: string; table: string; sql: string | null }>(
    `select type, name, tbl_name as "table", sql from ${quoted(schema ?? "main")}.sqlite_schema`,
  );
  const indexes = stored.filter(({ sql }) =>
    /^create virtual table[\s\S]*\bfts5\b/i.test(sql ?? ""),
  );
  const triggers = stored.filter(
    ({ type, sql }) => type === "trigger" && !writesOnlyTo(indexes, sql ?? ""),
  );
  return {
    links: cascades.map(({ parent, child }) => ({
      from: identityOf(schema, parent),
      to: identityOf(schema, child),
    })),
    triggered: new Set(triggers.map(({ table }) => identityOf(schema, table))),
  };
}

/** Whether a trigger only keeps full-text indexes up to date, so that no other table changes. */
function writesOnlyTo(indexes: readonly { readonly name: string }[], trigger: string): boolean {
  const names = indexes.map(({ name }) => name.toLowerCase());
  return writtenBy(trigger).every((table) => names.includes(table));
}

/** The tables that the trigger writes to, in lower case. */
function writtenBy(trigger: string): string[] {
  const body = trigger.slice(trigger.search(/\bbegin\b/i));
  return [...body.matchAll(writePattern)].map(([, table]) =>
    table!.replace(/^["[`]|["\]`]$/g, "").toLowerCase(),
  );
}

const writePattern =
  /\b(?:insert\s+(?:or\s+\w+\s+)?into|replace\s+into|update(?:\s+or\s+\w+)?|delete\s+from)\s+("[^"]+"|\[[^\]]+\]|`[^`]+`|\w+)/gi;
