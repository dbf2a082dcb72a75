/** The site of the documentation. `npm run docs` builds it into site/dist; a link to a page that does not exist ends the build. */
import { defineConfig } from "vitepress";
import { addressOf, root, sidebar, targetOf } from "./pages.ts";

export default defineConfig({
  title: "Rowgate",
  description: "An HTTP API for the tables of your database, without code.",
  lang: "en",
  srcDir: "..",
  // Everything but docs/ and the pages that it links to.
  srcExclude: ["!(docs|configs)/**/*.md", "configs/*/**/*.md"],
  rewrites: addressOf,
  outDir: "dist",
  cacheDir: "node_modules/.cache/vitepress",
  // Examples of the pages link to a service that the reader has started.
  ignoreDeadLinks: "localhostLinks",
  markdown: {
    anchor: { slugify: anchorOf },
    config(md) {
      // Pages are templates of Vue, which would take braces for an expression.
      const escaped = (text: string): string =>
        md.utils.escapeHtml(text).replaceAll("{{", "&#123;&#123;");
      md.renderer.rules.text = (tokens, at) => escaped(tokens[at]!.content);
      md.renderer.rules.code_inline = (tokens, at) =>
        `<code v-pre>${md.utils.escapeHtml(tokens[at]!.content)}</code>`;
      md.core.ruler.push("links between pages", ({ tokens, env }) => {
        const from = sourceOf(env as { realPath?: string; path: string });
        for (const { children } of tokens) for (const token of children ?? []) adapt(token, from);
      });
      function adapt(token: (typeof md.core.State.prototype.tokens)[number], from: string): void {
        const href = token.attrGet("href");
        if (token.type !== "link_open" || href === null || /^(?:[a-z]+:|#)/.test(href)) return;
        const [path = "", anchor] = href.split("#");
        const isPage = path.endsWith(".md");
        const address = isPage ? `/${addressOf(targetOf(from, path))}` : "";
        if (isPage) token.attrSet("href", anchor === undefined ? address : `${address}#${anchor}`);
        // Other files of the project are not on the site.
        else token.attrs = null;
      }
    },
  },
  themeConfig: {
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: "local" },
    nav: [
      { text: "Start", link: "/start" },
      { text: "Your database", link: "/existing-database" },
      { text: "Configuration", link: "/configuration" },
      { text: "Changelog", link: "/changelog" },
    ],
  },
});

/** From the root of the project. */
const sourceOf = ({ realPath, path }: { realPath?: string; path: string }): string =>
  (realPath ?? path).slice(root.length + 1);

/** As GitHub makes anchors, because the pages are read there too. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\d\s_-]/gu, "")
    .replaceAll(" ", "-");
}
