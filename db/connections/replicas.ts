/**
 * Reads from replicas. A request that only reads goes to a replica that has every write which was acknowledged before
 * it, and to the primary if there is none: one that lags, that fails or that cannot be reached costs no request its
 * answer. How far a replica has to be is asked of the primary, once after each write.
 */
import type { Db } from "../../core/plans/db-port.ts";
import type { Log } from "../../core/plans/log-port.ts";
import { PassingSession } from "../../core/query/passing-session.ts";
import type { ListText, TextForm } from "../../core/query/list-text.ts";
import type {
  DbQueries,
  DbSession,
  DbTransaction,
  TransactionOptions,
} from "../../core/query/session.ts";
import type { Aggregate, Ask, Count, Narrowed, Select } from "../../core/query/statement.ts";
import { AppError } from "../../core/values/errors.ts";
import type { Row } from "../../core/values/row.ts";
import type { OpenedDb } from "./db.ts";
import { together } from "./pools.ts";

/** A replica is asked how far it is at most so long. */
const checkTimeoutMs = 1_000;
/** A replica that failed is left alone so long, and one that lags. */
const restAwayMs = 2_000;
const restLaggingMs = 20;
/** A read that takes longer is slow, or its server is silent. */
const slowMs = 1_500;

/** One replica, and what is known of it. */
class Replica {
  readonly db: OpenedDb;
  private readonly log: Log | undefined;
  private readonly name: string;
  private readonly positionOf: () => Promise<string | null>;
  /** The version of the data, see `Asking.acknowledged`, that it has. */
  private reached: string | null = null;
  /** Until then it is not asked (clock of `performance.now()`). */
  private restsUntilMs = -Infinity;
  private isAway = false;
  private isAsked = false;

  constructor(
    db: OpenedDb,
    {
      log,
      name,
      positionOf,
    }: { log: Log | undefined; name: string; positionOf: () => Promise<string | null> },
  ) {
    this.db = db;
    this.log = log;
    this.name = name;
    this.positionOf = positionOf;
  }

  /** Whether it has the data of that version. Asks it if that is not known, one request at a time. */
  async has(version: string): Promise<boolean> {
    if (this.reached === version) return true;
    if (this.isAsked || performance.now() < this.restsUntilMs) return false;
    this.isAsked = true;
    const asked = this.ask(version).finally(() => (this.isAsked = false));
    // Nobody waits for a replica that was away the last time.
    return this.isAway ? false : asked;
  }

  /** A read failed, as one does that only a primary can do: the next request asks it again. */
  doubt(): void {
    this.reached = null;
  }

  private async ask(version: string): Promise<boolean> {
    try {
      const position = await this.positionOf();
      if (position === null) throw new Error("The primary does not say how far it is");
      const isThere = await this.db.hasReached(position, performance.now() + checkTimeoutMs);
      if (this.isAway) this.log?.info({ replica: this.name }, "A replica can be used again");
      this.isAway = false;
      if (isThere) this.reached = version;
      else this.restsUntilMs = performance.now() + restLaggingMs;
      return isThere;
    } catch (error) {
      this.restsUntilMs = performance.now() + restAwayMs;
      if (!this.isAway)
        this.log?.warn(
          { err: error, replica: this.name },
          "A replica cannot be used; the primary answers",
        );
      this.isAway = true;
      return false;
    }
  }
}

/**
 * The database, whose sessions that only read use the replicas. There is at least one, and each is one server: what one
 * of its connections says holds for all.
 */
export function withReplicas(primary: OpenedDb, dbs: readonly OpenedDb[], log?: Log): Db {
  const positionOf = () => primary.position(performance.now() + checkTimeoutMs);
  const replicas = dbs.map(
    (db, at) => new Replica(db, { log, name: `replicas[${at}]`, positionOf }),
  );
  let turn = 0;

  /** A replica with all of that version; null: the primary has to answer. */
  async function choose(version: string | null): Promise<Replica | null> {
    if (version === null) return null;
    turn++;
    for (let at = 0; at < replicas.length; at++) {
      const replica = replicas[(turn + at) % replicas.length]!;
      if (await replica.has(version)) return replica;
    }
    return null;
  }

  return {
    ...primary,
    session(deadlineAtMs, asking = {}) {
      const own = primary.session(deadlineAtMs, asking);
      const { acknowledged } = asking;
      if (acknowledged === undefined) return own;
      return new ReplicatedSession(own, async () => {
        const replica = await choose(await acknowledged());
        if (replica === null) return null;
        const session = replica.db.session(deadlineAtMs, asking);
        return { session, ping: () => replica.db.ping(), doubt: () => replica.doubt() };
      });
    },
    connections: () => together([primary, ...dbs].map((db) => db.connections())),
    async close() {
      await Promise.all([primary, ...dbs].map((db) => db.close()));
    },
  };
}

/** Where a session reads. */
interface Source {
  readonly session: DbSession;
  ping(): Promise<void>;
  doubt(): void;
}

/**
 * A session of a request that only reads: all of its reads go to one replica, as long as that answers and the session
 * wrote nothing itself. Streams stay with the primary, because their consumer has no way to begin again.
 */
class ReplicatedSession extends PassingSession<() => Promise<Source | null>> {
  private source: Promise<Source | null> | undefined;

  override all(select: Narrowed<Select>): Promise<Row[]> {
    return this.reading((queries) => queries.all(select));
  }

  override one(select: Narrowed<Select>): Promise<Row | null> {
    return this.reading((queries) => queries.one(select));
  }

  override allAsText(select: Narrowed<Select>, form: TextForm): Promise<ListText> {
    return this.reading((queries) => queries.allAsText(select, form));
  }

  override count(count: Narrowed<Count>): Promise<number> {
    return this.reading((queries) => queries.count(count));
  }

  override estimate(count: Narrowed<Count>): Promise<number | null> {
    return this.reading((queries) => queries.estimate(count));
  }

  override aggregate(aggregate: Narrowed<Aggregate>): Promise<Row[]> {
    return this.reading((queries) => queries.aggregate(aggregate));
  }

  override ask(ask: Narrowed<Ask>): Promise<Row[]> {
    return this.reading((queries) => queries.ask(ask));
  }

  override snapshot<T>(work: (queries: DbQueries) => Promise<T>): Promise<T> {
    return this.reading((session) => session.snapshot(work));
  }

  tx<T>(work: (tx: DbTransaction) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.session.tx(work, options);
  }

  protected concerns(): boolean {
    return false;
  }

  protected over(session: DbSession): DbSession {
    return session;
  }

  private async reading<T>(work: (session: DbSession) => Promise<T>): Promise<T> {
    const source = this.written.size > 0 ? null : await (this.source ??= this.layer());
    if (source === null) return work(this.session);
    try {
      return await unlessSilent(work(source.session), () => source.ping());
    } catch (error) {
      if (!isOfServer(error)) throw error;
      source.doubt();
      this.source = Promise.resolve(null);
      return work(this.session);
    }
  }
}

/** The work of a server. Rejects if the work is slow because the server is silent, while there is time to ask another. */
async function unlessSilent<T>(work: Promise<T>, ping: () => Promise<void>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    const listen = (): void => {
      timer = setTimeout(() => ping().then(() => timer && listen(), reject), slowMs);
    };
    listen();
  });
  try {
    return await Promise.race([work, silence]);
  } finally {
    clearTimeout(timer);
    timer = undefined;
  }
}

/** Whether another server may answer: the request itself is not at fault. */
const isOfServer = (error: unknown): boolean =>
  !(error instanceof AppError) || error.kind === "unavailable" || error.kind === "internal";
