/**
 * `rowgate hooks` and `rowgate hooks retry`: non-blocking hook calls, and deliveries of webhooks, that were given up. The
 * calls are in the queue of the jobs, the deliveries in the databases of their projects.
 */
import { parseArgs } from "node:util";
import type { ProjectConfig } from "../../../core/config/reading/read-config.ts";
import type { DeadCall, DeadCalls } from "../../../core/workflow/hook-queue.ts";
import { limits } from "../../../core/values/limits.ts";
import {
  type DeliveryPlace,
  type FailedDelivery,
  failedDeliveries,
  retryDeliveries,
} from "../../../core/webhooks/failed-deliveries.ts";
import { databaseFaults, openDb } from "../../../db/open.ts";
import { openDeadCalls } from "../../../jobs/queue/open/open-hook-queue.ts";
import { hookQueuePlace } from "../opening/open-hooks.ts";
import { readConfigFiles, readText } from "../settings/config-files.ts";
import { createEnvFiles } from "../settings/env-file.ts";
import { parseEnv, type Settings } from "../settings/env.ts";
import { databaseOptions } from "../settings/project-settings.ts";
import { readProjects } from "../settings/read-projects.ts";
import { createLog } from "../observing/log.ts";

/** Which calls and deliveries a command is about. */
interface Selection {
  readonly ids: readonly string[];
  readonly project: string | undefined;
}

/** What was given up. */
interface GivenUp {
  readonly calls: readonly DeadCall[];
  readonly deliveries: readonly FailedDelivery[];
}

/** The texts for standard output, and for standard error. */
export interface HooksOutput {
  readonly out: string;
  readonly errors: string;
}

/**
 * Rejects with an Error for other arguments, a configuration folder that cannot be read, and when the queue or a
 * database is unreachable.
 */
export async function runHooks(
  args: readonly string[],
  env: Record<string, string | undefined>,
): Promise<HooksOutput> {
  const { command, envFiles, isJson, ...selection } = readArguments(args);
  const { env: whole } = createEnvFiles(envFiles, env)();
  const settings = parseEnv(whole);
  const files = await readConfigFiles(settings.configDir);
  const { projects, faults } = readProjects({ files, env: whole }, databaseFaults);
  const log = createLog("silent");
  const calls = await openDeadCalls(hookQueuePlace(settings, log));
  const opened: OpenPlace[] = [];
  try {
    for (const config of projects) opened.push(...(await openPlace(config)));
    const places = opened.map(({ place }) => place);
    const found = selected(
      {
        calls: await calls.list(),
        deliveries: (await Promise.all(places.map(failedDeliveries))).flat(),
      },
      selection,
    );
    return {
      out:
        command === "list"
          ? listed(found, isJson)
          : await retried(found, { calls, places, settings }),
      errors:
        faults.length === 0
          ? ""
          : "The configuration has faults, see rowgate check; deliveries of the projects with faults are not listed\n",
    };
  } finally {
    await calls.close();
    await Promise.all(opened.map(({ close }) => close()));
  }
}

function readArguments(
  args: readonly string[],
): Selection & {
  readonly command: "list" | "retry";
  readonly isJson: boolean;
  readonly envFiles: readonly string[];
} {
  const { positionals, values } = parsed(args);
  const [command = "list", ...rest] = positionals;
  const { id = [], all = false, json = false, project, "env-file": envFiles = [] } = values;
  const ids = [...rest, ...id];
  const isList = command === "list";
  if ((!isList && command !== "retry") || (isList && (rest.length > 0 || all)))
    throw new Error(usage);
  // Exactly one of the two: to send everything again must be said.
  if (!isList && (json || all === ids.length > 0)) throw new Error(usage);
  return { command: isList ? "list" : "retry", isJson: json, ids, project, envFiles };
}

const usage =
  "Use: rowgate hooks [--json], or rowgate hooks retry <id>|--all; with [--project NAME] [--env-file FILE]";

/** Throws an Error for an unknown option. */
function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        id: { type: "string", multiple: true },
        all: { type: "boolean" },
        json: { type: "boolean" },
        project: { type: "string" },
        "env-file": { type: "string", multiple: true },
      },
    });
  } catch (error) {
    throw new Error((error as Error).message, { cause: error });
  }
}

interface OpenPlace {
  readonly place: DeliveryPlace;
  close(): Promise<void>;
}

/**
 * Empty: the database has no table of deliveries. Rejects with an Error when it is unreachable, unless the project has
 * no webhooks; then only those that it had before may have left deliveries.
 */
async function openPlace(config: ProjectConfig): Promise<OpenPlace[]> {
  const { name: project, database, webhooks } = config;
  const db = await openDb(database.url, databaseOptions(config, readText));
  try {
    const ledger = await db.catalog.table("rowgate_deliveries");
    if (ledger === null) {
      await db.close();
      return [];
    }
    const session = () => db.session(performance.now() + limits.requestDeadlineMs);
    return [{ place: { session, ledger, project }, close: () => db.close() }];
  } catch (error) {
    await db.close();
    if (webhooks.length === 0) return [];
    throw new Error(`The database of the project ${project} is not reachable`, { cause: error });
  }
}

/** Throws an Error for an id that is not there. */
function selected({ calls, deliveries }: GivenUp, { ids, project }: Selection): GivenUp {
  const missing = ids.find((id) => ![...calls, ...deliveries].some((one) => one.id === id));
  if (missing !== undefined) throw new Error(`No hook call with the id ${missing} was given up`);
  const isMeant = (id: string, of: string): boolean =>
    (ids.length === 0 || ids.includes(id)) && (project === undefined || of === project);
  return {
    calls: calls.filter(({ id, place }) => isMeant(id, place.project)),
    deliveries: deliveries.filter((one) => isMeant(one.id, one.project)),
  };
}

function listed({ calls, deliveries }: GivenUp, isJson: boolean): string {
  if (isJson) {
    const shown = [
      ...calls.map(({ id, place, requestId, tries, failedAtMs, reason }) => ({
        kind: "hook",
        id,
        project: place.project,
        endpoint: place.endpoint,
        hook: place.hook,
        status: place.status,
        request_id: requestId,
        tries,
        failed_at: new Date(failedAtMs).toISOString(),
        reason,
      })),
      ...deliveries.map(({ requestId, tries, failedAtMs, reason, ...one }) => ({
        kind: "webhook",
        ...one,
        request_id: requestId,
        tries,
        failed_at: new Date(failedAtMs).toISOString(),
        reason,
      })),
    ];
    return `${JSON.stringify(shown, null, 2)}\n`;
  }
  const rows = [
    ...calls.map(({ id, failedAtMs, tries, place, reason }) => ({
      id,
      failedAtMs,
      tries,
      reason,
      at: `${place.project}/${place.endpoint}`,
      hook: `${place.status} ${place.hook}`,
    })),
    ...deliveries.map(({ id, failedAtMs, tries, project, endpoint, webhook, type, reason }) => ({
      id,
      failedAtMs,
      tries,
      reason,
      at: `${project}/${endpoint}`,
      hook: `${type} webhook:${webhook}`,
    })),
  ];
  if (rows.length === 0) return "No hook call was given up\n";
  const head = ["ID", "GIVEN UP", "TRIES", "ENDPOINT", "HOOK", "REASON"];
  return table([
    head,
    ...rows.map(({ id, failedAtMs, tries, at, hook, reason }) => [
      id,
      new Date(failedAtMs).toISOString(),
      String(tries),
      at,
      hook,
      reason.replaceAll(/\s+/g, " "),
    ]),
  ]);
}

/** Columns as wide as their longest text. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
  return rows
    .map(
      (row) =>
        `${row
          .map((text, at) => text.padEnd(widths[at]!))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}

async function retried(
  found: GivenUp,
  {
    calls,
    places,
    settings,
  }: { calls: DeadCalls; places: readonly DeliveryPlace[]; settings: Settings },
): Promise<string> {
  let deliveries = 0;
  const now = new Date().toISOString();
  for (const place of places) {
    const own = found.deliveries.filter(({ project }) => project === place.project);
    deliveries += await retryDeliveries(place, { ids: own.map(({ id }) => id), now });
  }
  let count = 0;
  for (const { id } of found.calls) if (await calls.retry(id)) count += 1;
  const isOwn = settings.redisUrl === null && settings.jobsDatabaseUrl === null;
  const when = isOwn
    ? `; the service takes them within ${limits.hookRetryLookMs / 1_000} seconds, or when it is started`
    : "";
  const ofCalls =
    count === 0
      ? "No hook call is sent again\n"
      : `${count} hook ${count === 1 ? "call is" : "calls are"} sent again${when}\n`;
  if (deliveries === 0) return ofCalls;
  const ofDeliveries = `${deliveries} webhook ${deliveries === 1 ? "delivery is" : "deliveries are"} sent again by the running service\n`;
  return count === 0 ? ofDeliveries : ofCalls + ofDeliveries;
}
