/**
 * Chinook, Sakila and Northwind through `rowgate init`: random requests about each relation that it writes answer what
 * SQL says that another program than the product wrote. `npm run test:deep` sends many more of them.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { runInit } from "../../app/start/commands/init.ts";
import { createLog } from "../../app/start/observing/log.ts";
import { openService, type Service } from "../../app/start/servers/wire.ts";
import { readConfigFiles } from "../../app/start/settings/config-files.ts";
import { freshDatabase, type FreshDatabase } from "../servers/database.ts";
import { openSession, type PlainSession } from "../servers/session.ts";
import { type KnownRequest, randomRequest } from "./known-requests.ts";
import {
  type KnownTable,
  knownSchemas,
  randomFrom,
  statementsOf,
  tablesOf,
} from "./known-schemas.ts";
import {
  type Json,
  type KnownEndpoint,
  type KnownRelation,
  type Oracle,
  oracleOf,
} from "./known-sql.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Random requests about each relation; absent: a few. */
    relationRequests?: number;
  }
}

const engine = inject("engine");
const requests = inject("relationRequests") ?? 4;
/** The same requests in every run, unless `RELATIONS_SEED` is set. */
const firstSeed = Number(process.env["RELATIONS_SEED"] ?? 21);

interface WrittenRelation {
  readonly endpoint: string;
  readonly column?: string | string[];
  readonly foreignColumn?: string | string[];
  readonly key?: string | string[];
  readonly through?: { endpoint: string; column: string; foreignColumn: string };
}

/** Tables of two references and nothing else of substance. */
const between = {
  chinook: ["PlaylistTrack"],
  sakila: ["film_actor", "film_category"],
  northwind: ["CustomerCustomerDemo", "EmployeeTerritories"],
} as const;

describe.each(["chinook", "sakila", "northwind"] as const)("%s", (schema) => {
  const tables = tablesOf(knownSchemas[schema], randomFrom(7));
  let database: FreshDatabase;
  let session: PlainSession;
  let service: Service;
  let oracle: Oracle;
  let endpoints: ReadonlyMap<string, KnownEndpoint>;
  const folders: string[] = [];

  async function freshFolder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "rowgate-known-"));
    folders.push(folder);
    return folder;
  }

  beforeAll(async () => {
    database = await freshDatabase(engine);
    session = await openSession(engine, database.url);
    for (const text of statementsOf(tables, engine)) await session.run(text);
    oracle = oracleOf(engine, session);
    const configDir = await freshFolder();
    const env = {
      CONFIG_DIR: configDir,
      SHOP_DATABASE_URL: database.url,
      STORAGE_URL: `file:${await freshFolder()}`,
    };
    await runInit({
      args: ["--database", database.url, "--project", "shop"],
      env,
      out: () => undefined,
    });
    endpoints = await endpointsIn(join(configDir, "shop"), tables);
    service = await openService({
      files: await readConfigFiles(configDir),
      env,
      log: createLog("silent"),
    });
    await service.ready;
  }, 60_000);
  afterAll(async () => {
    await service?.close();
    await session?.close();
    await database?.drop();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });

  async function ask({ path, body }: KnownRequest): Promise<any> {
    const response = await service.app.request(`/api/shop/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return response.json();
  }

  test("every foreign key is a relation on both sides", () => {
    const found = [...endpoints.values()].flatMap(({ table, relations }) =>
      relations.map(({ isMany, steps }) => {
        const places = steps.map(
          ({ endpoint, on }) => `${endpoint.table.name}.${on[0]!.join("=")}`,
        );
        return `${table.name} ${isMany ? "many" : "one"} ${places.join(" ")}`;
      }),
    );
    const keyOf = (name: string): string =>
      tables.find((table) => table.name === name)!.key[0]!.name;
    const isBetween = ({ name }: KnownTable): boolean =>
      (between[schema] as readonly string[]).includes(name);
    const expected = tables.flatMap((table) => {
      const references = table.columns.filter(({ refersTo }) => refersTo !== null);
      return references.flatMap(({ name, refersTo }) => {
        const key = keyOf(refersTo!);
        const other = references.find((one) => one.name !== name);
        const many = `${refersTo} many ${table.name}.${key}=${name}`;
        return [
          `${table.name} one ${refersTo}.${name}=${key}`,
          isBetween(table)
            ? `${many} ${other!.refersTo}.${other!.name}=${keyOf(other!.refersTo!)}`
            : many,
        ];
      });
    });
    expect(found.toSorted()).toEqual(expected.toSorted());
  });

  test(`${requests} random requests about each relation answer what SQL says`, async () => {
    let seed = firstSeed;
    for (const endpoint of endpoints.values())
      for (const relation of endpoint.relations)
        for (let at = 0; at < requests; at++) {
          const request = randomRequest({ endpoint, relation, random: randomFrom(++seed) });
          const answer = gistOf(await ask(request), request);
          const told = `RELATIONS_SEED=${seed - 1} ${endpoint.name}.${relation.name}: ${request.path} ${JSON.stringify(request.body)}`;
          expect(answer, told).toEqual(gistOf(await request.expected(oracle), request));
        }
    expect(seed).toBeGreaterThan(firstSeed + requests * 15);
  }, 600_000);
});

/** What two answers have in common; the groups of an aggregate in an order of their own. */
function gistOf(answer: any, { path }: KnownRequest): unknown {
  if (path.endsWith("/aggregate"))
    return {
      groups: (answer.groups ?? answer.data ?? [answer.message])
        .map((group: object) => JSON.stringify(group))
        .toSorted(),
      total: answer.total ?? null,
    };
  if (answer.pagination) return answer.pagination.total_records;
  // A list shows no figures of its own.
  const { data, more, message } = answer;
  return { data, ...(more && { more: sortedKeys(more) }), ...(message && { message }) };
}

const sortedKeys = (more: Record<string, Json[]>): object =>
  Object.fromEntries(
    Object.entries(more).map(([name, keys]) => [
      name,
      keys.map((key) => JSON.stringify(key)).toSorted(),
    ]),
  );

/** The endpoints as `init` wrote their relations. */
async function endpointsIn(
  folder: string,
  tables: readonly KnownTable[],
): Promise<ReadonlyMap<string, KnownEndpoint>> {
  const endpoints = new Map<string, KnownEndpoint & { relations: KnownRelation[] }>();
  const written = new Map<string, Record<string, WrittenRelation>>();
  for (const table of tables) {
    const name = table.name.replaceAll(" ", "_");
    const text = await readFile(join(folder, `${name}.json`), "utf8");
    const { relations = {}, hiddenFields = [] } = JSON.parse(text);
    const columns = table.columns.filter((column) => !hiddenFields.includes(column.name));
    written.set(name, relations);
    endpoints.set(name, { name, table: { ...table, columns }, relations: [] });
  }
  const list = (names: string | string[] | undefined, table: KnownTable): string[] =>
    names === undefined ? table.key.map(({ name }) => name) : [names].flat();
  const pairs = (left: string[], right: string[]) =>
    left.map((name, at) => [name, right[at]!] as const);
  for (const [of, relations] of written)
    for (const [name, { endpoint, column, foreignColumn, key, through }] of Object.entries(
      relations,
    )) {
      const [here, there] = [endpoints.get(of)!, endpoints.get(endpoint)!];
      const steps = through
        ? [
            {
              endpoint: endpoints.get(through.endpoint)!,
              on: pairs(list(undefined, here.table), [through.column].flat()),
            },
            { endpoint: there, on: pairs([through.foreignColumn].flat(), list(key, there.table)) },
          ]
        : foreignColumn !== undefined
          ? [
              {
                endpoint: there,
                on: pairs(list(key, here.table), list(foreignColumn, there.table)),
              },
            ]
          : [{ endpoint: there, on: pairs(list(column, here.table), list(key, there.table)) }];
      here.relations.push({ name, isMany: column === undefined, endpoint: there, steps });
    }
  return endpoints;
}
