/**
 * The rules of docs/ARCHITECTURE.md, checked on every parsed source file: who may import whom, no cycles, no barrels,
 * no dialect outside db/, and a few habits. Imports of types count too. Each rule is a function from files to faults.
 * The last tests check with made-up files that each rule finds a fault.
 */
import { globSync, readFileSync, statSync } from "node:fs";
import { builtinModules } from "node:module";
import { basename, dirname, join } from "node:path/posix";
import { describe, expect, test } from "vitest";
import { parseAst } from "vitest/node";

interface Source {
  /** Relative to the project, with `/`. */
  readonly path: string;
  readonly text: string;
}

interface Folder {
  readonly project: readonly string[];
  /** Package names; `node:` stands for all of Node's own modules. */
  readonly packages: readonly string[];
}

const foldersOfDb = [
  "db",
  "db/statements",
  "db/sockets",
  "db/engines",
  "db/engines/postgres",
  "db/engines/mysql",
  "db/engines/sqlite",
  "db/connections",
];

/** An engine imports its own driver and no other engine. */
const rulesOfEngine = (name: string, driver: string): Folder => ({
  project: ["core", "db/statements", "db/sockets", "db/engines", `db/engines/${name}`],
  packages: ["drizzle-orm", driver, "node:"],
});

const folders: Record<string, Folder> = {
  core: { project: ["core", "core/rules"], packages: ["zod"] },
  // For operators' patterns: a pattern in JavaScript's own engine can block the process.
  "core/rules": { project: ["core", "core/rules"], packages: ["zod", "re2js"] },
  db: { project: ["core", ...foldersOfDb], packages: [] },
  "db/statements": { project: ["core", "db/statements"], packages: ["drizzle-orm"] },
  "db/sockets": { project: ["db/sockets"], packages: ["cloudflare:sockets", "node:"] },
  "db/engines": {
    project: ["core", "db/statements", "db/sockets", "db/engines"],
    packages: ["drizzle-orm"],
  },
  "db/engines/postgres": rulesOfEngine("postgres", "postgres"),
  "db/engines/mysql": rulesOfEngine("mysql", "mysql2"),
  "db/engines/sqlite": rulesOfEngine("sqlite", "better-sqlite3"),
  "db/connections": {
    project: ["core", "db/statements", "db/engines", "db/connections"],
    packages: [],
  },
  jobs: {
    project: ["core", "jobs"],
    packages: ["bullmq", "ioredis", "aws4fetch", "exceljs", "node:"],
  },
  // Runs in browsers, beside packages that it does not import.
  "app/adapters": { project: ["app/adapters"], packages: [] },
  "app/clients": { project: ["core", "app/clients"], packages: [] },
  "app/pages": { project: ["core", "app/pages"], packages: ["hono"] },
  "app/console": { project: ["core", "app/pages", "app/console"], packages: ["hono"] },
  "app/mcp": { project: ["core", "app/mcp"], packages: ["@modelcontextprotocol/server"] },
  "app/http": {
    project: ["core", "app/pages", "app/console", "app/mcp", "app/http"],
    packages: ["hono", "@hono/zod-validator", "zod", "ipaddr.js"],
  },
  "app/metrics": {
    project: ["core", "app/observe", "app/metrics"],
    packages: ["prom-client", "node:"],
  },
  "app/stores": { project: ["core", "app/stores"], packages: ["ioredis", "unstorage", "node:"] },
  "app/callers": { project: ["core", "app/callers"], packages: ["jose"] },
  "app/observe": { project: ["core", "app/observe"], packages: ["node:", "@opentelemetry"] },
  "app/outbound": { project: ["core", "app/outbound"], packages: ["ipaddr.js", "node:"] },
};

/** Its files put the parts together: each may import everything, and nothing else may import them. */
const startFolder = "app/start";

/** The folders of app/start, lowest first, with those that each imports. Files directly in app/start import all. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  settings: [],
  observing: ["settings"],
  reloading: ["settings"],
  opening: ["settings", "observing", "reloading"],
  servers: ["settings", "observing", "reloading", "opening"],
  edge: ["settings", "observing", "reloading", "opening"],
  commands: ["settings", "observing", "reloading", "opening", "servers"],
};

/** Files on top of app/start: the ones that a reader starts from. */
const entriesMax = 14;

/** Files elsewhere that are run by themselves. */
const entries: ReadonlySet<string> = new Set(["core/config/reading/write-schemas.ts"]);

/** Not dialects: one file opens the PostgreSQL in which BullMQ keeps its jobs, the other reads its URL. */
const namesOfDatabases: ReadonlySet<string> = new Set([
  "jobs/queue/bullmq/postgres-server.ts",
  "app/start/settings/env.ts",
]);

const linesMax = 400;

const root = join(import.meta.dirname.replaceAll("\\", "/"), "../..");
const sources: readonly Source[] = ["core", "db", "jobs", "app"]
  // Browser code has its own modules and types, which the service never imports.
  .flatMap((folder) =>
    globSync(`${folder}/**/*.ts`, { cwd: root, exclude: ["app/console/client/**"] }),
  )
  .map((path) => path.replaceAll("\\", "/"))
  .sort()
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

describe("the sources", () => {
  test("are found", () => {
    expect(sources.length).toBeGreaterThan(10);
  });

  test.each([
    ["import only what their folder may", importFaults],
    ["of app/start import only rooms below their own", roomFaults],
    ["have no cycle of imports", cycleFaults],
    ["have no cycle of imports between folders", folderCycleFaults],
    ["have one home for each name", homeFaults],
    ["have no barrel", barrelFaults],
    ["name no engine outside db/", dialectFaults],
    ["put a scope into statements in one place", narrowingFaults],
    ["start with a comment, stay short and leave nothing to do", habitFaults],
  ])("%s", (_, faultsOf) => {
    expect(faultsOf(sources)).toEqual([]);
  });
});

test("the components of the demo import types, and nothing that runs", () => {
  const paths = globSync("configs/*/components/**/*.{ts,mts,js,mjs}", { cwd: root });
  expect(paths.length).toBeGreaterThan(0);
  const files = paths.map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
  expect(runtimeImports(files)).toEqual([]);
});

test("no folder is a drawer for everything", () => {
  const drawers = globSync("{app,core,db,jobs,configs,test,bench}/**/{utils,helpers,common,lib}", {
    cwd: root,
    exclude: ["**/node_modules/**"],
  }).filter((path) => statSync(join(root, path)).isDirectory());
  expect(drawers).toEqual([]);
});

describe("the rules find", () => {
  const comment = "/** A file. */\n";
  const file = (path: string, code: string): Source => ({ path, text: comment + code });

  test.each([
    ["a forbidden folder", file("core/a.ts", `import { b } from "../db/b.ts";`)],
    ["a forbidden type", file("core/a.ts", `import type { B } from "../db/b.ts";`)],
    ["a forbidden type in a type", file("core/a.ts", `let b: import("../db/b.ts").B;`)],
    ["a forbidden lazy import", file("db/a.ts", `const b = await import("../app/b.ts");`)],
    [
      "a forbidden re-export",
      file("app/http/a.ts", `export { b } from "../../db/b.ts"; const c = 1;`),
    ],
    ["a driver outside its engine", file("db/connections/a.ts", `import pg from "postgres";`)],
    ["an engine in another", file("db/engines/mysql/a.ts", `import "../sqlite/b.ts";`)],
    ["a forbidden package", file("core/a.ts", `import { Hono } from "hono";`)],
    ["a forbidden subpath", file("app/http/a.ts", `import { sql } from "drizzle-orm/sql/sql";`)],
    ["Node in core", file("core/a.ts", `import { join } from "node:path";`)],
    ["the core in a browser's adapter", file("app/adapters/a.ts", `import "../../core/b.ts";`)],
    ["Node without its prefix", file("core/a.ts", `import { join } from "path";`)],
    ["an import whose target is not a literal", file("db/a.ts", `await import(name);`)],
    ["a test imported by a source", file("db/a.ts", `import { a } from "../test/a.ts";`)],
    ["the database in a job", file("jobs/queue/a.ts", `import { b } from "../../db/b.ts";`)],
    ["the edge in a job", file("jobs/a.ts", `import { b } from "../app/b.ts";`)],
    ["the start in a job", file("jobs/thread/a.ts", `import { b } from "../../app/start/b.ts";`)],
    ["the start in the edge", file("app/http/a.ts", `import { b } from "../start/b.ts";`)],
  ])("%s", (_, source) => {
    expect(importFaults([source])).toHaveLength(1);
  });

  test.each([
    ["an import of the own folder", file("core/a.ts", `import { b } from "./b.ts";`)],
    ["a subpath of an allowed package", file("app/http/a.ts", `import { cors } from "hono/cors";`)],
    ["anything in an entry", file("core/config/reading/write-schemas.ts", `import "node:fs";`)],
    ["anything in app/start", file("app/start/a.ts", `import { b } from "../../db/b.ts";`)],
    ["a text that looks like an import", file("core/a.ts", `const a = 'import "hono"';`)],
    ["a comment that looks like an import", file("core/a.ts", `// import "hono";`)],
  ])("nothing in %s", (_, source) => {
    expect(importFaults([source])).toEqual([]);
  });

  test("an import that runs in a component, and no import of types", () => {
    const found = [
      `import { HookError } from "../../../core/hook.ts";`,
      `import { type HookContext, HookError } from "../../../core/hook.ts";`,
      `import "node:fs";`,
      `export * from "./words.ts";`,
      `const fs = await import("node:fs");`,
    ];
    const path = "configs/demo/components/a.ts";
    for (const code of found) expect(runtimeImports([file(path, code)]), code).toHaveLength(1);
    const types = `import type { HookContext } from "../../../core/hook.ts"; export const a = 1;`;
    expect(runtimeImports([file(path, types)])).toEqual([]);
  });

  test("a cycle of types", () => {
    const cycle = [
      file("core/a.ts", `import { b } from "./b.ts";`),
      file("core/b.ts", `import type { c } from "./c.ts";`),
      file("core/c.ts", `import { a } from "./a.ts";`),
    ];
    expect(cycleFaults(cycle)).toEqual(["core/a.ts -> core/b.ts -> core/c.ts -> core/a.ts"]);
    expect(cycleFaults(cycle.slice(0, 2))).toEqual([]);
  });

  test("a cycle between folders, where no file is in a cycle", () => {
    const cycle = [
      file("jobs/a/one.ts", `import { b } from "../b/two.ts";`),
      file("jobs/b/two.ts", `import type { c } from "./three.ts";`),
      file("jobs/b/three.ts", `import { a } from "../a/four.ts";`),
    ];
    expect(folderCycleFaults(cycle)).toEqual(["jobs/a -> jobs/b -> jobs/a"]);
    expect(folderCycleFaults(cycle.slice(0, 2))).toEqual([]);
    expect(cycleFaults(cycle)).toEqual([]);
    const files = [
      file("jobs/one.ts", `import { b } from "./b/two.ts";`),
      file("jobs/b/two.ts", `import { a } from "../three.ts";`),
    ];
    expect(folderCycleFaults(files)).toEqual(["jobs -> jobs/b -> jobs"]);
  });

  test("two homes of one name", () => {
    const files = [
      file("core/a/one.ts", "export const a = 1;"),
      file("core/b/two.ts", "export function a() {}"),
      file("core/c/one.ts", "export const c = 1;"),
    ];
    expect(homeFaults(files)).toEqual([
      "one.ts is in core/a/one.ts and core/c/one.ts",
      "a is in core/a/one.ts and core/b/two.ts",
    ]);
    const engines = ["mysql", "sqlite"].map((name) =>
      file(`db/engines/${name}/dialect.ts`, "export const dialect = 1;"),
    );
    expect(homeFaults(engines)).toEqual([]);
  });

  test("an import of what starts the program", () => {
    const code = `import { a } from "../../app/start/a.ts";`;
    for (const path of ["jobs/queue/a.ts", "core/values/a.ts", "db/statements/a.ts"])
      expect(importFaults([file(path, code)]), path).toHaveLength(1);
    expect(importFaults([file("app/start/b.ts", `import { a } from "./a.ts";`)])).toEqual([]);
  });

  test("a room above in a room of app/start, an unknown room, and too many entries", () => {
    const room = (from: string, to: string) =>
      roomFaults([file(`app/start/${from}/a.ts`, `import { b } from "../${to}/b.ts";`)]);
    expect(room("settings", "opening")).toHaveLength(1);
    expect(room("servers", "commands")).toHaveLength(1);
    expect(room("cellar", "settings")).toHaveLength(1);
    expect(
      roomFaults([file("app/start/opening/a.ts", `import { b } from "../b.ts";`)]),
    ).toHaveLength(1);
    expect(room("commands", "servers")).toEqual([]);
    expect(roomFaults([file("app/start/a.ts", `import { b } from "./commands/b.ts";`)])).toEqual(
      [],
    );
    const entry = (_: unknown, at: number) => file(`app/start/a${at}.ts`, "");
    expect(roomFaults(Array.from({ length: entriesMax }, entry))).toEqual([]);
    expect(roomFaults(Array.from({ length: entriesMax + 1 }, entry))).toHaveLength(1);
  });

  test("a barrel, but no file that also says something", () => {
    expect(barrelFaults([file("core/a.ts", `export * from "./b.ts";`)])).toHaveLength(1);
    expect(
      barrelFaults([file("core/a.ts", `import { b } from "./b.ts"; export { b };`)]),
    ).toHaveLength(1);
    expect(
      barrelFaults([file("core/a.ts", `export * from "./b.ts"; export const c = 1;`)]),
    ).toEqual([]);
  });

  test.each([
    ["an identifier", `const isPostgres = true;`],
    ["a string", `const engine = "mysql";`],
    ["a template", "const url = `sqlite:${path}`;"],
  ])("an engine in %s", (_, code) => {
    expect(dialectFaults([file("core/a.ts", code)])).toHaveLength(1);
    expect(dialectFaults([file("jobs/a.ts", code)])).toHaveLength(1);
    for (const path of ["db/a.ts", ...namesOfDatabases])
      expect(dialectFaults([file(path, code)])).toEqual([]);
  });

  test("a statement that is called narrowed elsewhere", () => {
    const code = "const select = statement as Narrowed<Select>;";
    expect(narrowingFaults([file("core/a.ts", code)])).toHaveLength(1);
    expect(narrowingFaults([file("core/callers/narrow.ts", code)])).toEqual([]);
  });

  test("a file without a comment, a long one and one that is unfinished", () => {
    const long = "\n".repeat(linesMax);
    for (const text of ["const a = 1;", `${comment}${long}a();`, `${comment}// TO${"DO"}: more`]) {
      expect(habitFaults([{ path: "core/a.ts", text }])).toHaveLength(1);
    }
  });
});

function importFaults(all: readonly Source[]): string[] {
  return all.flatMap((source) => {
    const folder = folders[folderOf(source.path)];
    if (!folder || mayImportAll(source.path)) return [];
    return importsOf(source)
      .filter(({ target }) => !isAllowed(folder, source.path, target))
      .map(({ target }) => `${source.path} may not import ${target}`);
  });
}

function roomFaults(all: readonly Source[]): string[] {
  const files = all.filter(({ path }) => path.startsWith(`${startFolder}/`));
  const onTop = files.filter(({ path }) => roomOf(path) === null).length;
  return [
    ...(onTop > entriesMax ? [`${startFolder} has ${onTop} entries`] : []),
    ...files.flatMap((source) => {
      const room = roomOf(source.path);
      if (room === null) return [];
      const below = rooms[room];
      if (!below) return [`${source.path} is in a room without a row`];
      return filesImportedBy(source)
        .filter((path) => path.startsWith(`${startFolder}/`))
        .filter((path) => roomOf(path) !== room && !below.includes(roomOf(path) ?? ""))
        .map((path) => `${source.path} may not import ${path}`);
    }),
  ];
}

/** Null: not in a room. */
const roomOf = (path: string): string | null =>
  path.slice(startFolder.length + 1).match(/^([^/]+)\//)?.[1] ?? null;

/** Imports that are still there when the types are gone. */
function runtimeImports(all: readonly Source[]): string[] {
  return all.flatMap((source) =>
    nodesOf(source)
      .filter(({ type, source: target, importKind, exportKind }) => {
        const passes = type === "ImportExpression" || (/^(Import|Export)/.test(type) && target);
        return passes && importKind !== "type" && exportKind !== "type";
      })
      .map(({ type }) => `${source.path} has an ${type}`),
  );
}

function isAllowed(folder: Folder, from: string, target: string): boolean {
  if (isRelative(target)) {
    const path = resolve(from, target);
    return folder.project.includes(folderOf(path)) && !mayImportAll(path);
  }
  if (target.startsWith("node:") || builtinModules.includes(target)) {
    return target.startsWith("node:") && folder.packages.includes("node:");
  }
  return folder.packages.some((name) => target === name || target.startsWith(`${name}/`));
}

function cycleFaults(all: readonly Source[]): string[] {
  return cyclesIn(new Map(all.map((source) => [source.path, filesImportedBy(source)])));
}

/** Folders form no import cycle either. A folder does not include its subfolders here. */
function folderCycleFaults(all: readonly Source[]): string[] {
  const graph = new Map<string, string[]>();
  for (const source of all) {
    const folder = dirname(source.path);
    const others = filesImportedBy(source).map(dirname);
    const known = graph.get(folder) ?? [];
    graph.set(folder, [...known, ...others.filter((other) => other !== folder)]);
  }
  return cyclesIn(graph);
}

const filesImportedBy = (source: Source): string[] =>
  importsOf(source)
    .filter(({ target }) => isRelative(target))
    .map(({ target }) => resolve(source.path, target));

/** Each engine has files and functions of the same names: those of the interface. */
const engineFolder = /^db\/engines\/\w+\//;

/** Two files or two exports with the same name are easily confused. */
function homeFaults(all: readonly Source[]): string[] {
  const homes = new Map<string, string[]>();
  for (const source of all.filter(({ path }) => !engineFolder.test(path))) {
    const names = [...source.text.matchAll(exported)].map(([, name]) => name!);
    // Overloads of a function are one export.
    for (const name of new Set([basename(source.path), ...names])) {
      if (sharedNames.has(name)) continue;
      homes.set(name, [...(homes.get(name) ?? []), source.path]);
    }
  }
  return [...homes].flatMap(([name, paths]) =>
    paths.length > 1 ? [`${name} is in ${paths.join(" and ")}`] : [],
  );
}

const exported =
  /^export (?:async )?(?:function\*?|const|class|interface|type) ([A-Za-z_$][\w$]*)/gm;

/**
 * `listen`: of the entry of each runtime; only one of them is ever loaded. `dataProvider`: of the entry for each
 * framework; a page has one of them.
 */
const sharedNames: ReadonlySet<string> = new Set(["listen", "dataProvider"]);

/** `graph`: what each file or folder imports. */
function cyclesIn(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const faults: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) faults.push([...trail.slice(start), path].join(" -> "));
    if (start >= 0 || done.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return faults;
}

function barrelFaults(all: readonly Source[]): string[] {
  return all
    .filter((source) => {
      const statements = parse(source).body;
      return statements.length > 0 && statements.every(passesOn);
    })
    .map(({ path }) => `${path} only passes on what other files export`);
}

function passesOn(statement: Node): boolean {
  if (statement.type === "ExportNamedDeclaration") return !statement.declaration;
  return statement.type === "ExportAllDeclaration" || statement.type === "ImportDeclaration";
}

function dialectFaults(all: readonly Source[]): string[] {
  return all
    .filter(({ path }) => topFolder(path) !== "db" && !namesOfDatabases.has(path))
    .flatMap((source) =>
      wordsOf(source)
        .filter((word) => /postgres|mysql|mariadb|sqlite/i.test(word))
        .map((word) => `${source.path} says ${word}`),
    );
}

/** A cast is the only way past the type of narrowed statements. */
function narrowingFaults(all: readonly Source[]): string[] {
  return all.flatMap(({ path, text }) =>
    path !== "core/callers/narrow.ts" && /\bas (unknown as )?Narrowed\b/.test(text)
      ? [`${path} narrows a statement by a cast`]
      : [],
  );
}

function habitFaults(all: readonly Source[]): string[] {
  return all.flatMap(({ path, text }) => {
    const faults: string[] = [];
    if (!/^(#!.*\n)?\s*\/[/*]/.test(text)) faults.push(`${path} does not start with a comment`);
    const lines = text.trimEnd().split("\n").length;
    if (lines > linesMax) faults.push(`${path} has ${lines} lines; ${linesMax} are the limit`);
    if (/\b(TODO|FIXME)\b/.test(text)) faults.push(`${path} leaves something to do`);
    return faults;
  });
}

/** A node of the syntax tree (ESTree with TypeScript), as far as the rules look into it. */
interface Node {
  readonly type: string;
  readonly [member: string]: unknown;
}

interface Program {
  readonly body: readonly Node[];
}

const parsed = new WeakMap<Source, Program>();

function parse(source: Source): Program {
  const program =
    parsed.get(source) ?? (parseAst(source.text, { lang: "ts" }) as unknown as Program);
  parsed.set(source, program);
  return program;
}

/** All imports of the file, of any kind; an import of a computed path has the target `(computed)`. */
function importsOf(source: Source): { target: string }[] {
  const nodesWithSource = new Set([
    "ImportDeclaration",
    "ExportAllDeclaration",
    "ExportNamedDeclaration",
    "ImportExpression",
    "TSImportType",
    "TSExternalModuleReference",
  ]);
  return nodesOf(source)
    .filter(({ type }) => nodesWithSource.has(type))
    .flatMap((node) => {
      const literal = (node.source ?? node.expression) as { value?: unknown } | null | undefined;
      if (!literal) return [];
      return { target: typeof literal.value === "string" ? literal.value : "(computed)" };
    });
}

/** Every identifier, string and piece of template text; not comments, and not the targets of imports. */
function wordsOf(source: Source): string[] {
  const targets = new Set(importsOf(source).map(({ target }) => target));
  return nodesOf(source).flatMap((node) => {
    if (node.type === "Identifier") return String(node.name);
    if (node.type === "TemplateElement") return String((node.value as { raw: string }).raw);
    const isText = node.type === "Literal" && typeof node.value === "string";
    return isText && !targets.has(node.value as string) ? (node.value as string) : [];
  });
}

function nodesOf(source: Source): Node[] {
  const found: Node[] = [];
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(walk);
    if (typeof value !== "object" || value === null) return;
    if (typeof (value as Node).type === "string") found.push(value as Node);
    Object.values(value).forEach(walk);
  };
  walk(parse(source));
  return found;
}

const mayImportAll = (path: string): boolean =>
  entries.has(path) || path.startsWith(`${startFolder}/`);
const isRelative = (target: string): boolean => target.startsWith(".");
const resolve = (from: string, target: string): string => join(dirname(from), target);
/** The innermost folder whose rules hold for the file. */
const folderOf = (path: string): string =>
  Object.keys(folders)
    .filter((folder) => path.startsWith(`${folder}/`))
    .reduce((inner, folder) => (folder.length > inner.length ? folder : inner), topFolder(path));
const topFolder = (path: string): string => path.split("/")[0] ?? "";
