/**
 * The databases of a process, by project and settings: a configuration that is loaded again uses the connections of the
 * one before as long as the settings of a project's database are the same.
 */
import type { ProjectConfig } from "../../core/config/read-config.ts";
import type { DbObserver } from "../../core/plans/observer.ts";
import type { Db, Log } from "../../core/plans/ports.ts";
import { openDb } from "../../db/open.ts";
import { readText } from "./config-files.ts";
import { databaseOptions } from "./project-settings.ts";
import { projectLog } from "./project-log.ts";

/** A database in use. */
export interface KeptDatabase {
  readonly db: Db;
  /** From now on `heard` is called with what the database says when statements fail as if tables had changed, and `observer` is told of all statements. */
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
}

export interface DatabasesOptions {
  readonly log: Log;
  /** See `OpenOptions`. */
  readonly isOnlyLookedAt?: boolean;
}

export function createDatabases({ log, ...options }: DatabasesOptions): Databases {
  const kept = new Map<string, Kept>();

  function open(config: ProjectConfig): Kept {
    const entry: Kept = {
      opening: openDb(config.database.url, {
        ...databaseOptions(config, readText),
        ...options,
        log: projectLog(log, config.name),
        // Whoever watches changes with the configuration.
        observer: {
          statement: (report) => entry.observer?.statement(report),
          waited: (durationMs, isGiven) => entry.observer?.waited(durationMs, isGiven),
        },
        onSchemaDoubt: (failure) => entry.heard(failure),
      }),
      users: 0,
      heard: () => undefined,
      observer: undefined,
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
        return entry.users === 0 && kept.delete(key);
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
