/**
 * Warns when another process uses the same folder or SQLite file, which without Redis only one process may use. Each
 * process writes its name into a file there at an interval, and warns after reading another name twice in a row. So the
 * file of a killed process causes no warning, and a restart may overlap briefly. A read-only place causes no warning.
 */
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Log } from "../../../core/plans/log-port.ts";

export interface SharedPlaces {
  /** The place is in use until the result is called. `path`: absolute, a folder or a file; it need not exist yet. */
  use(path: string): () => void;
  /** Removes what was written. Never rejects. */
  close(): Promise<void>;
}

export interface SharedPlacesOptions {
  readonly log: Log;
  /** Between two writes. */
  readonly intervalMs?: number;
  /** The name of this process, which its threads share, and the processes under one parent. */
  readonly self?: string | undefined;
}

interface Place {
  users: number;
  /** Where the name was written; null: nowhere yet. */
  mark: string | null;
  /** How often in a row another process's name was found. */
  sights: number;
  isTold: boolean;
}

export function createSharedPlaces({
  log,
  intervalMs = 5_000,
  self = nameOfProcess(process.pid),
}: SharedPlacesOptions): SharedPlaces {
  const places = new Map<string, Place>();
  let working: Promise<unknown> = Promise.resolve();
  /** Runs one task after the other, so that nothing is written after the last removal. */
  const queue = (work: () => Promise<void>): Promise<unknown> =>
    (working = working.then(work).catch(() => undefined));

  async function look(path: string, place: Place): Promise<void> {
    const isFolder = (await stat(path)).isDirectory();
    const mark = isFolder ? join(path, ".rowgate-process") : `${path}-process`;
    // Empty while another process writes.
    const found = (await nameIn(mark).catch(() => "")) || self;
    place.sights = place.mark !== null && found !== self ? place.sights + 1 : 0;
    if (place.sights >= 2 && !place.isTold) {
      place.isTold = true;
      const sentence = `Another process (${found}) uses ${path} as well. Without REDIS_URL, processes share no locks, no cache and no rate limits: set it, or stop one of them`;
      log.warn({}, sentence);
    }
    await writeFile(mark, self.padEnd(nameLength));
    place.mark = mark;
  }

  async function leave({ mark }: Place): Promise<void> {
    if (mark !== null && (await nameIn(mark)) === self) await rm(mark);
  }

  const timer = setInterval(() => {
    for (const [path, place] of places)
      void queue(async () => {
        if (places.get(path) === place) await look(path, place);
      });
  }, intervalMs);
  timer.unref();

  return {
    use(path) {
      const place = places.get(path) ?? { users: 0, mark: null, sights: 0, isTold: false };
      places.set(path, place);
      place.users++;
      return () => {
        place.users--;
        if (place.users > 0) return;
        places.delete(path);
        void queue(() => leave(place));
      };
    },
    async close() {
      clearInterval(timer);
      for (const place of places.values()) void queue(() => leave(place));
      places.clear();
      await working;
    },
  };
}

/** The name of a process of this machine. */
export const nameOfProcess = (pid: number): string =>
  `process ${pid} on ${hostname()}`.slice(0, nameLength);

/** Names have the same length in the file, so that two simultaneous writes do not mix. */
const nameLength = 120;

const nameIn = async (mark: string): Promise<string> =>
  (await readFile(mark, "utf8")).slice(0, nameLength).trim();
