/**
 * Notices that a database's file was replaced or overwritten while it is open (a backup was restored), or that its log
 * (`-wal`) was removed. SQLite does not notice: acknowledged writes are lost, or pages of the log end up in another
 * database. The log is then written into the file that is open, its connections are closed, and the path is reopened.
 */
import { closeSync, lstatSync, openSync, readSync, rmSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Database } from "better-sqlite3";
import type { DatabaseFault } from "../../../core/plans/db-port.ts";
import type { Log } from "../../../core/plans/log-port.ts";

/** A file that changed less than this ago may still be written. */
const settledMs = 1_000;
/** After this time SQLite has reported that it wrote the log into the file. */
const spoiltMs = 3_000;
/** The coarsest file systems tell the time of a change in steps of two seconds. */
const stepMs = 2_000;
/** Minimum time between two checks for an overwritten file: a check costs as much as reading a record. */
const judgePauseMs = 250;
/**
 * Minimum time between two looks at the folder, which cost as much as a small write itself. What is written this soon
 * after the file was replaced is lost like what was written this soon before.
 */
const lookPauseMs = 0.5;

/** The database cannot be used: its file is not the one that was opened, or is not settled yet. */
export class MovedFile extends Error {
  /** SQLite's code for this error. SQLite itself uses it only for databases without a log. */
  readonly code = "SQLITE_READONLY_DBMOVED";
  readonly isReported = true;
  readonly fault: DatabaseFault;

  constructor(reason: string, remedy: string) {
    super(reason);
    this.fault = { reason, remedy, isLasting: false };
  }
}

export interface DatabaseFile {
  /** Throws a MovedFile while the file may not be opened. */
  mayOpen(): void;
  opened(database: Database): void;
  /** To be called when a connection is done; closes it. */
  close(database: Database): void;
  /** Whether it was closed here, because its connection is done or the file was replaced. */
  isClosed(database: Database): boolean;
  /** Takes microseconds. Throws a MovedFile when the path, or that of the log, names another file than the open one. */
  check(database: Database): void;
}

/** What the connections have open. */
interface Known {
  readonly file: string;
  /** The path names a link: the file can be replaced in another folder. */
  readonly isLink: boolean;
  wal: string | null;
  shm: string | null;
  /** Size and time of the last change. */
  written: string;
  /** How far the log was written into the file; null before the first look. */
  checkpoint: string | null;
  /** The folder when its three files were last as they should be; null: it has changed too lately to tell. */
  folder: string | null;
}

export interface DatabaseFileOptions {
  readonly log?: Log | undefined;
  /** Ends other processes of the service that have the file open. */
  onLeave(): void;
}

/** One piece, because every function reads and changes what is known of the one file. */
export function createDatabaseFile(
  path: string,
  { log, onLeave }: DatabaseFileOptions,
): DatabaseFile {
  const connections = new Set<Database>();
  let known: Known | null = null;
  /** Why the file was left; null = it is in use, or was never opened. */
  let moved: MovedFile | null = null;
  /** The file was overwritten. It stays unusable until it is written again. */
  let isSpoilt = false;
  let spoilt: string | null = null;
  let judgedMs = -Infinity;
  let lookedMs = -Infinity;
  const folder = dirname(path);
  const walPath = `${path}-wal`;
  const shmPath = `${path}-shm`;

  function refuse(reason: string, remedy: string): never {
    if (moved?.message !== reason) {
      moved = new MovedFile(reason, remedy);
      log?.error({}, `The database went away: ${reason}; ${remedy}`);
    }
    throw moved;
  }

  /** Writes the log into the open file, wherever that file is now. False: another program prevents a complete write. */
  function writeLog(): boolean {
    onLeave();
    for (const database of connections) if (database.inTransaction) database.exec("rollback");
    try {
      const [first] = connections;
      const [row] = first!.pragma("wal_checkpoint(TRUNCATE)") as { busy: number }[];
      return row!.busy === 0;
    } catch {
      return false;
    }
  }

  function closeAll(): void {
    for (const database of connections) closeDatabase(database);
    connections.clear();
    known = null;
  }

  function leaveReplaced({ wal, shm }: Known, found: Stats | undefined): never {
    if (writeLog()) {
      closeAll();
      // SQLite would read the old log into the new file.
      for (const [name, id] of [
        [walPath, wal],
        [shmPath, shm],
      ] as const)
        if (id !== null && idAt(name) === id) rmSync(name, { force: true });
    }
    if (found === undefined) return refuse(`the file ${path} was removed`, "restore it");
    return refuse(
      `the file ${path} was replaced by another`,
      "it is opened anew when it is no longer written",
    );
  }

  function leaveLog(wal: string | null): never {
    if (wal !== null)
      return refuse(
        `another program has put a log of its own at ${walPath}`,
        "stop it and the service, then restore the database from a backup",
      );
    if (writeLog()) closeAll();
    return refuse(
      `the log of ${path} was removed`,
      "its writes are stored in the database, which is opened anew",
    );
  }

  /** SQLite writes the log into the file and reports how far. Any other change of the file is by another program. */
  function judgeWriting(one: Known, file: Stats, database: Database): void {
    const checkpoint = checkpointOf(database, walPath);
    if (checkpoint === null) return;
    const isSame = writtenOf(file) === one.written;
    if (!isSame && checkpoint === one.checkpoint) {
      // SQLite reports this only when it is done.
      if (isSettled(file, spoiltMs)) leaveOverwritten();
      return;
    }
    const after = statOf(path);
    if (after === undefined || writtenOf(after) !== writtenOf(file)) return;
    one.written = writtenOf(file);
    one.checkpoint = checkpoint;
  }

  function leaveOverwritten(): never {
    isSpoilt = true;
    const file = statOf(path);
    // Closing writes the log into the file. Only a complete file then has a signature that tells the next copy apart.
    if (file !== undefined && isSettled(file)) {
      onLeave();
      closeAll();
      const left = statOf(path);
      spoilt = left === undefined ? null : signatureOf(left);
    }
    return refuse(
      `the file ${path} was overwritten while it was open, which has damaged it`,
      "copy the backup to its place once more",
    );
  }

  function checkKnown(one: Known, database: Database | null): void {
    if (isSpoilt) leaveOverwritten();
    const nowMs = performance.now();
    if (database !== null && nowMs - lookedMs < lookPauseMs) return;
    const isDue = database !== null && nowMs - judgedMs >= judgePauseMs;
    // Every file that is replaced or removed changes its folder, so one look does instead of three.
    const around = one.isLink ? undefined : statOf(folder);
    if (!isDue && around !== undefined && folderOf(around) === one.folder) {
      lookedMs = nowMs;
      return;
    }
    const file = statOf(path);
    const wal = idAt(walPath);
    const shm = idAt(shmPath);
    if (file === undefined || idOf(file) !== one.file) return leaveReplaced(one, file);
    one.wal ??= wal;
    one.shm ??= shm;
    if (wal !== one.wal || shm !== one.shm) return leaveLog(wal === one.wal ? null : wal);
    one.folder =
      around !== undefined && Date.now() - around.ctimeMs > stepMs ? folderOf(around) : null;
    if (!isDue) return;
    judgedMs = nowMs;
    judgeWriting(one, file, database);
  }

  return {
    mayOpen() {
      if (known !== null) return checkKnown(known, null);
      if (moved === null) return;
      const file = statOf(path);
      if (file === undefined || !isSettled(file) || signatureOf(file) === spoilt) throw moved;
      moved = null;
      isSpoilt = false;
      spoilt = null;
      log?.info({}, `The database ${path} is opened anew`);
    },
    opened(database) {
      connections.add(database);
      if (known !== null) return;
      const file = statSync(path);
      known = {
        file: idOf(file),
        isLink: lstatSync(path).isSymbolicLink(),
        wal: idAt(walPath),
        shm: idAt(shmPath),
        written: writtenOf(file),
        checkpoint: null,
        folder: null,
      };
    },
    close(database) {
      closeDatabase(database);
      connections.delete(database);
      // Closing the last connection removes the log.
      if (connections.size === 0) known = null;
    },
    isClosed: (database) => !connections.has(database),
    check(database) {
      if (known !== null) checkKnown(known, database);
      else if (moved !== null) throw moved;
    },
  };
}

const statOf = (path: string): Stats | undefined => statSync(path, { throwIfNoEntry: false });

const idOf = ({ dev, ino }: Stats): string => `${dev} ${ino}`;

function idAt(path: string): string | null {
  const found = statOf(path);
  return found === undefined ? null : idOf(found);
}

const writtenOf = ({ mtimeMs, size }: Stats): string => `${mtimeMs} ${size}`;

const signatureOf = (file: Stats): string => `${idOf(file)} ${writtenOf(file)}`;

/** By the time of its change, which no program can set: restoring a folder may set the time of its last write. */
const folderOf = (folder: Stats): string => `${idOf(folder)} ${folder.ctimeMs}`;

const isSettled = (file: Stats, forMs: number = settledMs): boolean =>
  file.size > 0 && Math.abs(Date.now() - file.mtimeMs) >= forMs;

/** What tells a log from the one before it: https://www.sqlite.org/fileformat2.html#the_write_ahead_log */
const salts = { at: 16, bytes: 8 };

/** How far the log was written into the file. Null: unknown. */
function checkpointOf(database: Database, walPath: string): string | null {
  // Safe to open and close: no process locks the log. Closing the database file or the index would drop SQLite's locks.
  let fd: number | null = null;
  try {
    const [row] = database.pragma("wal_checkpoint(NOOP)") as {
      readonly log: number;
      readonly checkpointed: number;
    }[];
    const bytes = Buffer.alloc(salts.bytes);
    fd = openSync(walPath, "r");
    readSync(fd, bytes, 0, salts.bytes, salts.at);
    return `${bytes.toString("hex")} ${row!.log === 0 ? 0 : row!.checkpointed}`;
  } catch {
    return null;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

/** A stream that was left open keeps its database busy; the garbage collector closes that one. */
export function closeDatabase(database: Database): void {
  try {
    database.close();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}
