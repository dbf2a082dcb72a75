/** A shop of books whose full-text indexes were made by the statements that the service itself printed. */
import { openService } from "../../app/start/servers/wire.ts";
import { createLog } from "../../app/start/observing/log.ts";
import { freshDatabase } from "../servers/database.ts";
import { openSession, type EngineName } from "../servers/session.ts";
import { openFixture, type Fixture, type FixtureOptions } from "./harness.ts";
import { createTables } from "./tables.ts";

/** The message with which the service refuses to start; empty: it starts. */
export async function refusal(
  url: string,
  endpoints: FixtureOptions["endpoints"],
): Promise<string> {
  const files = new Map([
    ["test/project.json", JSON.stringify({ database: { url } })],
    ...Object.entries(endpoints).map(
      ([name, file]) => [`test/${name}.json`, JSON.stringify(file)] as const,
    ),
  ]);
  try {
    const service = await openService({ files, env: {}, log: createLog("silent") });
    await service.ready.finally(() => service.close());
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

/** The statements that the message asks the operator to run. */
export const statementsIn = (message: string): string[] =>
  [...message.matchAll(/create it with these statements:\n\n([\s\S]*?;)\n(?:\n|$)/g)].flatMap(
    ([, script]) =>
      script!
        .replace(/;$/, "")
        .split(/;\n(?=create|drop|insert|set)/)
        .map(ended),
  );

/** A trigger of SQLite needs its last semicolon. */
const ended = (text: string): string => (/\bend$/.test(text) ? `${text};` : text);

/** The columns compare without case on MySQL, as its index needs. */
export const ignoringCase = (engine: EngineName, tables: Record<string, string[]>): string[] =>
  engine !== "mysql"
    ? []
    : Object.entries(tables).map(
        ([table, columns]) =>
          `alter table ${table} ${columns.map((column) => `modify ${column} collate utf8mb4_unicode_ci`).join(", ")}`,
      );

/** A fixture whose database got the indexes that its endpoints ask for. */
export async function openIndexed(
  engine: EngineName,
  { setUp = () => [], ...options }: FixtureOptions,
): Promise<Fixture> {
  const scratch = await freshDatabase(engine, options.locale);
  const session = await openSession(engine, scratch.url);
  for (const text of [...createTables(engine, options.tables), ...setUp(engine)])
    await session.run(text);
  const statements: string[] = [];
  // One message names the faults of all endpoints; those over one table ask for the same index.
  for (const text of statementsIn(await refusal(scratch.url, options.endpoints)))
    if (!statements.includes(text)) statements.push(text);
  await session.close();
  await scratch.drop();
  return openFixture({ ...options, engine, setUp: () => [...setUp(engine), ...statements] });
}
