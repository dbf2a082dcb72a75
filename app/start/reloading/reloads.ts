/**
 * Which configuration is served, and the order of attempts to load another: one after the other. All attempts that are
 * requested while one runs become a single one after it, which reads the latest files.
 */
import { hash } from "node:crypto";
import type { ImportComponent } from "../../../core/config/compiling/components-plan.ts";
import { faultLine } from "../../../core/config/reading/faults.ts";
import type { ConfigFiles } from "../../../core/config/reading/read-config.ts";
import type { Log } from "../../../core/plans/log-port.ts";
import type { ConfigState } from "../../http/health.ts";
import { ConfigError } from "../settings/config-error.ts";

/** The configuration as it is read from files. */
export interface ConfigSource {
  readonly files: ConfigFiles;
  /** For the `${NAME}`s of project.json, and for jobs. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Loads the files under `components/`; absent: a configuration with handlers is refused. */
  readonly importComponent?: ImportComponent | undefined;
  /** Called when it is served. */
  readonly served?: () => void;
}

export interface Reloads<Source extends ConfigSource = ConfigSource> {
  state(): ConfigState;
  /** Resolves when the configuration of `read` is served; rejects, after logging why, when the old one stays. */
  reload(read: () => Promise<Source>): Promise<void>;
  /** Resolves when no attempt is under way. Later ones are refused. */
  close(): Promise<void>;
}

export interface ReloadsOptions<Source> {
  /** The files of the first configuration. */
  readonly files: ConfigFiles;
  readonly log: Log;
  /** Serves the configuration in place of the one before; rejects when that one stays. */
  serve(source: Source): Promise<void>;
}

export function createReloads<Source extends ConfigSource>({
  files: first,
  serve,
  log,
}: ReloadsOptions<Source>): Reloads<Source> {
  let loads = 1;
  let state = stateOf(first, loads);
  let read: (() => Promise<Source>) | null = null;
  let running: Promise<void> = Promise.resolve();
  let waiting: Promise<void> | null = null;
  let isClosed = false;

  async function attempt(): Promise<void> {
    waiting = null;
    try {
      if (isClosed) throw new Error("The service is stopping");
      const source = await read!();
      await serve(source);
      source.served?.();
      loads++;
      state = stateOf(source.files, loads);
      log.info({ version: state.version }, "The configuration was loaded again");
    } catch (error) {
      state = { ...state, lastError: (error as Error).message };
      logFailure(error, log);
      throw error;
    }
  }

  return {
    state: () => state,
    reload(next) {
      read = next;
      if (waiting) return waiting;
      const attempted = running.then(attempt);
      waiting = attempted;
      running = attempted.catch(() => undefined);
      return attempted;
    },
    async close() {
      isClosed = true;
      await running;
    },
  };
}

/** Each fault on its own line, like the logged errors of the service. */
function logFailure(error: unknown, log: Log): void {
  const stays = "The configuration was not loaded, and the old one stays";
  if (!(error instanceof ConfigError)) {
    const isExpected = error instanceof Error && error.constructor === Error;
    log.error(isExpected ? {} : { err: error }, `${stays}: ${(error as Error).message}`);
    return;
  }
  for (const fault of error.faults) log.error({}, `${stays}: ${faultLine(fault)}`);
  for (const sentence of error.sentences) log.error({}, `${stays}: ${sentence}`);
}

/** `loads`: how many configurations this process has served. */
function stateOf(files: ConfigFiles, loads: number): ConfigState {
  const sorted = [...files].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const digest = hash("sha256", JSON.stringify(sorted)).slice(0, 12);
  return { version: `${loads}-${digest}`, loadedAt: new Date().toISOString(), lastError: null };
}
