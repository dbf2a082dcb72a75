/** An endpoint's file while alternative spellings are converted to the main one. */
import type { Path } from "./faults.ts";

export type Members = Record<string, unknown>;

export interface Draft {
  /** The file's value; the steps change it. */
  readonly root: Members;
  /** Records that the value that is now at `to` was written at `from`. */
  moved(to: Path, from: Path): void;
  refuse(path: Path, expected: string): void;
}

/** Renames alternative names; when both names are present, the check refuses the alternative one. */
export function rename(
  holder: Members,
  aliases: ReadonlyMap<string, string>,
  base: Path,
  moved: Draft["moved"],
): void {
  for (const [alias, name] of aliases) {
    if (!Object.hasOwn(holder, alias) || Object.hasOwn(holder, name)) continue;
    holder[name] = holder[alias];
    delete holder[alias];
    moved([...base, name], [...base, alias]);
  }
}
