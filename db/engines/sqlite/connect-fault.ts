/** Why a SQLite database cannot be used, in words for its operator. */
import { statSync } from "node:fs";
import type { DatabaseFault } from "../../../core/plans/ports.ts";
import { codeOf } from "../network-fault.ts";

/** `path`: absolute. What is wrong with the file itself does not pass by waiting. */
export function connectFault(error: unknown, path: string): DatabaseFault {
  const code = codeOf(error);
  if (code === "SQLITE_NOTADB")
    return lasting(`the file ${path} is no SQLite database`, "correct the path in database.url");
  if (code.startsWith("SQLITE_READONLY"))
    return lasting(
      `the file ${path}, or its folder, cannot be written to`,
      "let the service write to both: SQLite keeps its log beside the database",
    );
  if (code.startsWith("SQLITE_CORRUPT"))
    return lasting(`the database ${path} is damaged`, "put back a copy of it");
  if (code.startsWith("SQLITE_BUSY"))
    return {
      reason: `the database ${path} is locked by another program`,
      remedy: "end that program, or wait for it",
      isLasting: false,
    };
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined)
    return lasting(
      `there is no file ${path}`,
      "correct the path in database.url, or create the database: the service creates none",
    );
  if (found.isDirectory())
    return lasting(`${path} is a folder`, "name the file of a SQLite database in database.url");
  return lasting(
    `the file ${path} cannot be opened`,
    "let the service read and write both the file and its folder",
  );
}

const lasting = (reason: string, remedy: string): DatabaseFault => ({
  reason,
  remedy,
  isLasting: true,
});
