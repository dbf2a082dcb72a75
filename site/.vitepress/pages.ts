/** Which files are pages of the site, where they are there, and in which order: docs/README.md has them all in reading order. */
import { readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

export const root = join(import.meta.dirname, "../..");

/** The pages outside of docs/, and their addresses. */
const beside: Readonly<Record<string, string>> = {
  "README.md": "start.md",
  "CHANGELOG.md": "changelog.md",
  "CONTRIBUTING.md": "contributing.md",
  "configs/README.md": "configs.md",
};

/** The address of a file, both from their roots. */
export function addressOf(file: string): string {
  if (file === "docs/README.md") return "index.md";
  return beside[file] ?? file.replace(/^docs\//, "");
}

/** The file, from the root of the project, to which a link leads from another one; the anchor stays. */
export const targetOf = (from: string, link: string): string =>
  posix.normalize(posix.join(dirname(from), link));

export interface SidebarGroup {
  readonly text: string;
  readonly collapsed?: boolean;
  readonly items: readonly (SidebarGroup | SidebarPage)[];
}

interface SidebarPage {
  readonly text: string;
  readonly link: string;
}

/** The sections of docs/README.md that list pages. */
export function sidebar(): SidebarGroup[] {
  const text = readFileSync(join(root, "docs/README.md"), "utf8");
  const [, ...sections] = text.split(/^## /m);
  return sections
    .map((section) => ({ text: section.split("\n", 1)[0]!, items: itemsOf(section) }))
    .filter(({ items }) => items.length > 0);
}

/** A line with a bold title is a group of its own. */
function itemsOf(section: string): (SidebarGroup | SidebarPage)[] {
  const entries = section.split(/^- /m).slice(1);
  return entries.flatMap((entry): (SidebarGroup | SidebarPage)[] => {
    const [, title] = /^\*\*(.+?):?\*\*/.exec(entry) ?? [];
    const pages = pagesIn(entry);
    if (title === undefined) return pages;
    return [{ text: title.replace(/:$/, ""), collapsed: true, items: pages }];
  });
}

const pagesIn = (entry: string): SidebarPage[] =>
  [...entry.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g)].map(([, text = "", path = ""]) => ({
    text,
    link: `/${addressOf(targetOf("docs/README.md", path)).replace(/(?:index)?\.md$/, "")}`,
  }));
