/** The differences for `--dry-run`: new files in full, and the changed lines of existing files. */
import { createTwoFilesPatch } from "diff";

/** By path; a file that would not change is left out. */
export function differences(
  files: ReadonlyMap<string, string>,
  existing: ReadonlyMap<string, string>,
): string {
  const patches = [...files].flatMap(([path, text]) => {
    const before = existing.get(path);
    if (before === text) return [];
    const from = before === undefined ? "/dev/null" : path;
    return createTwoFilesPatch(from, path, before ?? "", text);
  });
  return patches.length === 0 ? "Nothing would change\n" : patches.join("\n");
}
