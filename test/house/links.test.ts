/** Links between the pages lead somewhere: the file exists, and has the heading that the link names. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const pages = globSync(["*.md", "docs/**/*.md", "configs/*.md"], { cwd: root });

test.each(pages)("%s links to files and headings that exist", (page) => {
  const text = withoutCode(readFileSync(join(root, page), "utf8"));
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  const inside = targets.filter((target) => !/^https?:/.test(target));
  expect(inside.filter((target) => !isThere(page, target))).toEqual([]);
});

function isThere(page: string, target: string): boolean {
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? join(root, page) : join(root, dirname(page), path);
  if (!existsSync(file)) return false;
  return anchor === undefined || anchorsOf(readFileSync(file, "utf8")).includes(anchor);
}

/** As GitHub makes them of headings: lower case, hyphens for spaces, and no other signs. */
function anchorsOf(text: string): string[] {
  const headings = [...withoutCode(text).matchAll(/^#+ (.+)$/gm)].map(
    ([, heading = ""]) => heading,
  );
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\d\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

const withoutCode = (text: string): string => text.replace(/^ *```[^]*?^ *```$/gm, "");
