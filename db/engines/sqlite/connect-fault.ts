/** Tells the operator why a SQLite database cannot be used. */
import { statSync } from "node:fs";
import type { DatabaseFault } from "../../../core/plans/db-port.ts";
import { codeOf } from "../network-fault.ts";
import { MovedFile } from "./database-file.ts";
import { UnstartedReader } from "./reader.ts";

/** `path`: absolute. Waiting does not help against a fault of the file itself. */
export function connectFault(error: unknown, path: string): DatabaseFault {
  if (error instanceof MovedFile) return error.fault;
  if (error instanceof UnstartedReader)
    return {
      reason: `no process for long reads can be started (${error.message})`,
      remedy:
        "on Deno, allow its own program with --allow-run; elsewhere, raise the limits of memory and processes",
      isLasting: false,
    };
  const code = codeOf(error);
  if (code === "SQLITE_NOTADB")
    return lasting(`the file ${path} is not a SQLite database`, "correct the path in database.url");
  if (code.startsWith("SQLITE_READONLY"))
    return lasting(
      `the file ${path}, or its folder, cannot be written to`,
      "give the service write access to both: SQLite keeps its log next to the database",
    );
  if (code.startsWith("SQLITE_CORRUPT"))
    return lasting(`the database ${path} is damaged`, "restore it from a backup");
  if (code.startsWith("SQLITE_BUSY"))
    return {
      reason: `the database ${path} is locked by another program`,
      remedy: "stop that program, or wait for it",
      isLasting: false,
    };
  // The package has a binary per platform; if it was installed on another machine, this platform's may be missing.
  if (code === "MODULE_NOT_FOUND" || code === "ERR_DLOPEN_FAILED")
    return lasting(
      `the native part of the package better-sqlite3 cannot be loaded on ${process.platform} ${process.arch}`,
      "delete node_modules and install the packages on this machine: npm install",
    );
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined)
    return lasting(
      `there is no file ${path}`,
      "correct the path in database.url, or create the database (the service does not create it)",
    );
  if (found.isDirectory())
    return lasting(`${path} is a folder`, "set database.url to the file of a SQLite database");
  return lasting(
    `the file ${path} cannot be opened`,
    "give the service read and write access to the file and its folder",
  );
}

const lasting = (reason: string, remedy: string): DatabaseFault => ({
  reason,
  remedy,
  isLasting: true,
});
