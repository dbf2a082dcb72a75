/** `--env-file`: variables from a file, for the commands that read the environment. */
import { readFileSync } from "node:fs";
import { parseArgs, parseEnv } from "node:util";

/**
 * Adds the variables of the named files to `env`; a variable that is there already stays, and of two files the later one counts. Answers the
 * given ones of `flags`. Throws an Error for other arguments and for a file that cannot be read.
 */
export function loadEnvFiles(
  args: readonly string[],
  { env, flags }: { env: Record<string, string | undefined>; flags: readonly string[] },
): ReadonlySet<string> {
  const { "env-file": files = [], ...given } = optionsIn(args, flags);
  const found = Object.assign({}, ...(files as string[]).map(readVariables)) as object;
  for (const [name, value] of Object.entries(found)) env[name] ??= String(value);
  return new Set(Object.keys(given));
}

function optionsIn(args: readonly string[], flags: readonly string[]): Record<string, unknown> {
  try {
    const options = {
      "env-file": { type: "string", multiple: true },
      ...Object.fromEntries(flags.map((flag) => [flag, { type: "boolean" }] as const)),
    } as const;
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new Error((error as Error).message, { cause: error });
  }
}

function readVariables(path: string): object {
  try {
    return parseEnv(readFileSync(path, "utf8"));
  } catch (error) {
    const { code } = error as { code?: string };
    throw new Error(`The file of --env-file cannot be read: ${path} (${code})`, { cause: error });
  }
}
