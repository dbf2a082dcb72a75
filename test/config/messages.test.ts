/** `messages/<language>.json`, judged when the files are loaded. */
import { describe, expect, test } from "vitest";
import { languageFor } from "../../core/plans/messages.ts";
import { filesOf, load, sentenceOf } from "./shop.ts";

const items = { tableName: "products", action: { read: true } };
const loaded = (messages: unknown, name = "de") =>
  load(filesOf({ "items.json": items, [`messages/${name}.json`]: messages }));

describe("messages are refused for", () => {
  const cases: readonly [name: string, messages: unknown, ...words: string[]][] = [
    ["a list", [], "$"],
    ["text that is no JSON", "{", "messages/de.json"],
    ["an unknown rule", { minn: "x" }, "minn", 'did you mean "min"?'],
    ["a rule without a message", { default: "x" }, "default"],
    ["a text that is none", { min: 1 }, "min"],
    ["an empty text", { min: "" }, "min"],
    ["a placeholder of another rule", { min: "von {max}" }, "min", "{min}"],
    ["a placeholder of a rule without a value", { required: "{required}" }, "required", "without"],
    ["a label that is none", { fieldLabels: { name: 1 } }, "fieldLabels.name"],
    ["an endpoint's label that is none", { endpointLabels: { items: {} } }, "endpointLabels.items"],
    [
      "an empty title of the dashboard",
      { dashboardLabels: { Stock: "" } },
      "dashboardLabels.Stock",
    ],
    ["an empty label of a view", { viewLabels: { Dear: "" } }, "viewLabels.Dear"],
    ["an empty label of a group", { groupLabels: { Stock: "" } }, "groupLabels.Stock"],
    ["an empty verb", { stepLabels: { Post: "" } }, "stepLabels.Post"],
    ["a label below a label", { fieldLabels: { items: { name: {} } } }, "fieldLabels.items"],
  ];
  test.each(cases)("%s", async (_, messages, ...words) => {
    const faults = (await loaded(messages)).faults.map(sentenceOf).join("\n");
    for (const word of words) expect(faults).toContain(word);
  });

  test("a name that is no language", async () => {
    const faults = (await loaded({}, "german texts")).faults.map(sentenceOf);
    expect(faults).toEqual([expect.stringContaining("a language as name, such as de or pt-BR")]);
  });
});

test("messages give texts and labels", async () => {
  const { faults, projects } = await loaded({
    min: "{min}, {min}",
    fieldLabels: { name: "Name", items: { name: "Artikel" } },
  });
  expect(faults).toEqual([]);
  const texts = projects[0]!.messages.get("de")!;
  expect(texts.rules.get("min")).toBe("{min}, {min}");
  expect([texts.labelOf("items", "name"), texts.labelOf("others", "name")]).toEqual([
    "Artikel",
    "Name",
  ]);
  expect(texts.labelOf("items", "items")).toBeUndefined();
  expect(texts.labelOf("items", "constructor")).toBeUndefined();
});

describe("names that lead nowhere", () => {
  const files = {
    "items.json": {
      ...items,
      console: {
        group: "Stock",
        views: { Dear: { where: [{ key: "stock", operator: ">", value: 5 }] } },
      },
    },
    "receipts.json": {
      tableName: "receipts",
      action: { read: true, "change-status": true },
      console: { steps: { open: "Open" } },
      workflow: {},
    },
    "dashboard.json": {
      title: "Shop",
      tiles: [{ title: "Items", endpoint: "items", action: "read", body: {}, show: "table" }],
    },
  };
  const loadedWith = (messages: object, more = {}) =>
    load(filesOf({ ...files, "messages/de.json": messages, ...more }));
  async function noticesOf(messages: object): Promise<readonly string[]> {
    const { faults, notices } = await loadedWith(messages);
    expect(faults.map(sentenceOf)).toEqual([]);
    return notices;
  }

  const cases: readonly [messages: object, notice: string][] = [
    [
      { fieldLabels: { nmae: "x" } },
      'fieldLabels.nmae has no effect: it is not the name of a field; did you mean "name"?',
    ],
    [
      { fieldLabels: { itms: { name: "x" } } },
      'fieldLabels.itms has no effect: it is not the name of an endpoint; did you mean "items"?',
    ],
    [
      { fieldLabels: { items: { total: "x" } } },
      "fieldLabels.items.total has no effect: it is not the name of a field",
    ],
    [
      { fieldLabels: { "maker.name": "x" } },
      'fieldLabels["maker.name"] has no effect: it is not the name of a field',
    ],
    [
      { endpointLabels: { item: "x" } },
      'endpointLabels.item has no effect: it is not the name of an endpoint; did you mean "items"?',
    ],
    [
      { groupLabels: { Stok: "x" } },
      `groupLabels.Stok has no effect: it is not the name of a group of an endpoint's file; did you mean "Stock"?`,
    ],
    [
      { stepLabels: { open: "x" } },
      `stepLabels.open has no effect: it is not the name of a verb in the steps of an endpoint's file; did you mean "Open"?`,
    ],
    [
      { viewLabels: { Deer: "x" } },
      `viewLabels.Deer has no effect: it is not the name of a view of an endpoint's file; did you mean "Dear"?`,
    ],
    [
      { dashboardLabels: { Item: "x" } },
      'dashboardLabels.Item has no effect: it is not the name of a text of dashboard.json; did you mean "Items"?',
    ],
  ];
  test.each(cases)("%j are told", async (messages, notice) => {
    expect(await noticesOf(messages)).toEqual([`shop/messages/de.json: ${notice}`]);
  });

  test.each([
    [{ fieldLabels: { name: "x", total: "x", items: { stock: "x" } } }],
    [{ endpointLabels: { items: "x" }, groupLabels: { Stock: "x" }, stepLabels: { Open: "x" } }],
    [{ viewLabels: { Dear: "x" }, dashboardLabels: { Shop: "x", Items: "x" } }],
  ])("%j lead somewhere", async (messages) => {
    expect(await noticesOf(messages)).toEqual([]);
  });

  test("are not guessed beside an endpoint with a fault", async () => {
    const faulty = { tableName: "productz", action: { read: true } };
    const { notices } = await loadedWith({ fieldLabels: { nmae: "x" } }, { "more.json": faulty });
    expect(notices).toEqual([]);
  });
});

test("the header names the language, whatever it holds", () => {
  const messages = new Map([["de", {} as never]]);
  for (const header of [null, "", ",", ";q", "*", "xx-".repeat(999), "de".repeat(999), "\u0000"])
    expect(languageFor(header, messages)).toBe("en");
});
