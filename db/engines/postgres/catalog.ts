/**
 * Reads PostgreSQL's tables, views and queries from pg_catalog. A domain is treated as the type below it, with the
 * domain's NOT NULL, default and length.
 */
import {
  type Column,
  type ColumnType,
  derivedColumn,
  type ForeignKey,
  type Table,
  type TableRefusal,
  type UniqueConstraint,
  type WriteKind,
} from "../../../core/values/types/column.ts";
import { changesWith } from "../changes-with.ts";
import { type Connection, type Kinds, rowsFor, rowsForEach } from "../engine.ts";
import type { RawRow } from "../../statements/dialect.ts";
import {
  affectedQuery,
  agreementQuery,
  checksQuery,
  columnsQuery,
  filledQuery,
  foldingQuery,
  keysQuery,
  outputsQuery,
  referencesQuery,
  refusalsQuery,
  relationQuery,
} from "./catalog-queries.ts";
import { type ColumnRow, columnOf, names, nativeTypes } from "./column.ts";
import type { Folding } from "./like.ts";
import type { OutputColumn, PostgresConnection } from "./session.ts";

/** Null when there is no such table or view. `schema` null = found by the search path. */
export async function readTable(
  connection: PostgresConnection,
  schema: string | null,
  name: string,
): Promise<Table | null> {
  const [relation] = await rowsForEach(connection, relationQuery, [name, schema]);
  if (!relation) return null;
  const isView = relation["is_view"] === true;
  const ask = (query: string) => rowsForEach(connection, query, [relation["oid"]]);
  const [attributes, keys, references, checks, refusals, affected] = await Promise.all([
    ask(columnsQuery),
    ask(keysQuery),
    ask(referencesQuery),
    ask(checksQuery),
    ask(refusalsQuery),
    ask(affectedQuery),
  ]);
  const identity = String(relation["identity"]);
  const filled =
    relation["definition_takes_inserts"] === true
      ? await filledByTable(connection, relation["oid"])
      : noneFilled;
  return {
    kind: isView ? "view" : "table",
    schema,
    name,
    columns: new Map(
      attributes.map((row, at) => [
        String(row["name"]),
        {
          ...columnOf(row as unknown as ColumnRow),
          ...filled.get(at),
          ...(relation["fills"] === true &&
            row["computed"] !== true && { isFilledByTrigger: true }),
        },
      ]),
    ),
    primaryKey: keys
      .filter((row) => row["is_primary"] === true)
      .flatMap((row) => names(row["columns"])),
    unique: keys.map((row): UniqueConstraint => ({
      name: String(row["name"]),
      columns: names(row["columns"]),
    })),
    foreignKeys: references.map(foreignKeyOf),
    checks: checks.map((row) => ({ name: String(row["name"]), columns: names(row["columns"]) })),
    refusals: refusals.map(refusalOf),
    passesOver: new Set(names(relation["passes_over"]) as WriteKind[]),
    changesReturned: relation["changes_returned"] === true,
    ...(relation["lacks_locks"] === true && { locksRows: false }),
    transactional: true,
    identity,
    // A write through a view changes the tables under it.
    changesWith: isView
      ? null
      : changesWith(identity, {
          links: affected.map((row) => ({ from: identity, to: String(row["identity"]) })),
          triggered: new Set(
            affected.flatMap((row) => (row["triggers"] === true ? [String(row["identity"])] : [])),
          ),
        }),
  };
}

type Filled = Pick<Column, "hasDefault" | "generated">;
const noneFilled: ReadonlyMap<number, Filled> = new Map();

/** Columns of a simple view, by place, that the table under it fills when an INSERT leaves them out. */
async function filledByTable(
  connection: PostgresConnection,
  oid: unknown,
): Promise<ReadonlyMap<number, Filled>> {
  const text = "select pg_catalog.pg_get_viewdef($1::oid) as text";
  const rows = await rowsFor(connection, text, [oid]);
  const outputs = await connection.outputColumns(String(rows[0]?.["text"]).replace(/;\s*$/, ""));
  const places = outputs.map(({ table, number }, index) => ({ index, table, number }));
  const found = await rowsFor(connection, filledQuery, [JSON.stringify(places)]);
  return new Map(
    found.map((row) => [
      Number(row["index"]),
      {
        hasDefault: true,
        generated:
          row["computed"] === true ? "computed" : row["identity"] === true ? "identity" : "none",
      },
    ]),
  );
}

/** The columns that a query gives, all of them nullable. Rejects with an Error that has the server's message. */
export async function readQuery(
  connection: PostgresConnection,
  text: string,
): Promise<readonly Column[]> {
  const outputs = await connection.outputColumns(text).catch((error: unknown) => {
    throw new Error(error instanceof Error ? error.message : String(error), { cause: error });
  });
  const twice = outputs.find(
    ({ name }, index) => outputs.findIndex((other) => other.name === name) !== index,
  );
  if (twice) {
    throw new Error(`column "${twice.name}" appears more than once; give each column its own name`);
  }
  const described = outputs.map(({ type, table, number }, index) => ({
    index,
    type,
    table,
    number,
  }));
  const rows = await rowsFor(connection, outputsQuery, [JSON.stringify(described)]);
  return rows.map((row, index) =>
    columnOf({ ...(row as unknown as ColumnRow), name: outputs[index]!.name }),
  );
}

/** The columns of a result, by the oids of the built-in types. All other types are shown as the server writes them. */
export const outputsOf = (fields: readonly unknown[]): readonly Column[] =>
  (fields as readonly OutputColumn[]).map(({ name, type }) => {
    const native = builtIn.get(type) ?? "text";
    return derivedColumn(name, nativeTypes.get(native)!, { native });
  });

/** How a value is read follows from its type; a domain is answered as the type below it. */
export const kinds: Kinds = {
  expected: ({ type, native }) => kindOf(type, native),
  answered(field) {
    const native = builtIn.get((field as OutputColumn).type) ?? "text";
    return kindOf(nativeTypes.get(native)!, native);
  },
};

/** Arrays and types without a specific kind are selected as texts (`value-forms.ts`). */
function kindOf(type: ColumnType, native: string): string {
  if (type === "integer") return native === "bigint" ? "bigint" : "integer";
  if (type === "file") return native.startsWith("json") ? "json" : "text";
  return type === "uuid" || type === "array" || type === "other" ? "text" : type;
}

/** By oid. */
const builtIn: ReadonlyMap<number, string> = new Map([
  [16, "boolean"],
  [17, "bytea"],
  [20, "bigint"],
  [21, "smallint"],
  [23, "integer"],
  [114, "json"],
  [700, "real"],
  [701, "double precision"],
  [1082, "date"],
  [1083, "time without time zone"],
  [1114, "timestamp without time zone"],
  [1184, "timestamp with time zone"],
  [1700, "numeric"],
  [3802, "jsonb"],
]);

/**
 * The collation that case-insensitive comparisons must name to be right beyond ASCII, whatever the collation of the
 * database or of a column is (C knows only ASCII letters). Null if the server has none.
 */
export async function readFolding(connection: Connection): Promise<Folding | null> {
  const [found] = await rowsFor(connection, foldingQuery);
  if (found === undefined) return null;
  const collation = String(found["name"]);
  const [agreement] = await rowsFor(connection, agreementQuery(collation));
  return { collation, isCommon: agreement?.["is_common"] === true };
}

function foreignKeyOf(row: RawRow): ForeignKey {
  return {
    name: String(row["name"]),
    columns: names(row["columns"]),
    referencedTable: String(row["referenced"]),
    referencedIdentity: String(row["referenced_identity"]),
    referencedColumns: names(row["referenced_columns"]),
  };
}

/** `kind`: what is refused, `name`: the name of the rule or sequence. */
function refusalOf({ statement, columns, kind, name }: RawRow): TableRefusal {
  const verb = String(statement).toUpperCase();
  const reason =
    kind === "schema"
      ? `whose schema "${String(name)}" the database user has no right to use`
      : kind === "rule"
        ? `where the rule "${String(name)}" takes the place of ${verb} and answers no rows`
        : kind === "view"
          ? `a view on which the database carries out no ${verb}, because it neither is a simple view of one table nor has an INSTEAD OF trigger for it`
          : kind === "sequence"
            ? `whose sequence "${String(name)}" the database user has no right to use`
            : `on which the database user has no right to ${verb}`;
  return {
    statement: statement as TableRefusal["statement"],
    columns: columns === null ? null : names(columns),
    reason,
  };
}
