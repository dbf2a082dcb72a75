/**
 * `history`, `live` and `changes` of all endpoints, `webhooks` and `files` -> the tables whose changes are recorded.
 * Rules of tables: an endpoint that asks for changes gets those of every endpoint of its table.
 */
import type { Catalog } from "../../plans/database-catalog.ts";
import { type ChangeTables, noChanges, type RecordedTable } from "../../plans/change-tables.ts";
import type { FileTables } from "../../plans/file-tables.ts";
import type { WritePlan } from "../../plans/write-plan.ts";
import { keyNames } from "../../values/types/key.ts";
import { forEverybody } from "../compiling/plans.ts";
import type { Fault } from "../reading/faults.ts";
import type { ProjectConfig } from "../reading/read-config.ts";
import type { CompiledEndpoint, Survey } from "../compiling/survey.ts";
import { cascadesTo } from "./cascades.ts";
import {
  type NamedBy,
  openWebhookSurvey,
  type WebhookSurvey,
  webhookRule,
} from "./webhook-rules.ts";

/** An endpoint that asks for changes of its table. */
interface Asking extends CompiledEndpoint {
  readonly write: WritePlan;
  readonly webhooks: readonly NamedBy[];
}

const isLogged = ({ survey: { payload } }: CompiledEndpoint): boolean =>
  payload.history || payload.live;

/** `faults`: those of the webhooks. The others are added to the surveys. */
export async function changeTables(
  compiled: readonly CompiledEndpoint[],
  { config, catalog, files }: { config: ProjectConfig; catalog: Catalog; files: FileTables },
): Promise<{ readonly changes: ChangeTables; readonly faults: readonly Fault[] }> {
  const webhooks = openWebhookSurvey(config);
  const { faults } = webhooks;
  const asking = compiled.flatMap((one): Asking[] => {
    const named = webhooks.naming(one.survey.endpoint);
    const { write } = one.entity;
    const hasFiles = one.survey.payload.files && write && files.has(write.table.identity);
    if (isLogged(one) || named.length > 0 || hasFiles) return checkAsking(one, named, webhooks);
    if (one.survey.payload.changes !== undefined)
      one.survey.fault(["changes"], {
        expected:
          '"history" or "live" to be true, or a webhook of the endpoint: it limits what they record',
      });
    return [];
  });
  const recorded = new Map<string, RecordedTable>();
  for (const group of Map.groupBy(asking, ({ write }) => write.table.identity).values()) {
    const table = recordedTable(group, { all: compiled, webhooks, files });
    recorded.set(table.table.identity, table);
  }
  if (recorded.size === 0) return { changes: noChanges, faults };
  const live = asking.flatMap(({ survey, entity }) => (survey.payload.live ? entity.name : []));
  const tables = [...recorded.values()].map(({ table }) => table);
  const cascades = await cascadesTo(tables, { catalog, effects: ["delete", "change"] });
  return { changes: { live: new Set(live), recorded, cascades }, faults };
}

/** Empty, and a fault, if changes of the endpoint cannot be recorded. */
function checkAsking(
  one: CompiledEndpoint,
  named: readonly NamedBy[],
  webhooks: WebhookSurvey,
): Asking[] {
  const { survey, entity } = one;
  const { write, access } = entity;
  const names = survey.payload.changes?.except ?? [];
  const fault = (about: Parameters<Survey["fault"]>[1]): void => {
    if (isLogged(one)) survey.fault([survey.payload.history ? "history" : "live"], about);
    else for (const { path } of named) webhooks.fault(path, about);
  };
  if (write === null || write.table.kind === "view") {
    const expected = "a tableName that is a table with a primary key";
    fault({ expected: isLogged(one) ? expected : `an endpoint with ${expected}` });
    return [];
  }
  if (survey.payload.live && !entity.enabled.has("read"))
    survey.fault(["live"], { expected: "read to be on: its right is that of being told" });
  if (!write.table.transactional)
    fault({
      found: `${write.table.name}, whose storage cannot roll back a change`,
      expected: "a table whose storage has transactions",
    });
  survey.columns(
    names,
    write.table.columns,
    ["changes", "except"],
    `the table ${write.table.name}`,
  );
  for (const [role, rules] of isLogged(one) ? (access?.rows ?? []) : [])
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
  return [{ ...one, write, webhooks: named }];
}

/** One table, for all of its endpoints that ask for its changes. */
function recordedTable(
  asking: readonly Asking[],
  {
    all,
    webhooks,
    files: ofAll,
  }: { all: readonly CompiledEndpoint[]; webhooks: WebhookSurvey; files: FileTables },
): RecordedTable {
  const [{ write }] = asking as readonly [Asking];
  const { table, key } = write;
  const files = ofAll.get(table.identity) ?? null;
  for (const { survey, write: other } of asking)
    if (keyNames(other.key) !== keyNames(key))
      survey.fault(["primaryKey"], {
        found: keyNames(other.key),
        expected: `${keyNames(key)}, as another endpoint says that has changes of the same table recorded`,
      });
  const alike = all.filter((one) => one.table?.identity === table.identity);
  const left = new Set(
    asking.flatMap(({ survey: { payload } }) => [
      ...forEverybody(payload.hiddenFields),
      ...(payload.changes?.except ?? []),
    ]),
  );
  const hidden = new Set(asking.flatMap(({ survey }) => forEverybody(survey.payload.hiddenFields)));
  const isLive = asking.some(({ survey }) => survey.payload.live);
  const logged = asking.filter(isLogged);
  const told = asking.filter((one) => one.webhooks.length > 0);
  const kept = new Set([...table.columns.keys()].filter((name) => !left.has(name)));
  const scoped = new Set(
    alike.flatMap(({ entity: { access } }) =>
      [...(access?.rows.values() ?? [])].flatMap((rules) => rules.map(({ column }) => column)),
    ),
  );
  const marks = alike.find(({ entity }) => entity.marking)?.entity.marking?.marks ?? null;
  const keepDays = Math.max(
    ...logged.map(({ survey: { payload } }) =>
      payload.history ? (payload.changes?.keepDays ?? Infinity) : (payload.changes?.keepDays ?? 7),
    ),
  );
  const needed = new Set([
    ...[...key, marks?.flag, marks?.at].flatMap((column) => column?.name ?? []),
    ...(isLive || told.length > 0
      ? [...table.columns.keys()].filter((name) => !hidden.has(name))
      : logged.length > 0
        ? kept
        : []),
    ...(logged.length > 0 ? scoped : []),
    ...(files?.columns.keys() ?? []),
  ]);
  const shown = new Map([...table.columns].filter(([name]) => !hidden.has(name)));
  return {
    table,
    key,
    columns: [...table.columns.values()].filter(({ name }) => needed.has(name)),
    kept,
    shown: new Set(
      asking.flatMap(({ entity, write: { shown: own } }) =>
        entity.enabled.has("history") ? [...own.keys()].filter((name) => kept.has(name)) : [],
      ),
    ),
    settable: new Set(
      alike.flatMap(({ entity: { write } }) =>
        write ? [...write.writable.keys(), ...write.presets.keys()] : [],
      ),
    ),
    stamps: new Set(
      alike.flatMap(({ entity }) =>
        (entity.write?.audit ?? []).flatMap(({ when, column }) =>
          when === "update" ? column.name : [],
        ),
      ),
    ),
    scoped: new Set([...scoped].filter((name) => table.columns.has(name))),
    isLogged: logged.length > 0,
    isLive,
    keepDays: Number.isFinite(keepDays) ? keepDays : null,
    marks,
    files,
    webhooks: told.flatMap(({ survey: { project, endpoint }, webhooks: named }) =>
      named.map((one) =>
        webhookRule(webhooks, one, {
          columns: shown,
          label: `the table ${table.name}`,
          place: { project, endpoint, namesRecords: key.every(({ name }) => shown.has(name)) },
        }),
      ),
    ),
  };
}
