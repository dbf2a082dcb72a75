/** No read shows data older than an acknowledged write: two processes of the service that share a Redis. */
import { expect, inject, test, vi } from "vitest";
import { createTables } from "../contract/tables.ts";
import { freshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";
import { historyEndpoints, historyTables, runHistory } from "./cache-history.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

const loadMs = 10_000;

test(
  "no list of two processes shows less than what either acknowledged before it was asked for",
  { timeout: 120_000 },
  async () => {
    const database = await freshDatabase("postgres");
    const session = await openSession("postgres", database.url);
    for (const text of createTables("postgres", historyTables)) await session.run(text);
    const endpoints = Object.entries(historyEndpoints("postgres"));
    const files = {
      "project.json": { database: { url: database.url } },
      ...Object.fromEntries(endpoints.map(([name, endpoint]) => [`${name}.json`, endpoint])),
    };
    vi.stubEnv("REDIS_URL", inject("serverUrls")?.redis);
    const services: ServiceProcess[] = [];
    try {
      for (let at = 0; at < 2; at++) services.push(await startService(files));
      const clients = services.map(({ origin }) => ({
        async post(path: string, body: unknown, headers?: Record<string, string>) {
          const response = await fetch(`${origin}/api/${path}`, {
            method: "POST",
            headers: { "Content-Type": "application/json", ...headers },
            body: JSON.stringify(body),
          });
          const answer = (await response.json()) as Record<string, unknown>;
          return { status: response.status, body: answer };
        },
      }));
      const { reads, kept, writes, violations } = await runHistory(clients, { loadMs });
      console.log(`two processes: ${reads} reads, ${kept} seen to be kept ones, ${writes} writes`);
      expect(violations).toEqual([]);
      // Thousands on an idle machine; few beside other tests.
      expect(kept).toBeGreaterThan(0);
      expect(writes).toBeGreaterThan(100);
    } finally {
      vi.unstubAllEnvs();
      await Promise.all(services.map((service) => service.stop()));
      await session.close();
      await database.drop();
    }
  },
);
