/** `rowgate sync`: updates the files of a configuration to match its changed databases, as far as that is safe. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findNodeAtLocation, type Node, parseTree } from "jsonc-parser";
import { oneLine } from "../../../core/init/draft-project.ts";
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

/** The rest of the text stays as it is, with its layout and its byte order mark. */
function withChange(text: string, { path, value, isAdded }: Change): string {
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const json = text.slice(mark.length);
  const list = isAdded ? findNodeAtLocation(parseTree(json)!, [...path]) : undefined;
  const changed = list
    ? withMember(json, list, oneLine(value))
    : withValue(json, { path, value: isAdded ? [value] : value });
  return mark + changed;
}

function withValue(json: string, { path, value }: Pick<Change, "path" | "value">): string {
  const root = parseTree(json)!;
  const node = findNodeAtLocation(root, [...path]);
  if (node) return spliced(json, node, oneLine(value));
  const parent = findNodeAtLocation(root, path.slice(0, -1));
  return withMember(json, parent!, `${JSON.stringify(path.at(-1))}: ${oneLine(value)}`);
}

/** Behind the last member of the object or list, with the space that is before that one. */
function withMember(json: string, { children = [], ...holder }: Node, member: string): string {
  const [last, other] = children.toReversed();
  if (!last)
    return spliced(json, holder, json[holder.offset] === "[" ? `[${member}]` : `{ ${member} }`);
  const begin = other ? other.offset + other.length : holder.offset + 1;
  const [space] = /\s*$/.exec(json.slice(begin, last.offset))!;
  const end = { offset: last.offset + last.length, length: 0 };
  return spliced(json, end, `,${space || " "}${member}`);
}

const spliced = (text: string, at: Pick<Node, "offset" | "length">, put: string): string =>
  text.slice(0, at.offset) + put + text.slice(at.offset + at.length);

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
