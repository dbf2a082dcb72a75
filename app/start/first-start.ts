/** `serve --init`, as containers start it: the first start writes a configuration for the database of DATABASE_URL. Later ones find it. */
import { readConfigFiles } from "./config-files.ts";
import { parseEnv } from "./env.ts";
import { runInit } from "./init.ts";

interface FirstStart {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: (text: string) => void;
}

/** Does nothing when CONFIG_DIR has files. Rejects with an Error when there is no database either, or when it cannot be read. */
export async function initAtFirstStart({ env, out }: FirstStart): Promise<void> {
  const { configDir, databaseUrl } = parseEnv(env);
  // A folder that is not there is one without files.
  const files = await readConfigFiles(configDir).catch(() => new Map<string, string>());
  if (files.size > 0) return;
  if (databaseUrl === null)
    throw new Error(
      `CONFIG_DIR=${configDir} has no project. Set DATABASE_URL to the address of your database, or CONFIG_DIR to a folder with a project`,
    );
  await runInit({ args: ["--database", databaseUrl], env, out, variable: "DATABASE_URL" });
}
