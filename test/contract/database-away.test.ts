/** A database server that becomes unreachable while the service runs: one log entry, whatever the requests do. */
import { pino } from "pino";
import { describe, expect, inject, test } from "vitest";
import { startSilentDoor } from "../jobs/silent-door.ts";
import { openFixture, openForTests } from "./harness.ts";

const engine = inject("engine");

// A file is always there.
describe.skipIf(engine === "sqlite")("a database server that goes away", () => {
  const lines: { level: number; msg: string; reason?: string; project?: string }[] = [];
  const log = pino(
    { level: "info" },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  const notRequests = () => lines.filter(({ msg }) => msg !== "request");
  const door = openForTests(() => {
    const servers: Partial<Record<string, string>> = inject("serverUrls")!;
    return startSilentDoor(servers[engine]!);
  });
  const place = openForTests(openFixture, {
    tables: [{ name: "goods", columns: { id: "key", mark: "text(20)" } }],
    setUp: () => ["insert into goods values ('a', 'A')"],
    endpoints: { goods: { tableName: "goods", action: { first: true } } },
    serviceUrl(url) {
      const through = new URL(url);
      through.host = new URL(door.url).host;
      return through.href;
    },
    log,
  });

  const first = () => place.post("goods/first", { where: { key: "id", value: "a" } });
  const isReady = async () => (await place.request("/health/ready")).status === 200;

  test("is logged once, and once more when it is back", async () => {
    expect((await first()).status).toBe(200);
    lines.length = 0;
    await door.shut();
    await expect.poll(isReady).toBe(false);
    for (let tries = 0; tries < 5; tries++) expect((await first()).status).toBe(503);
    expect(notRequests()).toEqual([
      expect.objectContaining({
        level: 50,
        project: "test",
        msg: expect.stringMatching(/^The database went away: no server listens at .*; /),
      }),
    ]);
    expect(lines.findLast(({ msg }) => msg === "request")?.reason).toBe(
      "The database is not reachable; try again later",
    );

    lines.length = 0;
    await door.reopen();
    await expect.poll(isReady).toBe(true);
    expect((await first()).status).toBe(200);
    expect(notRequests()).toMatchObject([
      { level: 30, project: "test", msg: "The database is reachable again" },
    ]);
  });
});
