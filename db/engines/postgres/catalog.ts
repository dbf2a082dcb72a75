/**
 * What PostgreSQL says of its tables, views and queries, read from pg_catalog. A domain counts as the type below it, with the
 * domain's NOT NULL, default and length.
 */
import {
  type Column,
  derivedColumn,
  type ForeignKey,
  type Table,
  type TableRefusal,
  type UniqueConstraint,
  type WriteKind,
} from "../../../core/values/column.ts";
import { changesWith } from "../changes-with.ts";
import type { Connection } from "../engine.ts";
import type { RawRow } from "../../statements/dialect.ts";
import {
  affectedQuery,
  checksQuery,
  columnsQuery,
  filledQuery,
  foldingQuery,
  keysQuery,
  namesQuery,
  outputsQuery,
  referencesQuery,
  refusalsQuery,
  relationQuery,
} from "./catalog-queries.ts";
import { type ColumnRow, columnOf, names, nativeTypes } from "./column.ts";
import type { OutputColumn, PostgresConnection } from "./session.ts";

/** Null when there is no such table or view. `schema` null = whatever the search path finds. */
export async function readTable(
  connection: PostgresConnection,
  schema: string | null,
  name: string,
): Promise<Table | null> {
  const relation = (await connection.run(relationQuery, [name, schema], false)).rows[0];
  if (!relation) return null;
  const isView = relation["is_view"] === true;
  const attributes = await connection.run(columnsQuery, [relation["oid"]], false);
  const keys = await connection.run(keysQuery, [relation["oid"]], false);
  const references = await connection.run(referencesQuery, [relation["oid"]], false);
  const checks = await connection.run(checksQuery, [relation["oid"]], false);
  const refusals = await connection.run(refusalsQuery, [relation["oid"]], false);
  const affected = await connection.run(affectedQuery, [relation["oid"]], false);
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
      attributes.rows.map((row, at) => [
        String(row["name"]),
        {
          ...columnOf(row as unknown as ColumnRow),
          ...filled.get(at),
          ...(relation["fills"] === true &&
            row["computed"] !== true && { isFilledByTrigger: true }),
        },
      ]),
    ),
    primaryKey: keys.rows
      .filter((row) => row["is_primary"] === true)
      .flatMap((row) => names(row["columns"])),
    unique: keys.rows.map((row): UniqueConstraint => ({
      name: String(row["name"]),
      columns: names(row["columns"]),
    })),
    foreignKeys: references.rows.map(foreignKeyOf),
    checks: checks.rows.map((row) => ({
      name: String(row["name"]),
      columns: names(row["columns"]),
    })),
    refusals: refusals.rows.map(refusalOf),
    passesOver: new Set(names(relation["passes_over"]) as WriteKind[]),
    ...(relation["lacks_locks"] === true && { locksRows: false }),
    transactional: true,
    identity,
    // What stands under a view changes with it.
    changesWith: isView
      ? null
      : changesWith(identity, {
          links: affected.rows.map((row) => ({ from: identity, to: String(row["identity"]) })),
          triggered: new Set(
            affected.rows.flatMap((row) =>
              row["triggers"] === true ? [String(row["identity"])] : [],
            ),
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
  const { rows } = await connection.run(text, [oid], false);
  const outputs = await connection.outputColumns(String(rows[0]?.["text"]).replace(/;\s*$/, ""));
  const places = outputs.map(({ table, number }, index) => ({ index, table, number }));
  const found = await connection.run(filledQuery, [JSON.stringify(places)], false);
  return new Map(
    found.rows.map((row) => [
      Number(row["index"]),
      {
        hasDefault: true,
        generated:
          row["computed"] === true ? "computed" : row["identity"] === true ? "identity" : "none",
      },
    ]),
  );
}

/** Names of the tables and views of the default schema. */
export async function readNames(connection: Connection): Promise<readonly string[]> {
  const { rows } = await connection.run(namesQuery, [], false);
  return rows.map((row) => String(row["name"]));
}

/** The columns that a query gives, all of them nullable. Rejects with an Error that says what the server said. */
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
  const { rows } = await connection.run(outputsQuery, [JSON.stringify(described)], false);
  return rows.map((row, index) =>
    columnOf({ ...(row as unknown as ColumnRow), name: outputs[index]!.name }),
  );
}

/** The columns of a result, as far as the numbers of the built-in types tell; all others are shown as the server writes them. */
export const outputsOf = (fields: readonly unknown[]): readonly Column[] =>
  (fields as readonly OutputColumn[]).map(({ name, type }) => {
    const native = builtIn.get(type) ?? "text";
    return derivedColumn(name, nativeTypes.get(native)!, { native });
  });

/** By oid. Not those that the driver reads by itself: small integers, booleans. */
const builtIn: ReadonlyMap<number, string> = new Map([
  [17, "bytea"],
  [20, "bigint"],
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
 * The collation that comparisons without regard to case must name to be right beyond ASCII, whatever the collation of the
 * database or of a column is (C knows ASCII letters alone). Null where the server has none to offer.
 */
export async function readFoldingCollation(connection: Connection): Promise<string | null> {
  const { rows } = await connection.run(foldingQuery, [], false);
  return (rows[0]?.["name"] as string | undefined) ?? null;
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

/** `kind`: what is refused, `name`: of the rule or sequence. */
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
