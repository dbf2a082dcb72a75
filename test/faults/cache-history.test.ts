/** No read shows data older than an acknowledged write: one service, its cache in memory. Runs on every engine. */
import { expect, inject, test } from "vitest";
import { createTables } from "../contract/tables.ts";
import { freshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";
import { openOver } from "../stores/services.ts";
import { historyEndpoints, historyTables, runHistory } from "./cache-history.ts";

const loadMs = 8_000;

test(
  "no list shows less than what was acknowledged before it was asked for",
  { timeout: 60_000 },
  async () => {
    const engine = inject("engine");
    const database = await freshDatabase(engine);
    const session = await openSession(engine, database.url);
    for (const text of createTables(engine, historyTables)) await session.run(text);
    const service = await openOver({
      projects: { test: { database: { url: database.url } } },
      endpoints: historyEndpoints(engine),
    });
    try {
      const { reads, kept, writes, violations } = await runHistory([service], { loadMs });
      console.log(`${engine}: ${reads} reads, ${kept} seen to be kept ones, ${writes} writes`);
      expect(violations).toEqual([]);
      // Thousands on an idle machine; beside other tests at least this many.
      expect(kept).toBeGreaterThan(reads / 50);
      expect(writes).toBeGreaterThan(100);
    } finally {
      await service.close();
      await session.close();
      await database.drop();
    }
  },
);
