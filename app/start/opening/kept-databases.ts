/**
 * The databases of a process, by project and settings: a configuration that is loaded again keeps using the connections
 * of a project as long as the settings of its database stay the same.
 */
import type { ProjectConfig } from "../../../core/config/reading/read-config.ts";
import type { DbObserver } from "../../../core/plans/observer.ts";
import type { Db } from "../../../core/plans/db-port.ts";
import type { Log } from "../../../core/plans/log-port.ts";
import { fileOf, openDb } from "../../../db/open.ts";
import type { SharedPlaces } from "./shared-places.ts";
import { readText } from "../settings/config-files.ts";
import { databaseOptions } from "../settings/project-settings.ts";

export interface KeptDatabase {
  readonly db: Db;
  /** Replaces the listeners: `heard` gets messages of failures that suggest changed tables, `observer` statements. */
  listen(heard: (failure: string) => void, observer: DbObserver | undefined): void;
  /** To be called once. The last user's call closes the connections. */
  release(): Promise<void>;
}

export interface Databases {
  /** Rejects with an Error for an address that cannot be read, and for a driver that is not installed. */
  take(config: ProjectConfig): Promise<KeptDatabase>;
}

interface Kept {
  readonly opening: Promise<Db>;
  users: number;
  heard: (failure: string) => void;
  observer: DbObserver | undefined;
  /** Ends the use of its file in `places`. */
  readonly leave: (() => void) | undefined;
}

export interface DatabasesOptions {
  readonly log: Log;
  /** See `OpenOptions`. */
  readonly isOnlyLookedAt?: boolean;
  /** Null or absent: other processes may use the databases too. */
  readonly places?: SharedPlaces | null;
}

export function createDatabases({ log, places = null, ...options }: DatabasesOptions): Databases {
  const kept = new Map<string, Kept>();

  function open(config: ProjectConfig): Kept {
    const path = fileOf(config.database.url);
    const entry: Kept = {
      opening: openDb(config.database.url, {
        ...databaseOptions(config, readText),
        ...options,
        log: projectLog(log, config.name),
        // Indirect, because the observer changes with the configuration.
        observer: {
          statement: (report) => entry.observer?.statement(report),
          waited: (durationMs, isGiven) => entry.observer?.waited(durationMs, isGiven),
        },
        onSchemaDoubt: (failure) => entry.heard(failure),
      }),
      users: 0,
      heard: () => undefined,
      observer: undefined,
      leave: path === null ? undefined : places?.use(path),
    };
    return entry;
  }

  return {
    async take(config) {
      const key = JSON.stringify([config.name, config.database.url, databaseOptions(config)]);
      const entry = kept.get(key) ?? open(config);
      kept.set(key, entry);
      entry.users++;
      const leave = (): boolean => {
        entry.users--;
        if (entry.users > 0) return false;
        entry.leave?.();
        return kept.delete(key);
      };
      const db = await entry.opening.catch((error: unknown) => {
        leave();
        throw error;
      });
      return {
        db,
        listen(heard, observer) {
          entry.heard = heard;
          entry.observer = observer;
        },
        async release() {
          if (leave()) await db.close();
        },
      };
    },
  };
}

/** A log whose lines name the project that they are about. */
const projectLog = (log: Log, project: string): Log => ({
  debug: (fields, message) => log.debug({ project, ...fields }, message),
  info: (fields, message) => log.info({ project, ...fields }, message),
  warn: (fields, message) => log.warn({ project, ...fields }, message),
  error: (fields, message) => log.error({ project, ...fields }, message),
});
