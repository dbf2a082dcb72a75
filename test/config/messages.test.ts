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

test("the header names the language, whatever it holds", () => {
  const messages = new Map([["de", {} as never]]);
  for (const header of [null, "", ",", ";q", "*", "xx-".repeat(999), "de".repeat(999), "\u0000"])
    expect(languageFor(header, messages)).toBe("en");
});
