/** Makes indexes in a bench's database. */
import { checkConfig } from "../app/start/commands/check-config.ts";
import { openSession } from "../test/servers/session.ts";
import type { EngineName } from "./contest.ts";

/** SQLite: the path of its file. */
const addressOf = (engine: EngineName, url: string): string =>
  engine === "sqlite" ? `sqlite:${url}` : url;

/** Also brings the planner's statistics up to date. */
export async function makeIndexes(
  engine: EngineName,
  url: string,
  statements: readonly string[],
): Promise<void> {
  const session = await openSession(engine, addressOf(engine, url));
  const analyze = engine === "mysql" ? "ANALYZE TABLE items" : "ANALYZE";
  for (const statement of [...statements, analyze]) await session.run(statement);
  await session.close();
}

/** Makes those that `check --advise` names for the endpoint. */
export async function makeAdvised(
  engine: EngineName,
  url: string,
  endpoint: object,
): Promise<void> {
  const database = { url: addressOf(engine, url) };
  const files = { "bench/project.json": { database }, "bench/items.json": endpoint };
  const { advice } = await checkConfig({
    files: new Map(Object.entries(files).map(([name, file]) => [name, JSON.stringify(file)])),
    env: {},
    advises: true,
  });
  await makeIndexes(
    engine,
    url,
    advice!.flatMap(({ statements }) => statements),
  );
}
