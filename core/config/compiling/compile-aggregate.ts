/**
 * What aggregate may read: the entity's own columns, the joins that its file declares, and the tables of the project's
 * other entities. Those are known only after all endpoints are compiled, so this works in two steps.
 */
import { switchedOn } from "../../actions.ts";
import type { Column, Columns, Table } from "../../values/types/column.ts";
import type { AggregatePlan, DeclaredJoin, JoinableTable } from "../../plans/aggregate-plan.ts";
import type { Entity } from "../../plans/entity.ts";
import type { ReadPlan } from "../../plans/read-plan.ts";
import { canJoin } from "../../lists/joins.ts";
import { sourceOf } from "../../query/statement.ts";
import type { Reading } from "./plans.ts";
import type { Survey } from "./survey.ts";

/** Without the tables of other entities. */
export async function aggregateOf(
  survey: Survey,
  read: ReadPlan,
  { columns, label }: Reading,
): Promise<AggregatePlan> {
  const joins = new Map<string, DeclaredJoin>();
  for (const [name, config] of Object.entries(survey.payload.aggregateConfig?.joins ?? {})) {
    const path = ["aggregateConfig", "joins", name];
    const left = survey.column(config.sourceField, columns, [...path, "sourceField"], label);
    const table = await survey.table(config.tableName, [...path, "tableName"]);
    if (!table) continue;
    const of = `the table ${table.name}`;
    const own = copied(table.columns);
    const right = survey.column(config.targetField, own, [...path, "targetField"], of);
    const fields = survey.columns(config.fields, own, [...path, "fields"], of);
    if (!left || !right) continue;
    if (!canJoin(left, right)) {
      survey.fault([...path, "targetField"], {
        found: `a ${right.type} column`,
        expected: `a ${left.type} column, like ${left.name}`,
      });
    }
    const type = config.joinType.toLowerCase() as "left" | "inner" | "right";
    joins.set(name, {
      identity: table.identity,
      tableName: config.tableName,
      join: { type, source: sourceOf(table), columns: [...own.values()], left, right, rows: null },
      fields: new Map(fields.map((field) => [field.name, field])),
    });
  }
  return { source: read.source, columns: read.columns, named: read.columns, joins, tables: [] };
}

/** The table that others may join: copies of the columns that the entity shows of it. Null when it shows none. */
export function exposedTable(
  { payload, endpoint }: Survey,
  table: Table | null,
  shown: Columns,
): JoinableTable | null {
  const { tableName, action } = payload;
  if (!table || tableName === undefined) return null;
  if (switchedOn(action, ({ showsColumns }) => showsColumns).length === 0) return null;
  return { endpoint, name: tableName, source: sourceOf(table), columns: copied(shown) };
}

/** The entity with the tables of the others. All entities share these: of 300 endpoints, each would have 299 copies. */
export function withTables(
  entity: Entity,
  others: readonly { readonly entity: Entity; readonly exposed: JoinableTable | null }[],
): Entity {
  if (entity.aggregate === null || !entity.enabled.has("aggregate")) return entity;
  const tables = others.flatMap(({ entity: other, exposed }) =>
    exposed === null || other === entity ? [] : exposed,
  );
  return { ...entity, aggregate: { ...entity.aggregate, tables } };
}

/** Statements distinguish a joined column from an equal column of the source by object identity. */
const copied = (columns: Columns): Columns =>
  new Map([...columns].map(([name, column]): [string, Column] => [name, { ...column }]));
