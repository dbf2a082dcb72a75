/** What an error of better-sqlite3 means: by its code, and by its message where SQLite names columns nowhere else. */
import type { Failure } from "../engine.ts";
import { hiddenMessage, withoutQuoted } from "../without-quoted.ts";
import { FormulaFault } from "./formulas.ts";

export function failure(error: unknown): Failure {
  if (!(error instanceof Error)) return { kind: "unknown" };
  if (error instanceof FormulaFault) return { kind: error.kind };
  const { message } = error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (code === "SQLITE_CONSTRAINT_TRIGGER") return { kind: "rejected", message };
  const known = constraints.get(code);
  if (known !== undefined) return { kind: known, ...subjectOf(message) };
  if (/^SQLITE_(BUSY|LOCKED|SCHEMA)/.test(code)) return { kind: "conflict" };
  // The index of the log, which readers need as well, could not grow.
  if (code === "SQLITE_FULL" || code === "SQLITE_IOERR_SHMSIZE") return { kind: "full" };
  if (/^SQLITE_(CANTOPEN|IOERR|NOTADB|CORRUPT|READONLY|PERM|AUTH)/.test(code))
    return { kind: "connection" };
  if (message === "The database connection is not open") return { kind: "connection" };
  if (code === "SQLITE_ERROR" && missing.test(message)) return { kind: "missing" };
  if (code === "SQLITE_ERROR" && message === "integer overflow") return { kind: "outOfRange" };
  return { kind: "unknown" };
}

/** See `Engine.loggedMessage`. SQLite repeats a part of the SQL only if that of a handler or a trigger is at fault. */
export function loggedMessage(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  const { code, message } = error;
  if (typeof code !== "string" || !code.startsWith("SQLITE_")) return null;
  if (code === "SQLITE_CONSTRAINT_TRIGGER") return hiddenMessage;
  return /^(near|unrecognized token:) "/.test(message) ? withoutQuoted(message) : message;
}
/** `no such table: main.orders`, `table orders has no column named note`, `cannot modify … because it is a view`. */
const missing =
  /^no such (?:table|column): |^table .+ has no column named |^cannot modify .+ because it is a view$/s;

const constraints: ReadonlyMap<string, Failure["kind"]> = new Map<string, Failure["kind"]>([
  ["SQLITE_CONSTRAINT_UNIQUE", "duplicate"],
  ["SQLITE_CONSTRAINT_PRIMARYKEY", "duplicate"],
  ["SQLITE_CONSTRAINT_ROWID", "duplicate"],
  ["SQLITE_CONSTRAINT_NOTNULL", "notNull"],
  ["SQLITE_CONSTRAINT_CHECK", "check"],
  // SQLite reports neither the columns nor the direction.
  ["SQLITE_CONSTRAINT_FOREIGNKEY", "foreignKeyMissing"],
  ["SQLITE_CONSTRAINT_DATATYPE", "badValue"],
  ["SQLITE_MISMATCH", "badValue"],
  ["SQLITE_TOOBIG", "tooLong"],
]);

/** From `UNIQUE constraint failed: t.a, t.b`, `… failed: index 'i'`, `… failed: check_name`, `cannot store … t.a`. */
function subjectOf(message: string): Pick<Failure, "columns" | "constraint"> {
  const stored = /^cannot store .* value in .* column ([^.]+)\.(.+)$/s.exec(message);
  if (stored) return { columns: [stored[2]!] };
  const subject = /constraint failed: (.+)$/s.exec(message)?.[1];
  if (subject === undefined) return {};
  if (!/^(UNIQUE|NOT NULL) /.test(message)) return { constraint: subject };
  const index = /^index '(.+)'$/s.exec(subject);
  if (index) return { constraint: index[1]! };
  return { columns: subject.split(", ").map((name) => name.slice(name.indexOf(".") + 1)) };
}
