/** The texts of the console: each language has all of them, and no module has a text of its own. */
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { describe, expect, test } from "vitest";

type Text = string | Record<string, string>;
type Texts = Record<string, Text>;

const client = join(import.meta.dirname, "../../app/console/client");
const read = (name: string): string => readFileSync(join(client, name), "utf8");
const english = JSON.parse(read("words/en.json")) as Texts;
const languages = globSync("words/*.json", { cwd: client }).map((path) => basename(path, ".json"));
const modules = globSync("**/*.js", { cwd: client, exclude: ["vendor/**"] }).toSorted();

const formsOf = (text: Text): string[] => (typeof text === "string" ? [text] : Object.values(text));
const placeholdersOf = (text: string): string[] =>
  [...text.matchAll(/\{(\w+)(?::lower)?\}/g)].map(([, name]) => name!);

/** Of all forms of a text: one can leave the number out. */
const placeholdersIn = (text: Text): string[] =>
  [...new Set(formsOf(text).flatMap(placeholdersOf))].toSorted();

describe.each(languages)("the texts in %s", (language) => {
  const texts = JSON.parse(read(`words/${language}.json`)) as Texts;

  test("are those that English has, in the same order", () => {
    expect(Object.keys(texts)).toEqual(Object.keys(english));
    expect(Object.keys(texts)).toEqual(Object.keys(texts).toSorted());
  });

  test("have the placeholders that the English ones have", () => {
    const found = Object.entries(texts).map(([name, text]) => [name, placeholdersIn(text)]);
    const expected = Object.entries(english).map(([name, text]) => [name, placeholdersIn(text)]);
    expect(found).toEqual(expected);
  });

  test("are not empty, and have no braces or spaces that are left over", () => {
    const wrong = Object.values(texts)
      .flatMap(formsOf)
      .filter(
        (text) =>
          /[{}]/.test(text.replaceAll(/\{\w+(:lower)?\}/g, "")) || !/^\S(.*\S)?$/.test(text),
      );
    expect(wrong).toEqual([]);
  });

  test("have the plural forms of the language, where they have several", () => {
    const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories.toSorted();
    const wrong = Object.entries(texts).filter(
      ([, text]) =>
        typeof text !== "string" && Object.keys(text).toSorted().join() !== forms.join(),
    );
    expect(wrong).toEqual([]);
  });
});

test("each text is used", () => {
  const all = modules.map(read).join("\n");
  expect(Object.keys(english).filter((name) => !all.includes(`"${name}"`))).toEqual([]);
});

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

/** Each node with those around it, the nearest first. */
function* walk(node: Node, around: readonly Node[] = []): Generator<[Node, readonly Node[]]> {
  yield [node, around];
  for (const child of Object.values(node).flat())
    if (isNode(child)) yield* walk(child, [node, ...around]);
}

/** The text of a literal, with `…` for what a template fills in. */
function textOf(node: Node): string | null {
  if (node.type === "Literal") return typeof node["value"] === "string" ? node["value"] : null;
  if (node.type !== "TemplateLiteral") return null;
  const quasis = node["quasis"] as { value: { cooked: string } }[];
  return quasis.map(({ value }) => value.cooked).join("…");
}

const calleeOf = (node: Node | undefined): string =>
  node?.type === "CallExpression" && isNode(node["callee"])
    ? String(node["callee"]["name"] ?? "")
    : "";

const nameIn = (node: Node | undefined): string => {
  const key = node?.type === "Property" && isNode(node["key"]) ? node["key"] : undefined;
  return String(key?.["name"] ?? key?.["value"] ?? "");
};

/** Attributes that people read or hear. */
const readAttributes = ["aria-label", "title", "placeholder", "alt", "label"];
/** Functions whose texts people read, and the place of the text in their arguments. */
const tellers: Record<string, number> = {
  tell: 0,
  offerUndo: 0,
  openDialog: 0,
  confirmed: 0,
  confirm: 0,
  iconButton: 1,
};
/** Names, the same in all languages. */
const names = ["Rowgate", "Rowgate …", "curl", "fetch", "… ms"];

/** Whether people read the text that stands there. */
function isRead(node: Node, around: readonly Node[]): boolean {
  const at = around.findIndex(
    ({ type }) =>
      type !== "ConditionalExpression" &&
      type !== "LogicalExpression" &&
      type !== "ArrayExpression",
  );
  const holder = around[at];
  const part = around[at - 1] ?? node;
  const place = (holder?.["arguments"] as Node[] | undefined)?.indexOf(part) ?? -1;
  const callee = calleeOf(holder);
  if (callee === "h") return place >= 1;
  if (callee in tellers) return place === tellers[callee];
  if (holder?.type === "NewExpression") return (holder["callee"] as Node)["name"] === "Error";
  if (holder?.type === "AssignmentExpression" && isNode(holder["left"])) {
    const property = holder["left"]["property"] as Node | undefined;
    return ["textContent", "title", "placeholder"].includes(String(property?.["name"]));
  }
  return readAttributes.includes(nameIn(holder)) && part === holder?.["value"];
}

/** Whether the program alone reads it: the name of a property, or what an answer is compared with. */
const isCode = (node: Node, holder: Node | undefined): boolean =>
  holder?.type === "BinaryExpression" ||
  holder?.type === "ImportDeclaration" ||
  (holder?.type === "Property" && holder["key"] === node);

/** Several words with a capital letter or a full stop, wherever they stand. */
const isSentence = (text: string): boolean =>
  /^[A-Z][a-z]+ [a-z]+/.test(text) || /[a-z]{2,} [a-z]{2,}.*[.!?…]$/.test(text);

const textsIn = (code: string): string[] =>
  [...walk(parseAst(code) as unknown as Node)].flatMap(([node, around]) => {
    const text = textOf(node);
    if (
      text === null ||
      isCode(node, around[0]) ||
      names.includes(text) ||
      !/[A-Za-z]{2}/.test(text)
    )
      return [];
    return isSentence(text) || isRead(node, around) ? [text] : [];
  });

test.each(modules)("%s has no text of its own", (name) => {
  expect(textsIn(read(name))).toEqual([]);
});

test.each([
  'h("p", "Save")',
  'h("p", { class: "note" }, "Save")',
  'h("p", isNew ? "Create" : t("save"))',
  'h("p", { title: "Close" })',
  'iconButton("trash", "Delete", {})',
  "tell(`Status: ${status}`)",
  'throw new Error("gone")',
  'place.textContent = "empty"',
  'const someFields = "Some fields need another look"',
])("a text in %s is found", (code) => {
  expect(textsIn(code)).toHaveLength(1);
});

test.each([
  'h("p.quiet", { class: "number" }, t("save"))',
  'iconButton("trash", t("delete"), { class: "wide" })',
  'post(`${entity.path}/read`, { operator: "IS NULL" })',
  'if (key === "Escape") go("next")',
  'const isMoved = kind === "Not found"',
  'const keys = { "Control a": pickPage }',
])("no text is found in %s", (code) => {
  expect(textsIn(code)).toEqual([]);
});
