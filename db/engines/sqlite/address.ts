/** URLs of SQLite databases: a path, or in memory. */
import { resolve } from "node:path";
import { type EngineAddress, unknownSettings } from "../database-address.ts";

export const address: EngineAddress = {
  schemes: ["sqlite"],
  title: "SQLite file",
  port: null,
  driver: "better-sqlite3",
  databaseOf(url) {
    const path = pathOf(url);
    return `sqlite:${path === memory ? path : resolve(path)}`;
  },
  faults: (url, settings) => [
    ...(pathOf(url) === "" ? [nameFault] : []),
    ...unknownSettings(settings),
    ...(settings.tls === undefined ? [] : [tlsFault]),
    ...(settings.replicas?.length ? [replicasFault] : []),
  ],
  isInMemory: (url) => pathOf(url) === memory,
};

const nameFault = {
  setting: "url",
  found: "no file name",
  expected: "sqlite:./data/shop.db, or sqlite::memory:",
} as const;

const tlsFault = {
  setting: "tls",
  found: "certificates for a database in a file",
  expected: "no such setting",
} as const;

const replicasFault = {
  setting: "replicas",
  found: "replicas of a database in a file",
  expected: "no such setting",
} as const;

const memory = ":memory:";

const pathOf = (url: string): string => /^[^:]*:(?:\/\/(?:[^@/]*@)?)?([^?]*)/.exec(url)?.[1] ?? "";
