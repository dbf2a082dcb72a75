/** What aggregate may read. */
import type { Join } from "../query/statement.ts";
import type { Columns, Source } from "../values/types/column.ts";
import type { ReadPlan } from "./read-plan.ts";

/** What aggregate needs. */
export interface AggregatePlan extends Pick<ReadPlan, "source" | "columns" | "named"> {
  readonly joins: ReadonlyMap<string, DeclaredJoin>;
  readonly tables: readonly JoinableTable[];
}

/** A join that the configuration declares. */
export interface DeclaredJoin {
  /** `identity` of the joined table. */
  readonly identity: string;
  readonly tableName: string;
  readonly join: Join;
  /** Columns of the joined table that a request may name. */
  readonly fields: Columns;
}

/** A table of another entity, with the columns that the other one shows. */
export interface JoinableTable {
  /** The other endpoint. */
  readonly endpoint: string;
  readonly name: string;
  readonly source: Source;
  readonly columns: Columns;
}
