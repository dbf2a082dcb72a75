/** What docs/grids.md prints are the pages that the other tests of this folder load. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const text = readFileSync(join(import.meta.dirname, "../../docs/grids.md"), "utf8");
const printed = [...text.matchAll(/^```html\n(.*?)^```$/gms)].map(([, html = ""]) => html);
const folder = join(import.meta.dirname, "pages");
/** docs/odata.md has less than a page of the two that load OData (test/adapters). */
const pages = globSync("*.html", { cwd: folder }).filter((file) => !file.startsWith("odata-"));

test.each(pages)("docs/grids.md prints %s as it is", (file) => {
  expect(printed).toContain(readFileSync(join(folder, file), "utf8"));
});

test("docs/grids.md prints no other page", () => {
  expect(printed).toHaveLength(pages.length);
});
