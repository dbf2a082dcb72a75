/** The configuration folder of a command, with its `--env-file` variables: read at the start and at each reload. */
import { createComponents } from "../settings/component-modules.ts";
import { readConfigFiles } from "../settings/config-files.ts";
import { parseEnv } from "../settings/env.ts";
import { createEnvFiles } from "../settings/env-file.ts";
import type { ConfigSource } from "./reloads.ts";

/** A configuration that was read completely. `served` puts its variables where handlers find them. */
export type FolderSource = Required<ConfigSource>;

export interface ConfigFolder {
  /** CONFIG_DIR. */
  readonly path: string;
  /** Rejects with an Error when the folder or a file cannot be read. */
  read(): Promise<FolderSource>;
  /** Whether the files are those that were read last. */
  isSame(): Promise<boolean>;
}

/** Throws an Error for a file of variables that cannot be read, and for a variable with an invalid value. */
export function openConfigFolder(envFiles: readonly string[]): ConfigFolder {
  const readEnv = createEnvFiles(envFiles, process.env);
  readEnv().apply();
  const { configDir: path } = parseEnv(process.env);
  const componentsOf = createComponents(path);
  let last: FolderSource["files"] = new Map();
  return {
    path,
    async read() {
      const { env, apply } = readEnv();
      const files = await readConfigFiles(path);
      last = files;
      return { files, env, importComponent: componentsOf(files), served: apply };
    },
    async isSame() {
      const files = await readConfigFiles(path);
      return (
        files.size === last.size && [...files].every(([name, text]) => last.get(name) === text)
      );
    },
  };
}
