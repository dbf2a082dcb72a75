/**
 * Reads MySQL's and MariaDB's tables, views and queries. Tables are read from information_schema. A query is only
 * prepared, and its columns come from the protocol's description of the result.
 */
import { quotedTable } from "../../statements/quoted.ts";
import type {
  Column,
  ForeignKey,
  Table,
  TableRefusal,
  UniqueConstraint,
} from "../../../core/values/types/column.ts";
import { changesWith, type TableLinks } from "../changes-with.ts";
import { type Kinds, rowsFor, rowsForEach, sharedFact, type SharedFacts } from "../engine.ts";
import type { RawRow } from "../../statements/dialect.ts";
import { type ColumnFacts, columnOf, kindOf } from "./column.ts";
import type { Field, MysqlConnection } from "./connection.ts";
import { jsonInView, noWrites, writesOfView } from "./view-writes.ts";

/** Null when there is no such table or view. `schema` null = the database of the URL. */
export async function readTable(
  { connection, shared }: { connection: MysqlConnection; shared: SharedFacts },
  schema: string | null,
  name: string,
): Promise<Table | null> {
  const read = (query: string): Promise<RawRow[]> => rowsForEach(connection, query, [schema, name]);
  const [table] = await read(tableQuery);
  if (!table) return null;
  const isView = /view/i.test(String(table["kind"]));
  const version = String(table["version"]);
  const checks = isMariaDb(version) && !isView ? await read(checksQuery) : [];
  const jsonColumns = new Set(
    isMariaDb(version) && isView
      ? await jsonInView(connection, { schema, name })
      : checks.map(checkedAsJson),
  );
  const fills = (await read(fillingQuery)).length > 0;
  const indexes = [...groupedBy(await read(indexesQuery))];
  const primaryKey = indexes.find(([index]) => index === "PRIMARY")?.[1].map(columnName) ?? [];
  const columnRows = await read(columnsQuery);
  const taken = isView
    ? await writesOfView(connection, { schema, name }, columnRows.map(columnNamed))
    : noWrites;
  const columns = columnRows.map((row) =>
    tableColumn(row, {
      isMade: taken.made.has(String(row["name"])),
      isFixed: taken.fixed.has(String(row["name"])),
      isView,
      isJson: jsonColumns.has(String(row["name"])),
      isFilledByTrigger: fills,
      isUntoldKey: !returnsInserts(version) && primaryKey.includes(String(row["name"])),
      version,
    }),
  );
  const references = [...groupedBy(await read(referencesQuery))];
  const identity = String(table["identity"]);
  return {
    kind: isView ? "view" : "table",
    schema,
    name,
    columns: new Map(columns.map((column) => [column.name, column])),
    primaryKey,
    unique: indexes
      .filter(([, parts]) =>
        parts.every((part) => part["column_name"] !== null && part["prefix"] === null),
      )
      .map(([index, parts]): UniqueConstraint => ({ name: index, columns: parts.map(columnName) })),
    foreignKeys: references.map(([constraint, parts]): ForeignKey => ({
      name: constraint,
      columns: parts.map(columnName),
      referencedTable: String(parts[0]!["referenced"]),
      referencedIdentity: String(parts[0]!["referenced_identity"]),
      referencedColumns: parts.map((part) => String(part["referenced_column"])),
    })),
    checks: checks.map((row) => {
      const names = namesIn(String(row["clause"]));
      return {
        name: String(row["name"]),
        columns: columnRows.map(columnNamed).filter((one) => names.has(one)),
      };
    }),
    refusals: isView
      ? taken.refusals
      : [
          ...lackedRights(columnRows),
          ...((await mayDelete(connection, schema, name)) ? [] : [refusalOf("delete", null)]),
        ],
    insertsReturn: returnsInserts(version),
    transactional: isView || String(table["transactional"]) === "YES",
    identity,
    // A write through a view changes the tables under it.
    changesWith: isView
      ? null
      : changesWith(identity, await sharedFact(shared, "links", () => linksOf(connection))),
  };
}

/** Covers all databases of the server, which opens each of their tables for this. */
async function linksOf(connection: MysqlConnection): Promise<TableLinks> {
  const cascades = await rowsFor(connection, cascadesQuery);
  const triggers = await rowsFor(connection, triggersQuery);
  return {
    links: cascades.map((row) => ({ from: String(row["parent"]), to: String(row["child"]) })),
    triggered: new Set(triggers.map((row) => String(row["identity"]))),
  };
}

/** The columns that a query gives, all of them nullable. */
export async function readQuery(
  connection: MysqlConnection,
  text: string,
): Promise<readonly Column[]> {
  // A second statement, and anything but a SELECT, is a syntax error there. Two columns with the same name fail too.
  const wrapped = `select * from (\n${text.trim().replace(/;$/, "")}\n) as q`;
  const rows = await rowsFor(connection, "select version() as version");
  const fields = await connection.describe(wrapped);
  return fields.map((field) => fieldColumn(field, String(rows[0]?.["version"])));
}

/** The columns of a result. */
export const outputsOf = (fields: readonly unknown[]): readonly Column[] =>
  (fields as readonly Field[]).map((field) => fieldColumn(field, ""));

export const kinds: Kinds = {
  expected: ({ native }) => (native === "" ? null : kindOf(native)),
  answered: (field) => {
    const { columnLength, columnType } = field as Field;
    return columnLength === 0 || columnType === nullType
      ? null
      : kindOf(nativeType(field as Field));
  },
};

const nullType = 6;

/**
 * Some systems ignore the case of names, and then tell it as a statement wrote it. Dots of the schema are marked: without
 * that, `b.c` in `a` would be `c` in `a.b`.
 */
function identityOf(schema: string, table: string): string {
  const name = `concat(replace(replace(${schema}, '/', '//'), '.', '/.'), '.', ${table})`;
  return `if(@@lower_case_table_names = 0, ${name}, lower(${name}))`;
}

const tableQuery = `
  select t.TABLE_TYPE as kind, e.TRANSACTIONS as transactional, version() as version,
    ${identityOf("t.TABLE_SCHEMA", "t.TABLE_NAME")} as identity
  from information_schema.TABLES t left join information_schema.ENGINES e on e.ENGINE = t.ENGINE
  where t.TABLE_SCHEMA = coalesce(?, database()) and t.TABLE_NAME = ?`;

const columnsQuery = `
  select COLUMN_NAME as name, COLUMN_TYPE as native, CHARACTER_SET_NAME as charset, COLLATION_NAME as collation, IS_NULLABLE as nullable,
    COLUMN_DEFAULT as initial, EXTRA as extra, GENERATION_EXPRESSION as expression, PRIVILEGES as rights
  from information_schema.COLUMNS
  where TABLE_SCHEMA = coalesce(?, database()) and TABLE_NAME = ?
  order by ORDINAL_POSITION`;

const indexesQuery = `
  select INDEX_NAME as name, COLUMN_NAME as column_name, SUB_PART as prefix
  from information_schema.STATISTICS
  where TABLE_SCHEMA = coalesce(?, database()) and TABLE_NAME = ? and NON_UNIQUE = 0
  order by INDEX_NAME, SEQ_IN_INDEX`;

const referencesQuery = `
  select CONSTRAINT_NAME as name, COLUMN_NAME as column_name,
    if(REFERENCED_TABLE_SCHEMA = database(), REFERENCED_TABLE_NAME,
      concat(REFERENCED_TABLE_SCHEMA, '.', REFERENCED_TABLE_NAME)) as referenced,
    ${identityOf("REFERENCED_TABLE_SCHEMA", "REFERENCED_TABLE_NAME")} as referenced_identity,
    REFERENCED_COLUMN_NAME as referenced_column
  from information_schema.KEY_COLUMN_USAGE
  where TABLE_SCHEMA = coalesce(?, database()) and TABLE_NAME = ? and REFERENCED_TABLE_NAME is not null
  order by CONSTRAINT_NAME, ORDINAL_POSITION`;

const cascadesQuery = `
  select distinct ${identityOf("CONSTRAINT_SCHEMA", "TABLE_NAME")} as child,
    ${identityOf("UNIQUE_CONSTRAINT_SCHEMA", "REFERENCED_TABLE_NAME")} as parent
  from information_schema.REFERENTIAL_CONSTRAINTS
  where DELETE_RULE in ('CASCADE', 'SET NULL', 'SET DEFAULT') or UPDATE_RULE in ('CASCADE', 'SET NULL', 'SET DEFAULT')`;

const triggersQuery = `
  select distinct ${identityOf("EVENT_OBJECT_SCHEMA", "EVENT_OBJECT_TABLE")} as identity
  from information_schema.TRIGGERS`;

/** Triggers that may change a row before it is stored. */
const fillingQuery = `
  select TRIGGER_NAME as name from information_schema.TRIGGERS
  where EVENT_OBJECT_SCHEMA = coalesce(?, database()) and EVENT_OBJECT_TABLE = ?
    and ACTION_TIMING = 'BEFORE' and EVENT_MANIPULATION = 'INSERT'`;

/** Only MariaDB has the table's name there. */
const checksQuery = `
  select CONSTRAINT_NAME as name, CHECK_CLAUSE as clause from information_schema.CHECK_CONSTRAINTS
  where CONSTRAINT_SCHEMA = coalesce(?, database()) and TABLE_NAME = ?`;

export const namesQuery = `
  select TABLE_NAME as name from information_schema.TABLES where TABLE_SCHEMA = database() order by TABLE_NAME`;

const refusalOf = (
  statement: TableRefusal["statement"],
  columns: readonly string[] | null,
): TableRefusal => ({
  statement,
  columns,
  reason: `on which the database user has no right to ${statement.toUpperCase()}`,
});

/** For each column, the server lists the user's rights, whatever grant they come from. */
function lackedRights(rows: readonly RawRow[]): TableRefusal[] {
  return (["select", "insert", "update"] as const).flatMap((statement) => {
    const lacking = rows.filter((row) => !String(row["rights"]).split(",").includes(statement));
    return lacking.length === 0
      ? []
      : [
          refusalOf(
            statement,
            lacking.map((row) => String(row["name"])),
          ),
        ];
  });
}

/** A right to DELETE can come from grants of any level and from roles, so the server is asked by preparing a DELETE. */
async function mayDelete(
  connection: MysqlConnection,
  schema: string | null,
  name: string,
): Promise<boolean> {
  try {
    await connection.describe(`delete from ${quotedTable({ schema, name }, "`")} where 1 = 0`);
    return true;
  } catch (error) {
    if ((error as { errno?: unknown }).errno === accessDenied) return false;
    throw error;
  }
}

const accessDenied = 1142;

/** Whether INSERT can return the rows: MariaDB since 10.5. */
function returnsInserts(version: string): boolean {
  const [, major, minor] = /(\d+)\.(\d+)\.\d+-mariadb/i.exec(version) ?? [];
  return Number(major) * 100 + Number(minor) >= 1005;
}

export const isMariaDb = (version: string): boolean => /mariadb/i.test(version);

const columnNamed = (row: RawRow): string => String(row["name"]);

const columnName = (part: RawRow): string => String(part["column_name"]);

/** MariaDB makes a JSON column a longtext with this check; null for any other. */
function checkedAsJson(row: RawRow): string | null {
  const clause = String(row["clause"]);
  const [name = null] = /^json_valid\(`(?:[^`]|``)+`\)$/i.test(clause) ? namesIn(clause) : [];
  return name;
}

/** The names in a condition as the server prints it. */
const namesIn = (clause: string): Set<string> =>
  new Set([...clause.matchAll(/`((?:[^`]|``)+)`/g)].map(([, name]) => name!.replaceAll("``", "`")));

const groupedBy = (rows: readonly RawRow[]): Map<string, RawRow[]> =>
  Map.groupBy(rows, (row) => String(row["name"]));

interface TableFacts {
  /** Of a view: the table under it numbers the column. */
  readonly isMade: boolean;
  /** Of a view: an expression, which cannot be set. */
  readonly isFixed: boolean;
  readonly isView: boolean;
  readonly isJson: boolean;
  readonly isFilledByTrigger: boolean;
  /** Part of a key that a default or a trigger makes, and that the server then does not report. */
  readonly isUntoldKey: boolean;
  readonly version: string;
}

function tableColumn(
  row: RawRow,
  { isView, isMade, isFixed, isJson, isFilledByTrigger, isUntoldKey, version }: TableFacts,
): Column {
  const extra = String(row["extra"]);
  // Both servers report the expression; MariaDB reports NULL if there is none.
  const isComputed = Boolean(row["expression"]) || isFixed;
  const isIdentity = isMade || (!isView && /auto_increment/i.test(extra));
  // MariaDB writes the absent default of a nullable column as the word.
  const isDefaulted =
    !isUntoldKey && row["initial"] !== null && !(isMariaDb(version) && row["initial"] === "NULL");
  const column = columnOf({
    name: String(row["name"]),
    native: String(row["native"]),
    isJson,
    isUtf8: String(row["charset"]).startsWith("utf8"),
    collation: row["collation"] as string | null,
    charset: row["charset"] as string | null,
    nullable: isView || row["nullable"] === "YES",
    hasDefault: isDefaulted || isIdentity || isComputed,
    generated: isComputed ? "computed" : isIdentity ? "identity" : "none",
    timestampLast: timestampLast(version),
  });
  const told =
    isFilledByTrigger && !isUntoldKey && column.generated === "none"
      ? { ...column, isFilledByTrigger }
      : column;
  return isView ? maybeBoolean(told) : told;
}

/** Comparisons give 1 or 0 on these servers: a rule can declare that a read-only number is a boolean. */
const maybeBoolean = (column: Column): Column =>
  column.type === "integer" ? { ...column, ruleTypes: ["boolean"] } : column;

/** MariaDB counts seconds in 32 bits without a sign since 11.5, where the processor has 64 bits. */
function timestampLast(version: string): string {
  const [, major, minor] = /(\d+)\.(\d+)\.\d+-mariadb/i.exec(version) ?? [];
  return Number(major) * 100 + Number(minor) >= 1105
    ? "2106-02-07T06:28:15.999Z"
    : "2038-01-19T03:14:07.999Z";
}

function fieldColumn(field: Field, version: string): Column {
  const facts: ColumnFacts = {
    name: field.name,
    native: nativeType(field),
    isJson: field.extendedFormat === "json",
    isUtf8: true,
    collation: null,
    charset: null,
    nullable: true,
    hasDefault: false,
    generated: "none",
    timestampLast: timestampLast(version),
  };
  return maybeBoolean(columnOf(facts));
}

const flag = { unsigned: 0x20, enum: 0x100, set: 0x800 };

/** Strings that are bytes have this instead of a character set. */
const binaryCharset = 63;

/** The type as COLUMN_TYPE shows it for a table's column, as far as the protocol describes it. */
function nativeType(field: Field): string {
  const { columnType, columnLength, decimals, flags } = field;
  if (field.extendedTypeName !== undefined) return field.extendedTypeName;
  const isBinary = field.characterSet === binaryCharset;
  const unsigned = flags & flag.unsigned ? " unsigned" : "";
  switch (columnType) {
    case 0:
    case 246: {
      const precision = columnLength - (decimals > 0 ? 1 : 0) - (unsigned === "" ? 1 : 0);
      return `decimal(${precision},${decimals})${unsigned}`;
    }
    case 1:
      return columnLength === 1 ? "tinyint(1)" : `tinyint${unsigned}`;
    case 2:
      return `smallint${unsigned}`;
    case 3:
      return `int${unsigned}`;
    case 4:
      return "float";
    case 5:
      return "double";
    case 7:
      return `timestamp(${decimals})`;
    case 8:
      return `bigint${unsigned}`;
    case 9:
      return `mediumint${unsigned}`;
    case 10:
    case 14:
      return "date";
    case 11:
      return "time";
    case 12:
      return `datetime(${decimals})`;
    case 13:
      return "year";
    case 16:
      return `bit(${columnLength})`;
    case 245:
      return "json";
    case 255:
      return "geometry";
    default:
      if (flags & flag.enum) return "enum";
      if (flags & flag.set) return "set";
      if (columnType >= 249 && columnType <= 252) return isBinary ? "longblob" : "longtext";
      return isBinary && columnType !== 6 ? "varbinary" : "varchar";
  }
}
