/**
 * `history` and `changes` of all endpoints -> the tables whose changes are recorded. Rules of tables: an endpoint that
 * asks for changes gets those of every endpoint of its table.
 */
import type { Catalog } from "../../plans/database-catalog.ts";
import { type ChangeTables, noChanges, type ToldTable } from "../../plans/change-tables.ts";
import type { Entity } from "../../plans/entity.ts";
import type { WritePlan } from "../../plans/write-plan.ts";
import type { Table } from "../../values/types/column.ts";
import { keyNames } from "../../values/types/key.ts";
import { forEverybody } from "../compiling/plans.ts";
import type { Survey } from "../compiling/survey.ts";
import { cascadesTo } from "./cascades.ts";

interface Compiled {
  readonly survey: Survey;
  /** With what soft delete adds to it. */
  readonly entity: Entity;
  readonly table: Table | null;
}

/** An endpoint that asks for changes of its table. */
interface Asking extends Compiled {
  readonly write: WritePlan;
}

/** Adds faults to the surveys. */
export async function changeTables(
  compiled: readonly Compiled[],
  catalog: Catalog,
): Promise<ChangeTables> {
  const asking = compiled.flatMap((one): Asking[] => {
    const { payload } = one.survey;
    if (!payload.history) {
      if (payload.changes !== undefined)
        one.survey.fault(["changes"], { expected: '"history": true, whose changes it limits' });
      return [];
    }
    return checkAsking(one);
  });
  const told = new Map<string, ToldTable>();
  for (const group of Map.groupBy(asking, ({ write }) => write.table.identity).values()) {
    const table = toldTable(group, compiled);
    told.set(table.table.identity, table);
  }
  if (told.size === 0) return noChanges;
  const tables = [...told.values()].map(({ table }) => table);
  return { told, cascades: await cascadesTo(tables, { catalog, effects: ["delete", "clear"] }) };
}

/** Empty, and a fault, if changes of the endpoint cannot be recorded. */
function checkAsking(one: Compiled): Asking[] {
  const { survey, entity } = one;
  const { write, access } = entity;
  const names = survey.payload.changes?.except ?? [];
  if (write === null || write.table.kind === "view") {
    survey.fault(["history"], { expected: "a tableName that is a table with a primary key" });
    return [];
  }
  if (!write.table.transactional)
    survey.fault(["history"], {
      found: `${write.table.name}, whose storage cannot roll back a change`,
      expected: "a table whose storage has transactions",
    });
  survey.columns(
    names,
    write.table.columns,
    ["changes", "except"],
    `the table ${write.table.name}`,
  );
  for (const [role, rules] of access?.rows ?? [])
    for (const { column } of rules) {
      if (!write.table.columns.has(column) && column.includes("."))
        survey.fault(["rowScope", role, column], {
          expected:
            "a column of the table, because a recorded change does not tell what it referred to",
        });
      if (names.includes(column))
        survey.fault(["changes", "except", names.indexOf(column)], {
          expected: `a column that no rowScope names, because ${column} decides who may see a change`,
        });
    }
  return [{ ...one, write }];
}

/** One table, for all of its endpoints that ask for its changes. */
function toldTable(asking: readonly Asking[], all: readonly Compiled[]): ToldTable {
  const [{ write }] = asking as readonly [Asking];
  const { table, key } = write;
  for (const { survey, write: other } of asking)
    if (keyNames(other.key) !== keyNames(key))
      survey.fault(["primaryKey"], {
        found: keyNames(other.key),
        expected: `${keyNames(key)}, as another endpoint with the history of the same table says`,
      });
  const alike = all.filter((one) => one.table?.identity === table.identity);
  const left = new Set(
    asking.flatMap(({ survey: { payload } }) => [
      ...forEverybody(payload.hiddenFields),
      ...(payload.changes?.except ?? []),
    ]),
  );
  const kept = new Set([...table.columns.keys()].filter((name) => !left.has(name)));
  const scoped = new Set(
    alike.flatMap(({ entity: { access } }) =>
      [...(access?.rows.values() ?? [])].flatMap((rules) => rules.map(({ column }) => column)),
    ),
  );
  const marks = alike.find(({ entity }) => entity.marking)?.entity.marking?.marks ?? null;
  const needed = new Set([
    ...[...key, marks?.flag, marks?.at].flatMap((column) => column?.name ?? []),
    ...kept,
    ...scoped,
  ]);
  return {
    table,
    key,
    columns: [...table.columns.values()].filter(({ name }) => needed.has(name)),
    kept,
    stamps: new Set(
      alike.flatMap(({ entity }) =>
        (entity.write?.audit ?? []).flatMap(({ when, column }) =>
          when === "update" ? column.name : [],
        ),
      ),
    ),
    scoped: new Set([...scoped].filter((name) => table.columns.has(name))),
    marks,
  };
}
