/**
 * Answers of list reads, kept until a table under them is written. A read looks for a kept answer, then takes the versions of its
 * tables (one `stamp`); the answer counts if it was kept with the same, else the database is asked. A write raises the versions
 * after its commit and before it is answered. So an older answer can be kept, but is never given. A store that is out of reach
 * means reading the database. `dispatch.ts` raises; read, datatables and lookup ask through `ProjectCache`.
 */
import type { Table } from "../values/column.ts";
import type { Entity } from "../plans/entity.ts";
import { limits } from "../values/limits.ts";
import type { CacheStore, Log } from "../plans/ports.ts";
import { createReach } from "./reach.ts";

/** Part of the key, in the words of the action's kind of list. */
export type ListKind = "list" | "datatables" | "lookup";

/** Where an answer comes from. */
export interface Subject {
  readonly entity: Entity;
  readonly kind: ListKind;
  /** Names of versions, as `dependenciesOf` gives them. */
  readonly dependsOn: readonly string[];
}

/**
 * The JSON text of what `make` gives, or gave for the same parameters: everything of the request that decides it, as JSON would
 * write it. Concurrent equal questions are asked once.
 */
export type Keep = (parameters: unknown, make: () => Promise<unknown>) => Promise<string>;

/** The cache as the actions of one project see it. */
export interface ProjectCache {
  /** The same cache for callers of one scope, by `Scope.key`: others get none of their answers. */
  within(scope: string): ProjectCache;
  keeping(subject: Subject): Keep;
  /** After a commit, before its answer: no later read on any instance sees what was there before. Never rejects. */
  wrote(tables: Iterable<Table | "unknown">): Promise<void>;
}

/** Raised by every write: whoever reads through a view or query does not know from which tables. */
const anyTable = "any";
/** Raised by a write whose triggers may have changed whatever there is; everybody depends on it. */
const everyTable = "every";
/** Raised by writes to a database that the others know by another address; all reads of all databases depend on it. */
const everyDatabase = "elsewhere";

/** The versions on which rows of these tables depend; null = of tables that are not known. */
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
   * `database`: equal for projects on the same database, which see each other's writes. Null: its address tells nothing, so each write
   * counts as one to every database, and nothing is kept.
   */
  forProject(project: {
    database: string | null;
    enabled: boolean;
    ttlSeconds: number;
  }): ProjectCache;
  /** Resolves when the store knows of every write, with true, or at that moment (of `performance.now()`), with false. */
  settle(untilMs: number): Promise<boolean>;
  close(): void;
}

export interface CacheDeps {
  readonly store: CacheStore;
  /** A cryptographic hash as hexadecimal text: two questions must never share one. */
  readonly digest: (text: string) => string;
  readonly log: Log;
}

export function createCache({ store: rawStore, digest, log }: CacheDeps): Cache {
  const store = withRests(rawStore, log);
  const raising = createRaising(store);
  /** Answers that are being made, by key and stamp: a write in between makes another stamp, so nobody joins too old a one. */
  const underWay = new Map<string, Promise<string>>();

  /** Null: the store is out of reach, or owes the others a raise. */
  async function look(
    names: readonly string[],
    key: string,
  ): Promise<{ stamp: string; kept: string | null } | null> {
    if (!(await raising.isSettled())) return null;
    const found = await store.tried(async () => {
      // One after the other: what a paused server had not read yet when it answers the first, it has at the second.
      const kept = await rawStore.get(key);
      return { stamp: await rawStore.stamp(names), kept };
    });
    return found ?? null;
  }

  function make(
    id: string,
    { key, stamp, ttlSeconds }: { key: string; stamp: string; ttlSeconds: number },
    work: () => Promise<unknown>,
  ): Promise<string> {
    const known = underWay.get(id);
    if (known) return known;
    const made = work().then((value) => {
      const text = JSON.stringify(value);
      if (text.length <= limits.cacheEntryLengthMax) {
        // A store that is full keeps less; that is no reason to tell anybody.
        rawStore.set(key, `${stamp}\n${text}`, ttlSeconds).catch(() => undefined);
      }
      return text;
    });
    const ended = () => void underWay.delete(id);
    made.then(ended, ended);
    underWay.set(id, made);
    return made;
  }

  return {
    forProject({ database, enabled, ttlSeconds }) {
      const databaseId = digest(database ?? "").slice(0, 16);
      const definitions = new WeakMap<Entity, string>();
      const versionName = (name: string): string => `${databaseId}:${name}`;

      /** Answers of a configuration that was changed since, or of another installation, are no answers. */
      const definitionOf = (entity: Entity): string => {
        const known = definitions.get(entity) ?? digest(`${databaseId} ${entity.definition}`);
        definitions.set(entity, known);
        return known;
      };

      const open = (scope: string): ProjectCache => ({
        within: (inner) => (inner === "" ? project : open(inner)),
        keeping: ({ entity, kind, dependsOn }) =>
          async function keep(parameters, work) {
            if (!enabled || database === null) return JSON.stringify(await work());
            const question = `${definitionOf(entity)} ${JSON.stringify([scope, parameters])}`;
            const key = `svc:${entity.project}:${entity.name}:${kind}:${digest(question).slice(0, 40)}`;
            const found = await look([...dependsOn.map(versionName), everyDatabase], key);
            if (found === null) return JSON.stringify(await work());
            const { stamp, kept } = found;
            if (kept?.startsWith(`${stamp}\n`)) return kept.slice(stamp.length + 1);
            return make(`${key} ${stamp}`, { key, stamp, ttlSeconds }, work);
          },
        async wrote(tables) {
          const names = new Set([...tables].flatMap(raisedBy));
          if (names.size === 0) return;
          await raising.raise(database === null ? [everyDatabase] : [...names].map(versionName));
        },
      });
      const project = open("");
      return project;
    },
    settle: raising.settle,
    close: raising.stop,
  };
}

interface Rests {
  /** What `look` gives, or undefined: the store is out of reach, and is left alone for a moment. */
  tried<Value>(look: () => Promise<Value>): Promise<Value | undefined>;
  /** Never left out, for others may still reach the store. False: it failed. */
  raise(names: readonly string[]): Promise<boolean>;
  isResting(): boolean;
}

/** The cache is left alone for a moment after it failed. */
function withRests(store: CacheStore, log: Log): Rests {
  const { isResting, failed, succeeded } = createReach({
    log,
    away: "The cache is out of reach; lists are read from the database",
    back: "The cache is in reach again",
  });
  return {
    isResting,
    async tried(look) {
      if (isResting()) return undefined;
      try {
        const value = await look();
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
  raise(names: readonly string[]): Promise<void>;
  /** False: a raise is still owed, and nothing that is kept may be trusted. */
  isSettled(): Promise<boolean>;
  settle(untilMs: number): Promise<boolean>;
  stop(): void;
}

/** Raises that could not be done are owed: they are tried again until they are, and before anything kept is trusted. */
function createRaising({ raise: tryRaise, isResting }: Rests): Raising {
  const owed = new Map<string, number>();
  let lastDebt = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;

  async function raise(names: readonly string[]): Promise<void> {
    const paid = [...owed];
    if (await tryRaise([...new Set([...owed.keys(), ...names])])) {
      // A debt that was made meanwhile stays one.
      for (const [name, debt] of paid) if (owed.get(name) === debt) owed.delete(name);
      return;
    }
    const debt = ++lastDebt;
    for (const name of names) owed.set(name, debt);
    if (!isStopped) timer ??= setTimeout(() => void retry(), limits.cacheRestMs);
  }

  function retry(): Promise<void> {
    timer = undefined;
    return raise([...owed.keys()]);
  }

  return {
    raise,
    async isSettled() {
      if (owed.size > 0 && !isResting()) await raise([]);
      return owed.size === 0;
    },
    async settle(untilMs) {
      while (owed.size > 0 && performance.now() < untilMs) {
        await new Promise((resolve) => setTimeout(resolve, limits.cacheRestMs / 4));
        await raise([]);
      }
      return owed.size === 0;
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
