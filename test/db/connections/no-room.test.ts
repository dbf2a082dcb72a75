/** Full-disk errors, by each engine's driver message; `test/faults/full-disk.test.ts` provokes those that it can. */
import { expect, test } from "vitest";
import { failure as mysql } from "../../../db/engines/mysql/failure.ts";
import { failure as postgres } from "../../../db/engines/postgres/failure.ts";
import { failure as sqlite } from "../../../db/engines/sqlite/failure.ts";

const server = (errno: number, sqlMessage: string) => ({ errno, sqlMessage, sqlState: "HY000" });

test.each([
  [
    "SQLITE_FULL",
    sqlite(Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" })),
  ],
  [
    "SQLITE_IOERR_SHMSIZE",
    sqlite(Object.assign(new Error("disk I/O error"), { code: "SQLITE_IOERR_SHMSIZE" })),
  ],
  ["53100", postgres({ code: "53100", severity: "ERROR" })],
  ["1114", mysql(server(1114, "The table 'items' is full"))],
  ["1021", mysql(server(1021, "Disk full (/tmp/#sql); waiting for someone to free some space..."))],
  [
    "1030",
    mysql(server(1030, 'Got error 28 "No space left on device" from storage engine InnoDB')),
  ],
  ["1026", mysql(server(1026, "Error writing file './x' (errno: 28 \"No space left on device\")"))],
  ["3", mysql(server(3, "Error writing file '/tmp/x' (Errcode: 28 - No space left on device)"))],
])("%s means that there is no room", (_, { kind }) => {
  expect(kind).toBe("full");
});

test.each([
  [
    "SQLITE_IOERR_WRITE",
    sqlite(Object.assign(new Error("disk I/O error"), { code: "SQLITE_IOERR_WRITE" })),
  ],
  ["1030", mysql(server(1030, 'Got error 128 "x" from storage engine InnoDB'))],
  ["1005", mysql(server(1005, 'Can\'t create table `x` (errno: 150 "Foreign key constraint")'))],
])("%s of another cause does not", (_, { kind }) => {
  expect(kind).not.toBe("full");
});
