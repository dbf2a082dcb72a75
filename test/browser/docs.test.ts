/** What docs/grids.md prints are the pages that the other tests of this folder load. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const text = readFileSync(join(import.meta.dirname, "../../docs/grids.md"), "utf8");
const printed = [...text.matchAll(/^```html\n(.*?)^```$/gms)].map(([, html = ""]) => html);
const folder = join(import.meta.dirname, "pages");

test.each(globSync("*.html", { cwd: folder }))("docs/grids.md prints %s as it is", (file) => {
  expect(printed).toContain(readFileSync(join(folder, file), "utf8"));
});

test("docs/grids.md prints no other page", () => {
  expect(printed).toHaveLength(globSync("*.html", { cwd: folder }).length);
});
