/** What the URL of a SQLite database says: a path, or that it is in memory. */
import { resolve } from "node:path";
import type { EngineAddress } from "../database-address.ts";

export const address: EngineAddress = {
  schemes: ["sqlite"],
  databaseOf(url) {
    const path = pathOf(url);
    return `sqlite:${path === memory ? path : resolve(path)}`;
  },
  isInMemory: (url) => pathOf(url) === memory,
};

const memory = ":memory:";

const pathOf = (url: string): string => /^[^:]*:(?:\/\/(?:[^@/]*@)?)?([^?]*)/.exec(url)?.[1] ?? "";
