/**
 * Serves the pages of `pages/` from a separate origin. `/3/grid.html`, `/2/grid.html` and `/1/grid.html` are the same
 * page with DataTables 3, 2 and 1.13. Files below `lib/` come from the packages in `programs/`, and the large ones from
 * those of `test/adapters`.
 */
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { programs as adapterPrograms } from "../adapters/install.ts";
import { programs } from "./install.ts";

export interface PageServer {
  readonly origin: string;
  close(): Promise<void>;
}

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

/**
 * `edit` gets each page's HTML and returns what is served. With `grid.html?change={"from":"to"}`, each text `from` is
 * replaced; it must occur in the page. `scripts`: pages with nothing but a script, by name; `edit` gets these too.
 */
export async function servePages(
  edit: (html: string) => string,
  scripts: Readonly<Record<string, string>> = {},
): Promise<PageServer> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://localhost");
    const [, version = "", path = ""] = /^\/([123])\/([\w@./-]+)$/.exec(url.pathname) ?? [];
    // The browser requests it automatically.
    if (url.pathname === "/favicon.ico") return void response.writeHead(204).end();
    if (path.startsWith("lib/")) return sendFile(response, libraryFile(version, path.slice(4)));
    const name = path.replace(/\.\w+$/, "");
    const script = scripts[name];
    if (script !== undefined && path.endsWith(".js")) return send(response, ".js", edit(script));
    if (script !== undefined) return send(response, ".html", pageOf(`${name}.js`));
    const page = join(import.meta.dirname, "pages", path);
    if (!existsSync(page) || !path.endsWith(".html")) return void response.writeHead(404).end();
    const html = changed(readFileSync(page, "utf8"), url.searchParams.get("change"));
    send(response, ".html", edit(forVersion(version, html)));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const pageOf = (script: string): string =>
  `<!doctype html><meta charset="utf-8" /><div id="root"></div><script type="module" src="${script}"></script>`;

/** Makes the changes that docs/grids.md describes for an older DataTables. */
function forVersion(version: string, html: string): string {
  if (version === "3") return html;
  const library = '<script src="lib/datatables.net/js/';
  const jquery = '<script src="lib/jquery/dist/jquery.min.js"></script>';
  const page = html.replace(library, `${jquery}\n    ${library}`);
  if (version === "2") return page;
  return page
    .replace(
      "datatables.net-dt/css/dataTables.dataTables",
      "datatables.net-dt/css/jquery.dataTables",
    )
    .replace("datatables.net/js/dataTables", "datatables.net/js/jquery.dataTables")
    .replace('layout: { top1: "searchBuilder" }', 'dom: "Qlfrtip"')
    .replace(/layout: \{ top1: \{ (searchPanes: \{.*\}) \} \}/, 'dom: "Plfrtip", $1');
}

function changed(html: string, change: string | null): string {
  const pairs = Object.entries(JSON.parse(change ?? "{}") as Record<string, string>);
  return pairs.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`The page does not hold ${from}`);
    return text.replaceAll(from, to);
  }, html);
}

/** Libraries that come in several versions are aliases in `@dt1`, `@dt2` and `@dt3`. */
function libraryFile(version: string, path: string): string | undefined {
  const modules = join(programs, "node_modules");
  return [
    join(modules, `@dt${version}`, path),
    join(modules, path),
    join(adapterPrograms, "node_modules", path),
  ].find((file) => existsSync(file));
}

function sendFile(response: ServerResponse, file: string | undefined): void {
  if (file === undefined) return void response.writeHead(404).end();
  send(response, extname(file), readFileSync(file));
}

function send(response: ServerResponse, extension: string, content: string | Buffer): void {
  const type = types[extension] ?? "application/octet-stream";
  response.writeHead(200, { "content-type": type }).end(content);
}
