/** `rowgate sync`: updates the files of a configuration to match its changed databases, as far as that is safe. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { applyEdits, modify } from "jsonc-parser";
import type { Change, Drift } from "../../../core/init/drift.ts";
import { checkConfig } from "./check-config.ts";
import { importFrom } from "../settings/component-modules.ts";
import { readConfigFiles } from "../settings/config-files.ts";
import { differences } from "./differences.ts";
import { parseEnv } from "../settings/env.ts";
import { ConfigError } from "../settings/config-error.ts";

export interface SyncRun {
  /** True: the changes are only shown. */
  readonly isDryRun: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: (text: string) => void;
}

/** Rejects with ConfigError when the configuration has faults, which must be corrected first. */
export async function runSync({ isDryRun, env, out }: SyncRun): Promise<void> {
  const { configDir } = parseEnv(env);
  const files = await readConfigFiles(configDir);
  const importComponent = importFrom(configDir);
  const { faults, unreachable, drift } = await checkConfig({ files, env, importComponent });
  if (faults.length + unreachable.length > 0)
    throw new ConfigError(
      faults,
      unreachable.map(({ sentence }) => sentence),
    );
  const changed = changedFiles(files, drift);
  if (isDryRun) return out(differences(changed, files));
  for (const [path, text] of changed) await writeFile(join(configDir, path), text);
  out(reportOf(drift, changed.size));
}

function changedFiles(
  files: ReadonlyMap<string, string>,
  drift: readonly Drift[],
): Map<string, string> {
  const changed = new Map<string, string>();
  for (const { file, changes } of drift) {
    if (file === null) continue;
    for (const change of changes)
      changed.set(file, withChange(changed.get(file) ?? files.get(file)!, change));
  }
  return changed;
}

/** Layout and comments of the rest of the text stay. */
function withChange(text: string, { path, value, isAdded }: Change): string {
  const formattingOptions = { insertSpaces: true, tabSize: 2 };
  const list = isAdded ? (JSON.parse(text) as Record<string, unknown>)[String(path[0])] : undefined;
  const isInserted = isAdded && Array.isArray(list);
  const edits = modify(
    text,
    isInserted ? [...path, -1] : [...path],
    isAdded && !isInserted ? [value] : value,
    { formattingOptions, isArrayInsertion: isInserted },
  );
  return applyEdits(text, edits);
}

function reportOf(drift: readonly Drift[], filesChanged: number): string {
  const done = drift.filter(({ changes }) => changes.length > 0);
  const left = drift.filter(({ changes }) => changes.length === 0);
  const lines = (title: string, some: readonly Drift[]): string[] =>
    some.length === 0
      ? []
      : [title, ...some.map(({ file, message }) => `  ${file ? `${file}: ` : ""}${message}`)];
  return [
    `${filesChanged} file${filesChanged === 1 ? "" : "s"} changed`,
    ...lines("Changed:", done),
    ...lines("Left to you:", left),
    "",
  ].join("\n");
}
