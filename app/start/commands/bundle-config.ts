/**
 * Writes the module that `wrangler` bundles: the configuration folder as texts, its components as imports, and a Worker
 * that uses both. A Worker has no files, so both must be part of its code. CONFIG_DIR names the folder. Usage:
 * `node app/start/commands/bundle-config.ts [module]`
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { readDocument } from "../../../core/config/reading/document.ts";
import { isObject } from "../../../core/values/json.ts";
import { remoteFault } from "../../../db/open-remote.ts";
import { readConfigFiles } from "../settings/config-files.ts";
import { consoleSources } from "../opening/static-files.ts";
import { parseEnv } from "../settings/env.ts";

const { configDir } = parseEnv({ CONFIG_DIR: process.env["CONFIG_DIR"] });
const target = process.argv[2] ?? "dist/worker.ts";
const files = await readConfigFiles(configDir);
const components = [...files.keys()].filter((path) => path.includes("/components/")).toSorted();

/** Left out where no project has `mcp`: 314 kB minified. */
const protocolFile = join(import.meta.dirname, "../../mcp/protocol.ts");
const hasAgents = [...files].some(([path, text]) => {
  const settings = path.endsWith("/project.json") && readDocument(path, text).document?.value;
  return isObject(settings) && settings["mcp"] !== undefined;
});

/** The import specifier of a file, relative to the module. */
function specifierOf(path: string): string {
  const way = relative(dirname(target), path).replaceAll("\\", "/");
  return JSON.stringify(way.startsWith(".") ? way : `./${way}`);
}

/** Names and texts. */
const consoleTexts = (): Promise<[string, string][]> =>
  Promise.all(
    [...consoleSources()].map(async ([name, file]): Promise<[string, string]> => [
      name,
      await readFile(file, "utf8"),
    ]),
  );

const text = [
  "/** Written by app/start/commands/bundle-config.ts from the configuration folder; not to be edited. */",
  `import { createWorker } from ${specifierOf(join(import.meta.dirname, "../edge/cloudflare.ts"))};`,
  ...components.map((path, at) => `import * as c${at} from ${specifierOf(join(configDir, path))};`),
  "",
  "export default createWorker({",
  "  files: new Map([",
  ...[...files]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    // The code of a component is imported; of its text only the path is needed.
    .map(([path, code]) => [path, components.includes(path) ? "" : code])
    .map((file) => `    ${JSON.stringify(file)},`),
  "  ]),",
  "  components: new Map<string, Record<string, unknown>>([",
  ...components.map((path, at) => `    [${JSON.stringify(path)}, c${at}],`),
  "  ]),",
  "  consoleFiles: new Map([",
  ...(await consoleTexts()).map((file) => `    ${JSON.stringify(file)},`),
  "  ]),",
  ...(hasAgents ? [`  openProtocol: () => import(${specifierOf(protocolFile)}),`] : []),
  "});",
  "",
].join("\n");

await mkdir(dirname(target), { recursive: true });
await writeFile(target, text);
for (const [path, source] of files) {
  const settings = path.endsWith("/project.json") && readDocument(path, source).document?.value;
  const database = isObject(settings) && settings["database"];
  const url = isObject(database) ? String(database["url"]) : "";
  const [, name, byDefault] = /^\$\{(\w+):-(.*)\}$/.exec(url) ?? [];
  const address = byDefault ?? url;
  const fault = /^[\w+]+:/.test(address) ? remoteFault(address, { isPooled: false }) : null;
  if (fault === null) continue;
  const unless = name === undefined ? "" : `without ${name}, `;
  process.stderr.write(
    `${path}: ${unless}database.url is ${fault.found}. Set ${name ?? "it"} to ${fault.expected}, or CONFIG_DIR to another configuration; see docs/workers.md\n`,
  );
}
process.stdout.write(`${target} holds ${files.size} files of ${configDir}\n`);
