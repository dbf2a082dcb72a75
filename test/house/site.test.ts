/** The navigation of the docs site: docs/README.md in order, only existing pages. `npm run docs` builds the site. */
import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  addressOf,
  root,
  sidebar,
  type SidebarGroup,
  targetOf,
} from "../../site/.vitepress/pages.ts";

type Entry = SidebarGroup["items"][number];
const linksIn = (entry: Entry): string[] =>
  "link" in entry ? [entry.link] : entry.items.flatMap(linksIn);

test("every page of docs/ is in the navigation, and nothing else but the pages beside it", () => {
  const pages = globSync("docs/**/*.md", { cwd: root }).map(addressOf);
  const beside = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "configs/README.md"];
  expect(beside.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  const expected = [...pages, ...beside.map(addressOf)].filter((page) => page !== "index.md");
  const listed = sidebar().flatMap(linksIn);
  expect([...new Set(listed)].map((link) => `${link.slice(1)}.md`).toSorted()).toEqual(
    expected.toSorted(),
  );
});

test("actions stand in groups below their section", () => {
  const actions = sidebar().find(({ text }) => text === "Actions");
  const [first] = actions?.items ?? [];
  expect(first).toMatchObject({ text: "One record" });
  expect(first && linksIn(first)).toContain("/actions/create");
});

test.each([
  ["docs/actions/create.md", "../locks.md", "locks.md"],
  ["docs/README.md", "../README.md", "start.md"],
  ["README.md", "docs/tour.md", "tour.md"],
  ["docs/tour.md", "README.md", "index.md"],
])("a link of %s to %s leads to %s", (from, link, address) => {
  expect(addressOf(targetOf(from, link))).toBe(address);
});
