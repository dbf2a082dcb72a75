/** `rowgate hooks list` and `rowgate hooks retry`: non-blocking hook calls that were given up. */
import { parseArgs } from "node:util";
import type { DeadCall, DeadCalls } from "../../../core/workflow/hook-queue.ts";
import { limits } from "../../../core/values/limits.ts";
import { openDeadCalls } from "../../../jobs/queue/open/open-hook-queue.ts";
import { hookQueuePlace } from "../opening/open-hooks.ts";
import { createEnvFiles } from "../settings/env-file.ts";
import { parseEnv, type Settings } from "../settings/env.ts";
import { createLog } from "../observing/log.ts";

/** Which calls a command is about. */
interface Selection {
  readonly ids: readonly string[];
  readonly project: string | undefined;
}

/** Resolves to the text to print. Rejects with an Error for other arguments, and when the queue is unreachable. */
export async function runHooks(
  args: readonly string[],
  env: Record<string, string | undefined>,
): Promise<string> {
  const { command, envFiles, ...selection } = readArguments(args);
  const settings = parseEnv(createEnvFiles(envFiles, env)().env);
  const calls = await openDeadCalls(hookQueuePlace(settings, createLog("silent")));
  try {
    const found = selected(await calls.list(), selection);
    return command === "list" ? listed(found) : await retried(found, { calls, settings });
  } finally {
    await calls.close();
  }
}

function readArguments(args: readonly string[]): Selection & {
  readonly command: "list" | "retry";
  readonly envFiles: readonly string[];
} {
  const { positionals, values } = parsed(args);
  const [command, ...rest] = positionals;
  if ((command !== "list" && command !== "retry") || rest.length > 0)
    throw new Error("Use: rowgate hooks list|retry [--id ID] [--project NAME] [--env-file FILE]");
  const { id = [], project, "env-file": envFiles = [] } = values;
  return { command, ids: id, project, envFiles };
}

/** Throws an Error for an unknown option. */
function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        id: { type: "string", multiple: true },
        project: { type: "string" },
        "env-file": { type: "string", multiple: true },
      },
    });
  } catch (error) {
    throw new Error((error as Error).message, { cause: error });
  }
}

/** Throws an Error for an id that is not there. */
function selected(calls: readonly DeadCall[], { ids, project }: Selection): readonly DeadCall[] {
  const missing = ids.find((id) => !calls.some((call) => call.id === id));
  if (missing !== undefined) throw new Error(`No hook call with the id ${missing} was given up`);
  return calls.filter(
    ({ id, place }) =>
      (ids.length === 0 || ids.includes(id)) &&
      (project === undefined || place.project === project),
  );
}

function listed(calls: readonly DeadCall[]): string {
  if (calls.length === 0) return "No hook call was given up\n";
  const rows = calls.map(({ id, failedAtMs, tries, place, reason }) => [
    id,
    new Date(failedAtMs).toISOString(),
    String(tries),
    `${place.project}/${place.endpoint}`,
    `${place.status} ${place.hook}`,
    reason.replaceAll(/\s+/g, " "),
  ]);
  const head = ["ID", "GIVEN UP", "TRIES", "ENDPOINT", "HOOK", "REASON"];
  return table([head, ...rows]);
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
  found: readonly DeadCall[],
  { calls, settings }: { calls: DeadCalls; settings: Settings },
): Promise<string> {
  let count = 0;
  for (const { id } of found) if (await calls.retry(id)) count += 1;
  if (count === 0) return "No hook call is sent again\n";
  const isOwn = settings.redisUrl === null && settings.jobsDatabaseUrl === null;
  const when = isOwn
    ? `; the service takes them within ${limits.hookRetryLookMs / 1_000} seconds, or when it is started`
    : "";
  return `${count} hook ${count === 1 ? "call is" : "calls are"} sent again${when}\n`;
}
