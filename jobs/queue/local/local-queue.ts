/**
 * The one queue of a process: it performs a few entries at a time, and repeats one later when its carrier asks for it.
 * With files, each entry is a small file from when it is added until it is dropped; the next process continues with
 * those left; only one process at a time can use them. Without files, entries are lost with the process.
 */
import type { Files } from "../../../core/plans/files-port.ts";
import type { Log } from "../../../core/plans/log-port.ts";
import { isUnavailable } from "../../../core/values/errors.ts";
import { createTaskList, type TaskList } from "./task-list.ts";

/** An entry of the queue, with its file. */
export interface Entry<Value> {
  /** As its file has it. */
  readonly value: Value;
  /**
   * Changes are written one after the other, and count once they are on the disk. Rejects when the files are
   * unreachable.
   */
  save(change: Partial<Value>): Promise<void>;
  /** Resolves when no change is being written, successful or not. */
  settled(): Promise<void>;
}

/** The properties of one kind of entry. */
export interface Carrier<Value> {
  /** Null: the entries are only in memory. */
  readonly files: Files | null;
  /** Where their files are; ends with a slash. */
  readonly folder: string;
  /** The log message for a file without a valid entry. */
  readonly unreadable: string;
  readonly log: Log;
  /** Entries that are performed at the same time. */
  readonly atOnce: number;
  idOf(value: Value): string;
  addedAtMs(value: Value): number;
  /** Whether the content of a file is a valid entry; it can throw for one that is not. */
  isValid(value: Value): boolean;
  /** Returns the milliseconds until the entry is performed again; null: not again by this process. Must not reject. */
  perform(entry: Entry<Value>): Promise<number | null>;
  /** Projects and callers take turns; absent: entries are performed in order. */
  turnOf?(value: Value): readonly [project: string, share: string];
  /** Saves the state of an entry that an earlier process left. */
  recover?(entry: Entry<Value>): Promise<void>;
  /** Whether the entry is only kept; absent: no entry is. */
  isOver?(value: Value): boolean;
}

export interface LocalQueue<Value> {
  /** By id: all that were not dropped. */
  readonly entries: ReadonlyMap<string, Entry<Value>>;
  readonly tasks: TaskList<Entry<Value>>;
  /** Resolves when the entry is on the disk. Rejects when the files are unreachable; it is forgotten then. */
  add(value: Value): Promise<void>;
  /** Forgets the entry and removes its file. */
  drop(id: string): Promise<void>;
  /** Takes over what earlier processes left, the oldest first. Rejects while the files are unreachable. */
  recall(): Promise<void>;
}

/** Nothing is performed before the list of tasks is started. */
export function createLocalQueue<Value>(carrier: Carrier<Value>): LocalQueue<Value> {
  const { files, folder, atOnce, idOf, turnOf } = carrier;
  const entries = new Map<string, Entry<Value>>();
  const keyOf = (id: string): string => `${folder}${id}.json`;
  const tasks = createTaskList<Entry<Value>>({
    atOnce,
    async perform(entry) {
      const againMs = await carrier.perform(entry);
      if (againMs !== null) tasks.addLater(entry, againMs);
    },
    ...(turnOf && { turnOf: ({ value }) => turnOf(value) }),
  });

  const entryOf = (first: Value): Entry<Value> =>
    createEntry(first, async (next) => {
      await files?.write(keyOf(idOf(next)), [Buffer.from(JSON.stringify(next))]);
    });

  /** Null for a file that is not an entry, or was removed in between. */
  async function read(key: string): Promise<Value | null> {
    try {
      const value = JSON.parse(await new Response(await files!.read(key)).text()) as Value;
      return carrier.isValid(value) && key === keyOf(idOf(value)) ? value : null;
    } catch (error) {
      // Such an entry is not lost.
      if (isUnavailable(error)) throw error;
      return null;
    }
  }

  return {
    entries,
    tasks,
    async add(value) {
      const id = idOf(value);
      const entry = entryOf(value);
      entries.set(id, entry);
      try {
        if (files) await entry.save({});
      } catch (error) {
        entries.delete(id);
        throw error;
      }
      tasks.add(entry);
    },
    async drop(id) {
      entries.delete(id);
      await files?.remove(keyOf(id));
    },
    async recall() {
      const found: Value[] = [];
      for await (const { key } of files!.list(folder)) {
        const value = await read(key);
        if (value === null) carrier.log.warn({ file: key }, carrier.unreadable);
        // Checked right after reading its file: later, an entry of this process could be dropped already.
        else if (!entries.has(idOf(value))) found.push(value);
      }
      found.sort((one, other) => carrier.addedAtMs(one) - carrier.addedAtMs(other));
      const recalled = found.map(entryOf);
      for (const entry of carrier.recover ? recalled : []) await carrier.recover!(entry);
      // Some can have been added in between.
      const fresh = recalled.filter(({ value }) => !entries.has(idOf(value)));
      for (const entry of fresh) entries.set(idOf(entry.value), entry);
      tasks.addFirst(fresh.filter(({ value }) => carrier.isOver?.(value) !== true));
    },
  };
}

/** Changes are written one after the other; the value is the one that was written last. */
function createEntry<Value>(first: Value, write: (next: Value) => Promise<void>): Entry<Value> {
  let value = first;
  let saving: Promise<void> = Promise.resolve();
  return {
    get value() {
      return value;
    },
    save(change) {
      const saved = saving.then(async () => {
        const next = { ...value, ...change };
        await write(next);
        value = next;
      });
      saving = saved.catch(() => undefined);
      return saved;
    },
    settled: () => saving,
  };
}
