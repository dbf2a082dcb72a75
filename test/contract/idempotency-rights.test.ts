/**
 * Idempotency-Key where the database user cannot create the service's table: a request with a key is refused before any
 * write, the log says what to do, and afterwards keys work.
 */
import { randomUUID } from "node:crypto";
import { Writable } from "node:stream";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openService, type Service } from "../../app/start/servers/wire.ts";
import type { EngineName } from "../servers/session.ts";
import { type Fixture, openFixture } from "./harness.ts";

const user = `rowgate_${randomUUID().slice(0, 8)}`;
const rights = "select, insert, update, delete";

/** How creating is forbidden, what the operator does beside the statement of the log, and what the test leaves. */
const ways: Record<EngineName, { forbid: string[]; allow: string[]; tidy: string[] }> = {
  postgres: {
    forbid: [
      `create role ${user} login`,
      "revoke create on schema public from public",
      `grant ${rights} on all tables in schema public to ${user}`,
    ],
    allow: [`grant ${rights} on rowgate_requests to ${user}`],
    tidy: [`drop owned by ${user}`, `drop role ${user}`],
  },
  mysql: {
    // Of the local host too: where an anonymous user has that, it goes before `%`.
    forbid: ["%", "localhost"].flatMap((host) => [
      `create user ${user}@'${host}'`,
      `grant ${rights} on <database>.* to ${user}@'${host}'`,
    ]),
    allow: [],
    tidy: [`drop user ${user}@'%', ${user}@localhost`],
  },
  // It has no users: something else has the name.
  sqlite: { forbid: ["create index rowgate_requests on parts (name)"], allow: [], tidy: [] },
};

let fixture: Fixture;
let service: Service;
const logged: { err?: { message?: string } }[] = [];

beforeAll(async () => {
  fixture = await openFixture({
    tables: [{ name: "parts", columns: { part_id: "key", name: "text(40)" } }],
    endpoints: { parts: { tableName: "parts", action: { create: true } } },
  });
  const project = JSON.parse(fixture.files.get("test/project.json")!);
  const url = new URL(project.database.url);
  for (const text of ways[fixture.engine].forbid)
    await fixture.sql(text.replace("<database>", url.pathname.slice(1)));
  if (fixture.engine !== "sqlite") {
    url.username = user;
    url.password = "";
    project.database.url = url.href;
  }
  const files = new Map([...fixture.files, ["test/project.json", JSON.stringify(project)]]);
  const lines = new Writable({
    write(chunk, _encoding, done) {
      logged.push(JSON.parse(String(chunk)));
      done();
    },
  });
  service = await openService({ files, env: {}, log: pino({ level: "error" }, lines) });
  await service.ready;
});
afterAll(async () => {
  await service?.close();
  for (const text of ways[fixture.engine].tidy) await fixture.sql(text);
  await fixture?.close();
});

async function create(name: string, key?: string) {
  const response = await service.app.request("/api/test/parts/create", {
    method: "POST",
    headers: { "content-type": "application/json", ...(key && { "Idempotency-Key": key }) },
    body: JSON.stringify({ name }),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as { message: string },
  };
}
const names = async () =>
  (await fixture.sql("select name from parts order by name")).map(({ name }) => name);

test("A request with a key is refused where its answer cannot be stored, until the table is made", async () => {
  expect(await create("without")).toMatchObject({ status: 201 });
  const refused = await create("with", "key");
  expect(refused).toMatchObject({ status: 503, body: { error: "Service unavailable" } });
  expect(refused.body.message).not.toMatch(/create table/i);
  expect(await names()).toEqual(["without"]);

  const reason = logged
    .map(({ err }) => err?.message)
    .find((text) => text?.includes("create table"));
  const [, statement = ""] = /Have it made with: (.+?)(?:: |$)/.exec(reason ?? "") ?? [];
  if (fixture.engine === "sqlite") await fixture.sql("drop index rowgate_requests");
  for (const text of [statement, ...ways[fixture.engine].allow]) await fixture.sql(text);

  expect(await create("with", "key")).toMatchObject({ status: 201 });
  const again = await create("with", "key");
  expect(again.status).toBe(201);
  expect(again.headers.get("Idempotency-Replayed")).toBe("true");
  expect(await names()).toEqual(["with", "without"]);
});
