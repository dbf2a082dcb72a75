/** `--env-file`: variables from files, for the commands that read the environment. */
import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";

type Environment = Record<string, string | undefined>;

/** The environment with the variables of files. */
export interface FileEnvironment {
  readonly env: Readonly<Environment>;
  /** Puts the variables into the environment of the process, where handlers look for them. */
  apply(): void;
}

/**
 * A function that reads the files again on each call. The environment wins over files, and a later file over earlier
 * ones. It throws an Error for a file that cannot be read.
 */
export function createEnvFiles(paths: readonly string[], own: Environment): () => FileEnvironment {
  const before = { ...own };
  let applied: readonly string[] = [];
  return () => {
    const found = Object.assign({}, ...paths.map(readVariables)) as Readonly<Environment>;
    const names = Object.keys(found).filter((name) => before[name] === undefined);
    return {
      env: { ...found, ...before },
      apply() {
        for (const name of applied) delete own[name];
        for (const name of names) own[name] = found[name];
        applied = names;
      },
    };
  };
}

function readVariables(path: string): object {
  try {
    // With a byte order mark, the first name would be another one.
    return parseEnv(readFileSync(path, "utf8").replace(/^\uFEFF/, ""));
  } catch (error) {
    const { code } = error as { code?: string };
    throw new Error(`The file of --env-file cannot be read: ${path} (${code})`, { cause: error });
  }
}
