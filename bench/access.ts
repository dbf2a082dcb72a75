/**
 * `npm run bench:access [-- sqlite postgres mysql]`: what credentials and access rules cost. Compares the service
 * without `auth` to the same service with it, on a single record: an API key, a token (HS256), and a scope on the rows.
 */
import { createHash } from "node:crypto";
import { SignJWT } from "jose";
import { bench, contest, printHead } from "./contest.ts";
import type { Load } from "./load.ts";
import { createTable, keyOf, rowsAtStart } from "./table.ts";

const key = "a key for the bench";
const secret = "a secret of at least thirty-two bytes";
const token = await new SignJWT({ sub: "bench", roles: ["reader"], owner: "bench" })
  .setProtectedHeader({ alg: "HS256" })
  .setExpirationTime("1h")
  .sign(new TextEncoder().encode(secret));

const load = (headers: Readonly<Record<string, string>>): Load => ({
  path: "/api/bench/items/first",
  headers,
  body: (at) => JSON.stringify({ where: { key: "id", value: keyOf((at * 7919) % rowsAtStart) } }),
  expectedStatus: 200,
});

const endpoint = { tableName: "items", action: { first: true } };
const access = { access: { reader: ["first"], narrowed: ["first"] } };
const rowScope = { narrowed: { created_by: "{{claims.owner}}" } };
const auth = {
  apiKeys: [
    { id: "bench", sha256: createHash("sha256").update(key).digest("hex"), roles: ["reader"] },
  ],
  jwt: { secret },
};
const narrowed = await new SignJWT({ sub: "bench", roles: ["narrowed"], owner: "bench" })
  .setProtectedHeader({ alg: "HS256" })
  .setExpirationTime("1h")
  .sign(new TextEncoder().encode(secret));

const cases: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "API key": { "X-Api-Key": key },
  token: { Authorization: `Bearer ${token}` },
  "token and scope": { Authorization: `Bearer ${narrowed}` },
};

await bench(async ({ engines, database, serve }) => {
  printHead("open", "with auth", { withCpu: true });
  for (const engine of engines) {
    const url = await database(engine);
    await createTable(engine, url);
    const cache = { enabled: false };
    const open = await serve(engine, { database: url, endpoint, project: { cache } });
    const closed = await serve(engine, {
      database: url,
      endpoint: { ...endpoint, ...access, rowScope },
      project: { cache, auth },
    });
    for (const [name, headers] of Object.entries(cases)) {
      await contest(
        `${engine} | ${name}`,
        { ...open, load: load({}) },
        { ...closed, load: load(headers) },
      );
    }
    open.stop();
    closed.stop();
  }
});
