/** `components` of an endpoint: accepted forms, errors for handlers that cannot be called, and loading real files. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { importFrom } from "../../app/start/settings/component-modules.ts";
import { readConfigFiles } from "../../app/start/settings/config-files.ts";
import { createLog } from "../../app/start/observing/log.ts";
import { checkConfig } from "../../app/start/commands/check-config.ts";
import { ConfigError } from "../../app/start/settings/config-error.ts";
import { openService } from "../../app/start/servers/wire.ts";
import { compileProject } from "../../core/config/compile-project.ts";
import type { ImportComponent } from "../../core/config/compiling/components-plan.ts";
import { readConfig } from "../../core/config/reading/read-config.ts";
import { catalog, filesOf, sentenceOf } from "./shop.ts";

const modules: Readonly<Record<string, object>> = {
  "shop/components/code.ts": {
    normalise: () => undefined,
    check: () => undefined,
    default: () => undefined,
    list: ["no function"],
  },
  "shop/components/deep/more.js": { run: () => undefined },
  "shop/components/empty.ts": {},
};

const importComponent: ImportComponent = async (path) => {
  if (path.endsWith("broken.ts")) throw new SyntaxError("Unexpected token '}'");
  return { ...modules[path] };
};

const base = {
  tableName: "products",
  action: { create: true, update: true, delete: true, adjust: false },
};

async function compile(
  components: unknown,
  { more = {}, ...load }: { importComponent?: ImportComponent; more?: object } = {
    importComponent,
  },
) {
  const files = filesOf({
    "items.json": { ...base, components, ...more },
    "components/code.ts": "",
    "components/deep/more.js": "",
    "components/empty.ts": "",
    "components/broken.ts": "",
    "components/notes.txt": "",
    "query/open.sql": "select 1",
  });
  const { projects, faults } = readConfig(files, {});
  const compiled = await Promise.all(
    projects.map((project) => compileProject(project, catalog, load)),
  );
  return {
    faults: [...faults, ...compiled.flatMap((one) => one.faults)],
    notices: compiled.flatMap((one) => one.notices),
    entity: compiled[0]?.entities.get("items"),
  };
}

describe("components are", () => {
  test.each<[string, object, string[]]>([
    [
      "handlers in their order",
      { onBeforeInsert: ["components/code.ts#check", "components/code.ts#normalise"] },
      ["check", "normalise"],
    ],
    [
      "the same handler twice",
      { onBeforeInsert: ["components/code.ts#check", "components/code.ts#check"] },
      ["check", "check"],
    ],
    ["a file in a folder", { onBeforeInsert: ["components/deep/more.js#run"] }, ["run"]],
    [
      "a path that begins with a point",
      { onBeforeInsert: ["./components/code.ts#check"] },
      ["check"],
    ],
    ["a default export", { onBeforeInsert: ["components/code.ts#default"] }, ["default"]],
    ["an empty list", { onBeforeInsert: [] }, []],
  ])("%s", async (_, components, names) => {
    const { faults, entity } = await compile(components);
    expect(faults).toEqual([]);
    const found = entity!.handlers.get("onBeforeInsert") ?? [];
    expect(found.map(({ name }) => name.split("#")[1])).toEqual(names);
    expect(found.every(({ run }) => typeof run === "function")).toBe(true);
  });

  test("none where none are named, so that writes stay single statements", async () => {
    expect((await compile({})).entity!.handlers.size).toBe(0);
    expect((await compile({ onBeforeInsert: [] })).entity!.handlers.size).toBe(0);
  });

  test("named in a notice when their event never comes", async () => {
    const { faults, notices } = await compile({ onBeforeAdjust: ["components/code.ts#check"] });
    expect(faults).toEqual([]);
    expect(notices.join("\n")).toContain(
      "components.onBeforeAdjust never runs: adjust is switched off",
    );
    expect((await compile({ onAfterInsert: ["components/code.ts#check"] })).notices).toEqual([]);
  });

  const imports = (runHooks: boolean, action: object = { import: true }) => ({
    importComponent,
    more: { action, importConfig: { runHooks } },
  });
  test.each([
    ["come with the rows of an import", imports(true), []],
    ["do not come without runHooks", imports(false), [/onAfterUpdate never runs/]],
    ["do not come without import", imports(true, { read: true }), [/onAfterUpdate never runs/]],
  ])("that %s are told apart", async (_, load, expected) => {
    const { notices } = await compile({ onAfterUpdate: ["components/code.ts#check"] }, load);
    const told = notices.filter((notice) => notice.includes("components"));
    expect(told).toEqual(expected.map((text) => expect.stringMatching(text)));
  });

  test("missed in a notice where the rows of an import should have some", async () => {
    const { notices } = await compile({}, imports(true));
    expect(notices).toContainEqual(
      expect.stringContaining(
        "importConfig.runHooks has no effect: components has no handler for inserts or updates",
      ),
    );
  });
});

describe("a fault is", () => {
  const first = "components.onBeforeInsert[0]";
  test.each<[string, unknown, string, string]>([
    [
      "an unknown event",
      { onBeforInsert: ["components/code.ts#check"] },
      "components.onBeforInsert",
      'did you mean "onBeforeInsert"?',
    ],
    [
      "an event of no action",
      { onBeforeRead: ["components/code.ts#check"] },
      "components.onBeforeRead",
      "one of onBeforeInsert",
    ],
    ["a list instead of events", ["components/code.ts#check"], "components", "onBeforeInsert"],
    [
      "a text instead of a list",
      { onBeforeInsert: "components/code.ts#check" },
      "components.onBeforeInsert",
      "a list",
    ],
    ["an empty name", { onBeforeInsert: [""] }, first, "a string that is not empty"],
    [
      "a file that is not there",
      { onBeforeInsert: ["components/cod.ts#check"] },
      first,
      'did you mean "components/code.ts"?',
    ],
    [
      "a file without its folder",
      { onBeforeInsert: ["code.ts#check"] },
      first,
      "a file in the folder shop",
    ],
    [
      "a file outside of the project",
      { onBeforeInsert: ["../shop/components/code.ts#check"] },
      first,
      "a file in the folder shop",
    ],
    [
      "a file of another kind",
      { onBeforeInsert: ["query/open.sql#check"] },
      first,
      "a file in the folder shop",
    ],
    [
      "a file that is no code",
      { onBeforeInsert: ["components/notes.txt#check"] },
      first,
      "a file in the folder shop",
    ],
    ["no export", { onBeforeInsert: ["components/code.ts"] }, first, "check, default"],
    [
      "an empty export",
      { onBeforeInsert: ["components/code.ts#"] },
      first,
      "components/code.ts#check",
    ],
    [
      "an export that is not there",
      { onBeforeInsert: ["components/code.ts#normalize"] },
      first,
      'did you mean "normalise"?',
    ],
    [
      "a name of every object",
      { onBeforeInsert: ["components/code.ts#toString"] },
      first,
      "normalise, check",
    ],
    [
      "an export that is no function",
      { onBeforeInsert: ["components/code.ts#list"] },
      first,
      "list, which is not a function",
    ],
    [
      "a file without exports",
      { onBeforeInsert: ["components/empty.ts#check"] },
      first,
      "it exports none",
    ],
    [
      "a file that cannot be loaded",
      { onBeforeInsert: ["components/broken.ts#check"] },
      first,
      "Unexpected token",
    ],
  ])("%s", async (_, components, path, words) => {
    const { faults, entity } = await compile(components);
    expect(faults.map((fault) => [fault.file, fault.path])).toEqual([["shop/items.json", path]]);
    expect(sentenceOf(faults[0]!)).toContain(words);
    expect(entity).toBeUndefined();
  });

  test("each of several, in one run", async () => {
    const { faults } = await compile({
      onBeforeInsert: ["components/code.ts#check", "components/none.ts#check"],
      onAfterDelete: ["components/code.ts#chek"],
    });
    expect(faults.map(({ path }) => path)).toEqual([
      "components.onBeforeInsert[1]",
      "components.onAfterDelete[0]",
    ]);
  });

  test("a handler where nothing can load one", async () => {
    const { faults } = await compile({ onBeforeInsert: ["components/code.ts#check"] }, {});
    expect(sentenceOf(faults[0]!)).toContain("cannot load components");
  });
});

describe("files of a folder", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rowgate-components-"));
    await write("package.json", '{"type": "module"}');
    await write("shop/project.json", '{"database": {"url": "sqlite::memory:"}}');
    await write(
      "shop/components/words.ts",
      "export const loud = (text: string): string => text.toUpperCase();",
    );
    await write(
      "shop/components/code.ts",
      'import { loud } from "./words.ts";\nexport async function shout({ data }: { data: { text: string } }) {\n  return { text: loud(data.text) };\n}\n',
    );
    await write("shop/components/broken.ts", "export function {");
    await write("shop/components/node_modules/a/index.js", "");
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  const optionsFor = async (components: object, tableName?: string) => {
    const endpoint = { action: {}, viewQuery: "select 1 as one", components, tableName };
    await write("shop/items.json", JSON.stringify(endpoint));
    const files = await readConfigFiles(folder);
    return { files, env: {}, log: createLog("silent"), importComponent: importFrom(folder) };
  };

  test("are loaded, with what they import", async () => {
    const exported = await importFrom(folder)("shop/components/code.ts");
    const shout = exported["shout"] as (context: object) => Promise<unknown>;
    expect(await shout({ data: { text: "abc" } })).toEqual({ text: "ABC" });
  });

  test("are read, but not the packages that they may bring along", async () => {
    expect([...(await optionsFor({})).files.keys()].toSorted()).toEqual([
      "shop/components/broken.ts",
      "shop/components/code.ts",
      "shop/components/words.ts",
      "shop/items.json",
      "shop/project.json",
    ]);
  });

  test("are known to the service at its start, and to the check", async () => {
    const options = await optionsFor({ onBeforeInsert: ["components/code.ts#shout"] });
    const service = await openService(options);
    await service.close();
    expect((await checkConfig(options)).faults).toEqual([]);
  });

  test.each([
    ["a file that is not there", "components/cod.ts#shout", 'did you mean "components/code.ts"?'],
    ["a function that is not there", "components/code.ts#shot", 'did you mean "shout"?'],
    ["a file that is no program", "components/broken.ts#shout", "cannot be loaded"],
  ])("end the start and fail the check: %s", async (_, reference, words) => {
    const options = await optionsFor({ onBeforeInsert: [reference] });
    const refused = await openService(options).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ConfigError);
    expect((refused as Error).message).toContain(words);
    const { faults } = await checkConfig(options);
    expect(faults).toMatchObject([
      { file: "shop/items.json", path: "components.onBeforeInsert[0]", line: 1 },
    ]);
  });
});
