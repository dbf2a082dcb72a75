/** Changes -> what one caller is told of them: one event for each write, endpoint and type, with keys only. */
import type { SeenRows } from "../plans/soft-delete.ts";
import type { Condition } from "../query/statement.ts";
import { limits } from "../values/limits.ts";
import type { Row } from "../values/row.ts";
import type { PlacedChange } from "./change-order.ts";
import { holds } from "./holds.ts";

/** An endpoint whose changes the caller may be told. */
export interface Watched {
  readonly endpoint: string;
  /** Identity of its table. */
  readonly table: string;
  /** The caller's rows; null = all. */
  readonly rows: Condition | null;
  /** Which of them, by whether they are marked as deleted. */
  readonly sees: SeenRows;
  /** Days after which its changes are removed; null = never. */
  readonly keepDays: number | null;
  /** False: the key is hidden from the caller. */
  readonly namesRecords: boolean;
  /** Names of the columns of which an update must have changed one; null = any update may show to the caller. */
  readonly columns: ReadonlySet<string> | null;
}

const types = ["created", "updated", "deleted"] as const;

export type EventType = (typeof types)[number];

export interface ChangeEvent {
  readonly endpoint: string;
  readonly type: EventType;
  /** Null: too many, or hidden from the caller. */
  readonly keys: readonly Row[] | null;
  readonly at: string;
  readonly request_id: string;
}

/** The events of one write. */
export interface WriteEvents {
  readonly place: number;
  readonly events: readonly ChangeEvent[];
}

/** Collects changes in the order of writes; those of one write may come in several parts. */
export class EventBuilder {
  private readonly watched: readonly Watched[];
  private place: number | null = null;
  private open = new Map<string, ChangeEvent & { keys: Row[] | null }>();

  constructor(watched: readonly Watched[]) {
    this.watched = watched.toSorted((one, other) => (one.endpoint < other.endpoint ? -1 : 1));
  }

  /** The writes that are complete now. `isEnd`: the last one is, too. */
  add(changes: readonly PlacedChange[], isEnd: boolean): WriteEvents[] {
    const done: WriteEvents[] = [];
    for (const change of changes) {
      if (this.place !== null && change.place !== this.place) done.push(...this.finish());
      this.place = change.place;
      for (const one of this.watched) if (one.table === change.table) this.note(one, change);
    }
    if (isEnd) done.push(...this.finish());
    return done;
  }

  private note(watched: Watched, change: PlacedChange): void {
    const type = typeFor(change, watched);
    if (type === null) return;
    const { endpoint, namesRecords } = watched;
    const name = `${endpoint} ${type}`;
    let event = this.open.get(name);
    if (event === undefined) {
      const { at, requestId: request_id } = change;
      event = { endpoint, type, keys: namesRecords ? [] : null, at, request_id };
      this.open.set(name, event);
    }
    if (event.keys === null) return;
    if (event.keys.length === limits.eventKeysMax) event.keys = null;
    else event.keys.push(change.key);
  }

  private finish(): WriteEvents[] {
    const { place, open } = this;
    if (place === null) return [];
    this.place = null;
    this.open = new Map();
    const events = this.watched.flatMap(({ endpoint }) =>
      types.flatMap((type) => open.get(`${endpoint} ${type}`) ?? []),
    );
    return [{ place, events }];
  }
}

/** Null: the caller is not told. */
function typeFor(
  { kind, before, after, scoped, isMarked }: PlacedChange,
  { rows, sees, columns }: Watched,
): EventType | null {
  const isSeen = (marked: boolean, image: Row): boolean =>
    (sees === "all" || marked === (sees === "marked")) && (rows === null || holds(rows, image));
  const was =
    kind !== "create" && isSeen(isMarked || kind === "restore", { ...before, ...scoped.before });
  const is =
    kind !== "delete" && isSeen(isMarked || kind === "mark", { ...after, ...scoped.after });
  if (was && is)
    return kind === "update" && !showsIn(columns, { ...before, ...after }) ? null : "updated";
  return is ? "created" : was ? "deleted" : null;
}

const showsIn = (columns: Watched["columns"], changed: Row): boolean =>
  columns === null || Object.keys(changed).some((name) => columns.has(name));
