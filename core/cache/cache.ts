/**
 * Cache of list answers, valid until one of their tables is written. A read gets the cached answer and then the
 * versions of its tables (one `stamp`). The cached answer is used only if it was stored under the same stamp; otherwise
 * the database is asked. A write raises the versions after its commit and before it is answered, so a stale answer may
 * be stored but is never returned. When the store is unreachable, lists are read from the database. `dispatch.ts`
 * raises versions; read, datatables and lookup read through `ProjectCache`.
 */
import type { Table } from "../values/types/column.ts";
import type { Entity } from "../plans/entity.ts";
import { asString, jsonOf, type WrittenJson } from "../values/ready-json.ts";
import { limits } from "../values/limits.ts";
import type { CacheObserver, CacheResult } from "../plans/observer.ts";
import type { CacheStore } from "./cache-store.ts";
import type { Log } from "../plans/log-port.ts";
import type { Runtime } from "../plans/runtime.ts";
import { createReach } from "./reach.ts";

/** The kind of list; part of the cache key. */
export type ListKind = "list" | "datatables" | "lookup";

/** The source of an answer. */
export interface Subject {
  readonly entity: Entity;
  readonly kind: ListKind;
  /** Names of versions, from `dependenciesOf`. */
  readonly dependsOn: readonly string[];
}

/**
 * Returns the JSON of the result of `make` (as `jsonOf`), or the cached text for the same parameters. `parameters`
 * are everything of the request that determines the answer, as JSON values. Concurrent equal requests run `make` once.
 */
export type Keep = (parameters: unknown, make: () => Promise<unknown>) => Promise<WrittenJson>;

/** The cache as the actions of one project see it. */
export interface ProjectCache {
  /**
   * The cache for callers of one scope, identified by `Scope.key`. Callers of other scopes do not get these answers.
   */
  within(scope: string): ProjectCache;
  keeping(subject: Subject): Keep;
  /**
   * To be called after a commit and before its answer: no later read on any instance returns the old data. Never
   * rejects.
   */
  wrote(tables: Iterable<Table | "unknown">): Promise<void>;
  /** See `Asking.acknowledged`. Independent of whether answers are cached. */
  acknowledged(): Promise<string | null>;
}

/** Raised by every write. Reads through a view or query depend on it, because their tables are not known. */
const anyTable = "any";
/** Raised by a write whose triggers may have changed any table. Every read depends on it. */
const everyTable = "every";
/**
 * Raised by writes to a database that other instances may reach by another address. All reads of all databases depend
 * on it.
 */
export const everyDatabase = "elsewhere";

/** The versions on which rows of these tables depend; null = the tables are not known. */
export function dependenciesOf(tables: readonly Table[] | null): readonly string[] {
  return tables === null
    ? [everyTable, anyTable]
    : [everyTable, ...new Set(tables.map(({ identity }) => identity))];
}

/** The versions that a write to the table raises. */
function raisedBy(table: Table | "unknown"): readonly string[] {
  if (table === "unknown" || table.changesWith === null) return [anyTable, everyTable];
  return [anyTable, table.identity, ...table.changesWith];
}

export interface Cache {
  /**
   * `database`: equal for projects on the same database, which see each other's writes. Null: the address does not
   * identify the database, so each write counts as a write to every database, and nothing is cached.
   */
  forProject(project: {
    database: string | null;
    enabled: boolean;
    ttlSeconds: number;
    /** Called for each lookup, if present. */
    observe?: CacheObserver | undefined;
  }): ProjectCache;
  /**
   * Resolves with true when the store knows of every write, or with false at `untilMs` (clock of `performance.now()`).
   */
  settle(untilMs: number): Promise<boolean>;
  close(): void;
}

/** Different requests must never share a digest. */
export interface CacheDeps extends Pick<Runtime, "digest" | "log"> {
  readonly store: CacheStore;
}

export function createCache({ store: rawStore, digest, log }: CacheDeps): Cache {
  const store = withRests(rawStore, log);
  const raising = createRaising(store);
  const make = createMaking(rawStore);
  /** Null: the store is unreachable, or a version is still to be raised. */
  async function readKept(names: readonly string[], key: string): Promise<Found | null> {
    if (!(await raising.isSettled())) return null;
    const found = await store.ifReachable(async () => {
      // One call after the other: a write that a paused server had not processed at the first call is processed before
      // the second.
      const kept = await rawStore.get(key);
      return { stamp: await rawStore.stamp(names), kept };
    });
    return found ?? null;
  }

  return {
    forProject({ database, enabled, ttlSeconds, observe }) {
      const databaseId = digest(database ?? "").slice(0, 16);
      const definitions = new WeakMap<Entity, string>();
      const versionName = (name: string): string => `${databaseId}:${name}`;

      /** Answers of an older configuration or of another installation are not used. */
      const definitionOf = (entity: Entity): string => {
        const known = definitions.get(entity) ?? digest(`${databaseId} ${entity.definition}`);
        definitions.set(entity, known);
        return known;
      };

      const namesFor = writtenNames(database, versionName);
      const anyWrite = [versionName(anyTable), everyDatabase];
      const open = (scope: string): ProjectCache => ({
        within: (inner) => (inner === "" ? project : open(inner)),
        keeping: ({ entity, kind, dependsOn }) =>
          async function keep(parameters, work) {
            if (!enabled || database === null) return jsonOf(await work());
            const question = `${definitionOf(entity)} ${JSON.stringify([scope, parameters])}`;
            const key = `svc:${entity.project}:${entity.name}:${kind}:${digest(question).slice(0, 40)}`;
            const startedMs = observe ? performance.now() : 0;
            const found = await readKept([...dependsOn.map(versionName), everyDatabase], key);
            observe?.({ kind, result: resultOf(found), durationMs: performance.now() - startedMs });
            if (found === null) return jsonOf(await work());
            const { stamp } = found;
            if (isCurrent(found)) return found.kept.slice(stamp.length + 1);
            return make(`${key} ${stamp}`, { key, stamp, ttlSeconds }, work);
          },
        async wrote(tables) {
          const names = new Set<string>();
          for (const table of tables) for (const name of namesFor(table)) names.add(name);
          if (names.size > 0) await raising.raise(names);
        },
        async acknowledged() {
          if (database === null || !(await raising.isSettled())) return null;
          return (await store.ifReachable(() => rawStore.stamp(anyWrite))) ?? null;
        },
      });
      const project = open("");
      return project;
    },
    settle: raising.settle,
    close: raising.stop,
  };
}

/** Makes answers. Requests that ask for the same one at the same time share it. */
function createMaking(store: CacheStore) {
  /** By key and stamp: a write in between changes the stamp, so no request waits for an outdated answer. */
  const underWay = new Map<string, Promise<WrittenJson>>();
  return function make(
    id: string,
    { key, stamp, ttlSeconds }: { key: string; stamp: string; ttlSeconds: number },
    work: () => Promise<unknown>,
  ): Promise<WrittenJson> {
    const known = underWay.get(id);
    if (known) return known;
    const made = work().then((value) => {
      const json = jsonOf(value);
      const text = asString(json);
      if (text.length <= limits.cacheEntryLengthMax) {
        // A full store keeps fewer answers, which is not an error.
        store.set(key, `${stamp}\n${text}`, ttlSeconds).catch(() => undefined);
      }
      return json;
    });
    const ended = () => void underWay.delete(id);
    made.then(ended, ended);
    underWay.set(id, made);
    return made;
  };
}

/** The versions that a write raises, remembered for each table. */
function writtenNames(database: string | null, versionName: (name: string) => string) {
  const namesOf = (table: Table | "unknown"): readonly string[] =>
    database === null ? [everyDatabase] : raisedBy(table).map(versionName);
  const known = new WeakMap<Table, readonly string[]>();
  return (table: Table | "unknown"): readonly string[] => {
    if (table === "unknown") return namesOf(table);
    const names = known.get(table) ?? namesOf(table);
    known.set(table, names);
    return names;
  };
}

/** What the store has under a key, and the stamp that it must begin with to be used. */
interface Found {
  readonly stamp: string;
  readonly kept: string | null;
}

const isCurrent = (found: Found): found is Found & { readonly kept: string } =>
  found.kept !== null && found.kept.startsWith(`${found.stamp}\n`);

function resultOf(found: Found | null): CacheResult {
  if (found === null) return "error";
  if (found.kept === null) return "miss";
  return isCurrent(found) ? "hit" : "stale";
}

interface Rests {
  /** The result of `ask`; undefined when the store is unreachable. It is then not asked again for a moment. */
  ifReachable<Value>(ask: () => Promise<Value>): Promise<Value | undefined>;
  /** Always tried, because other instances may still reach the store. False: it failed. */
  raise(names: readonly string[]): Promise<boolean>;
  isResting(): boolean;
}

/** After a failure, the cache is not used for a moment. */
function withRests(store: CacheStore, log: Log): Rests {
  const { isResting, failed, succeeded } = createReach({
    log,
    away: "The cache is not reachable; lists are read from the database",
    back: "The cache is reachable again",
  });
  return {
    isResting,
    async ifReachable(ask) {
      if (isResting()) return undefined;
      try {
        const value = await ask();
        succeeded();
        return value;
      } catch (error) {
        failed(error);
        return undefined;
      }
    },
    raise: (names) =>
      store.raise(names).then(
        () => true,
        (error: unknown) => (failed(error), false),
      ),
  };
}

interface Raising {
  raise(names: ReadonlySet<string>): Promise<void>;
  /** False: a version is still to be raised, so no cached answer may be used. */
  isSettled(): Promise<boolean>;
  settle(untilMs: number): Promise<boolean>;
  stop(): void;
}

/** Raises that failed stay pending: they are retried until they succeed, and no cached answer is used before that. */
function createRaising({ raise: tryRaise, isResting }: Rests): Raising {
  const owed = new Map<string, number>();
  let lastDebt = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;

  async function raise(names: ReadonlySet<string>): Promise<void> {
    const paid = [...owed];
    if (await tryRaise([...(owed.size === 0 ? names : names.union(owed))])) {
      // A raise that became pending in the meantime stays pending.
      for (const [name, debt] of paid) if (owed.get(name) === debt) owed.delete(name);
      return;
    }
    const debt = ++lastDebt;
    for (const name of names) owed.set(name, debt);
    if (!isStopped) timer ??= setTimeout(() => void retry(), limits.cacheRestMs);
  }

  function retry(): Promise<void> {
    timer = undefined;
    return raise(new Set());
  }

  return {
    raise,
    async isSettled() {
      if (owed.size > 0 && !isResting()) await raise(new Set());
      return owed.size === 0;
    },
    async settle(untilMs) {
      while (owed.size > 0 && performance.now() < untilMs) {
        await new Promise((resolve) => setTimeout(resolve, limits.cacheRestMs / 4));
        await raise(new Set());
      }
      return owed.size === 0;
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
