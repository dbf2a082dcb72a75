/**
 * The commands of the command line: `serve`, `worker`, `check`, `key`. Each command loads only what it needs: a worker
 * without the parts of the service takes 27 MB less.
 */
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { formatFaults } from "../../core/config/faults.ts";
import { riskText } from "../../core/config/risks.ts";
import { storeCompiled } from "./compile-cache.ts";
import { openConfigFolder } from "./config-folder.ts";
import { lowerPriorityOfProcess } from "../../jobs/thread/low-priority.ts";
import { listenForReloads } from "./reload-triggers.ts";
import type { Service } from "./wire.ts";

const usage = `Usage: npm run rowgate -- <command> [--env-file .env]

  serve    serve the configured projects (CONFIG_DIR, PORT, HOST)
  worker   run exports and imports (CONFIG_DIR, REDIS_URL or JOBS_DATABASE_URL, STORAGE_URL)
  check    check the configuration against the databases; exits with 1 when it finds a fault
  key      create an API key: --id erp --roles clerk,auditor [--claims '{"tenant": "t1"}']

--env-file reads variables from a file, for serve, worker and check. The environment overrides the file.
serve and worker load the configuration again on SIGHUP; with --watch also whenever one of its files has changed.
`;

const commands: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  serve: serveProjects,
  worker: runJobs,
  check,
  key: makeKey,
};

/** Runs a command. A failure ends the process with exit code 1. */
export async function runCommand(name = "", args: readonly string[] = []): Promise<void> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command) return command(args).catch(exitWith);
  process.stderr.write(usage);
  process.exitCode = name === "" || name === "help" ? 0 : 1;
}

/** Throws an Error for any other argument. */
function readArgs(
  args: readonly string[],
  { mayWatch }: { mayWatch: boolean },
): { envFiles: readonly string[]; isWatched: boolean } {
  const options = { "env-file": { type: "string", multiple: true } } as const;
  const watching = mayWatch ? ({ watch: { type: "boolean" } } as const) : {};
  try {
    const { values } = parseArgs({ args: [...args], options: { ...options, ...watching } });
    return { envFiles: values["env-file"] ?? [], isWatched: "watch" in values };
  } catch (error) {
    throw new Error((error as Error).message, { cause: error });
  }
}

async function serveProjects(args: readonly string[]): Promise<void> {
  const { envFiles, isWatched } = readArgs(args, { mayWatch: true });
  const [{ openService }, { listen }] = await Promise.all([
    import("./wire.ts"),
    "Bun" in globalThis ? import("./bun.ts") : import("./node.ts"),
  ]);
  const folder = openConfigFolder(envFiles);
  const takeReloads = listenForReloads(folder, { isWatched });
  const service = await openService(await folder.read());
  const { url, stop } = await listen(service);
  process.stdout.write(`Rowgate listens on ${url}\n${example(service, url)}`);
  stopOnSignal(stop);
  await takeReloads(service.reload);
  await service.ready;
  storeCompiled();
}

async function runJobs(args: readonly string[]): Promise<void> {
  const { envFiles, isWatched } = readArgs(args, { mayWatch: true });
  // Before any file is read, because the thread pool starts with the first read.
  lowerPriorityOfProcess();
  const { startWorker } = await import("./worker.ts");
  const folder = openConfigFolder(envFiles);
  const takeReloads = listenForReloads(folder, { isWatched });
  const onStuck = () =>
    void exitWith(
      new Error(
        "Jobs are waiting but this worker receives none; it stops so that a new one can start",
      ),
    );
  const { stop, reload } = await startWorker({ ...(await folder.read()), onStuck });
  process.stdout.write("Rowgate takes jobs\n");
  stopOnSignal(stop);
  await takeReloads(reload);
  storeCompiled();
}

function stopOnSignal(stop: () => Promise<void>): void {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => void stop().then(() => process.exit(0), exitWith));
  }
}

async function check(args: readonly string[]): Promise<void> {
  const { envFiles } = readArgs(args, { mayWatch: false });
  const { checkConfig } = await import("./check-config.ts");
  const { path: configDir, read } = openConfigFolder(envFiles);
  const { faults, unreachable, notices, risks, endpoints } = await checkConfig(await read());
  if (faults.length > 0) process.stderr.write(`${formatFaults(faults)}\n`);
  for (const sentence of unreachable) process.stderr.write(`${sentence}\n`);
  for (const notice of notices) process.stdout.write(`Note: ${notice}\n`);
  for (const risk of risks) process.stdout.write(`Warning: ${riskText(risk)}\n`);
  if (faults.length + unreachable.length > 0) process.exitCode = 1;
  else process.stdout.write(`The configuration in ${configDir} is valid: ${endpoints} endpoints\n`);
}

async function makeKey(args: readonly string[]): Promise<void> {
  const { newApiKey } = await import("./api-key.ts");
  process.stdout.write(newApiKey(args));
}

/** An example request that can be pasted: `read` of the first readable endpoint of a served project. */
function example({ projects, isUp }: Service, url: string): string {
  for (const project of projects) {
    if (!isUp(project.name)) continue;
    const readable = project.endpoints.find(({ payload }) => payload.action["read"] === true);
    if (!readable) continue;
    const path = `${url}/api/${project.name}/${readable.name}/read`;
    return `Try: curl -s ${path} -H 'Content-Type: application/json' -d '{"page": 1, "per_page": 2}'\n`;
  }
  return "";
}

/** Writes the error and ends the process, after a short pause so that the output is written. */
async function exitWith(error: unknown): Promise<never> {
  const isExpected =
    error instanceof Error && (error.constructor === Error || error.name === "ConfigError");
  process.stderr.write(
    `${isExpected ? (error as Error).message : String((error as Error)?.stack ?? error)}\n`,
  );
  await pause(10);
  process.exit(1);
}
