/** The thread in which jobs run: opens its own databases and files, then runs the jobs that `thread-host.ts` sends. */
import { setFlagsFromString } from "node:v8";
import { parentPort, workerData } from "node:worker_threads";
import { importFrom } from "../settings/component-modules.ts";
import { parseEnv } from "../settings/env.ts";
import { openObservation } from "../observing/open-observation.ts";
import { openJobWorld } from "./open-job-world.ts";
import { openLog } from "../observing/log.ts";
import { AppError, unavailable } from "../../../core/values/errors.ts";
import { limits } from "../../../core/values/limits.ts";
import type { Json } from "../../../core/values/json.ts";
import { sentErrorOf } from "../../../core/values/sent-error.ts";
import type { Job, Run } from "../../../core/jobs/job.ts";
import { calledLocks } from "../../stores/parent-stores.ts";
import { createProcessCalls } from "../../stores/process-calls.ts";
import { lowerPriority } from "../../../jobs/thread/low-priority.ts";
import { createRunner } from "../../../jobs/run-job.ts";
import type { FromThread, ThreadStart, ToThread } from "../../../jobs/thread/thread-messages.ts";

lowerPriority();
setUpCollector();
const port = parentPort!;
const { files, env, logLevel, logFormat, process: number } = workerData as ThreadStart;
const send = (message: FromThread): void => port.postMessage(message);
const ends = new Map<string, AbortController>();
const calls = createProcessCalls((message) => send({ type: "call", message }));

const importComponent = importFrom(parseEnv(env).configDir);
const opening = open();
// Every run that waits for it reports the error.
opening.catch(() => undefined);

port.on("message", (message: ToThread) => {
  if (message.type === "run") void start(message.job, message.id);
  else if (message.type === "end") ends.get(message.id)?.abort(message.reason);
  else if (message.type === "call") calls.hear(message.message);
  else void close();
});

async function open() {
  const settings = parseEnv(env);
  const log = await openLog({ logLevel, logFormat }, number);
  const watching = await openObservation({ settings, log, isThread: true });
  const {
    world,
    observation,
    close: closeWorld,
  } = await openJobWorld({
    files,
    env,
    log,
    importComponent,
    observation: watching,
    raise: (names) => calls.call("cache", "raise", names),
    locks: calledLocks(calls),
  });
  return {
    runJob: observation.runJobInThread(createRunner(world)),
    async close() {
      await closeWorld();
      await watching.close(performance.now() + limits.farewellMs);
    },
  };
}

async function start(job: Job, id: string): Promise<void> {
  const end = new AbortController();
  ends.set(id, end);
  const progress: Run["progress"] = (processed, total) =>
    send({ type: "progress", id, processed, total });
  try {
    const { runJob } = await opening;
    const result: Json = await runJob({ job, id, signal: end.signal, progress });
    send({ type: "done", id, result });
  } catch (error) {
    send({ type: "failed", id, error: sentErrorOf(withoutDoubt(error)) });
  } finally {
    ends.delete(id);
  }
}

/** At that time the job has committed or not; running statements fail with their connection. */
async function close(): Promise<void> {
  const opened = await opening.catch(() => null);
  await opened?.close();
  process.exit(0);
}

/** After an error of changed tables, the next run reads the tables of the database again. */
const withoutDoubt = (error: unknown): unknown =>
  error instanceof AppError && error.schemaDoubt !== undefined
    ? unavailable("The tables of the database have changed; try again", error.cause)
    : error;

/**
 * Sets flags of V8's garbage collector. They apply to the whole process, where requests are answered as fast or a little
 * faster with them. Only Node.js has them.
 *
 * - Pretenuring allocates objects directly in the old generation if earlier ones from the same line of code survived.
 *   The rows of a batch survive a while, but are garbage with the next batch: with pretenuring, an import of 100,000
 *   rows took a third longer.
 * - Collections of young objects in parallel would let requests wait for helpers of a low priority (`lowerPriority`).
 */
function setUpCollector(): void {
  if ("Bun" in globalThis || "Deno" in globalThis) return;
  setFlagsFromString("--no-allocation-site-pretenuring");
  setFlagsFromString("--no-parallel-scavenge");
}
