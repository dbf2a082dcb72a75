/**
 * PostgreSQL behind PgBouncer in transaction mode, with `database.preparedStatements: false`: no state remains in a
 * session, and the settings that a session is otherwise opened with still apply.
 */
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { checkConfig } from "../../app/start/commands/check-config.ts";
import { open } from "../../db/engines/postgres/engine.ts";
import { openFixture, openForTests } from "../contract/harness.ts";
import { dropRole, openPolicies, password, policyCases, role } from "../contract/policies.ts";
import { openPooler, type Pooler } from "../servers/pgbouncer.ts";
import { openSession } from "../servers/session.ts";
import { send } from "../db/send.ts";

const database = { preparedStatements: false };
let pooler: Pooler;

beforeAll(async () => {
  const { username, password: own } = new URL(inject("serverUrls")!.postgres!);
  pooler = await openPooler({ [role]: password, [username]: decodeURIComponent(own) });
});
afterAll(async () => {
  await pooler?.close();
  const session = await openSession("postgres", inject("serverUrls")!.postgres!);
  await session.run(dropRole);
  await session.close();
});

describe("policies behind PgBouncer", () => {
  const open = () => openPolicies({ through: (url) => pooler.through(url), database });
  policyCases(open);

  test("a configuration is read in sessions that other callers' claims have left", async () => {
    const fixture = await open();
    const read = () => fixture.post("listed/read", { page: 1 }, { "x-api-key": "the key of a" });
    await Promise.all(Array.from({ length: 10 }, read));
    const { faults, unreachable, endpoints } = await checkConfig({ files: fixture.files, env: {} });
    await fixture.close();
    expect({ faults, unreachable, endpoints }).toEqual({
      faults: [],
      unreachable: [],
      endpoints: 4,
    });
  });
});

test("a statement that is given up is stopped in the server", async () => {
  const server = inject("serverUrls")!.postgres!;
  const options = { connectionsMax: 1, statementTimeoutMs: 0, decimals: "number" } as const;
  const engine = await open(pooler.through(server), { ...options, ...database });
  const connection = await engine.connect("read");
  const session = await openSession("postgres", server);
  const running = () =>
    session.run(
      "select 1 from pg_stat_activity where state = 'active' and query like 'select pg_sleep(30)%'",
    );
  const statement = send(connection, "select pg_sleep(30)");
  await expect.poll(running, { timeout: 10_000 }).toHaveLength(1);
  connection.destroy();
  await expect(statement).rejects.toThrow("The connection to the database was cut");
  await expect.poll(async () => (await running()).length, { timeout: 10_000 }).toBe(0);
  await session.close();
});

describe("what a session is opened with elsewhere", () => {
  const fixture = openForTests(openFixture, {
    engine: "postgres",
    tables: [{ name: "notes", columns: { note_id: "key", title: "text(40)", at: "timestamp" } }],
    setUp: () => [
      `do $$ begin execute format('alter database %I set TimeZone = %L', current_database(), 'Asia/Tokyo');
         execute format('alter database %I set IntervalStyle = %L', current_database(), 'sql_standard');
         execute format('alter database %I set bytea_output = %L', current_database(), 'escape'); end $$`,
      "create view slow as select note_id, pg_sleep(20)::text as slept from notes",
      `create view settings as select 1 as id, current_setting('statement_timeout') as timeout,
         current_setting('TimeZone') as zone, interval '1 day 2 hours' as span, '\\x00ff'::bytea as bytes`,
      "insert into notes values ('n', 'N', '2026-01-02 03:04:05+00')",
    ],
    serviceUrl: (url) => pooler.through(url),
    endpoints: {
      notes: { tableName: "notes", action: { create: true, read: true, first: true } },
      slow: { viewName: "slow", action: { read: true } },
      settings: { viewName: "settings", primaryKey: "id", action: { read: true } },
    },
    project: { database: { ...database, pool: 4, statementTimeoutMs: 700 } },
  });

  test("time zone, forms of values and time-out hold in every transaction", async () => {
    const { body } = await fixture.post("settings/read", { page: 1 });
    const expected = { timeout: "700ms", zone: "UTC", span: "1 day 02:00:00", bytes: "AP8=" };
    expect(body.data).toMatchObject([expected]);
    const first = await fixture.post("notes/first", { where: [{ key: "note_id", value: "n" }] });
    expect(first.body.data.at).toBe("2026-01-02T03:04:05.000Z");
  });

  test("a statement over its time is stopped in the server, and the service goes on", async () => {
    const { status } = await fixture.post("slow/read", { page: 1 });
    expect(status).toBe(503);
    // The server stops it a moment after the request.
    await expect
      .poll(() =>
        fixture.sql(
          "select 1 from pg_stat_activity where state = 'active' and query like '%slow%' and pid <> pg_backend_pid() and datname = current_database()",
        ),
      )
      .toEqual([]);
    expect((await fixture.post("notes/read", { page: 1 })).body.data).toHaveLength(1);
  });

  test("many requests at once share the two sessions of the pooler", async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        fixture.post("notes/create", { note_id: `many-${at}`, title: `Ä${at}` }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  });
});
