/** `--env-file`: variables from a file, for the commands that read the environment. */
import { readFileSync } from "node:fs";
import { parseArgs, parseEnv } from "node:util";

/**
 * Adds the variables of the named files to `env`; a variable that is there already stays, and of two files the later one counts. Throws an Error for other
 * arguments and for a file that cannot be read.
 */
export function loadEnvFiles(
  args: readonly string[],
  env: Record<string, string | undefined>,
): void {
  const found = Object.assign({}, ...filesIn(args).map(readVariables)) as object;
  for (const [name, value] of Object.entries(found)) env[name] ??= String(value);
}

function filesIn(args: readonly string[]): readonly string[] {
  try {
    const options = { "env-file": { type: "string", multiple: true } } as const;
    return parseArgs({ args: [...args], options }).values["env-file"] ?? [];
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
