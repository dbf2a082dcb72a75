/** `messages/<language>.json` of a project. Rules and placeholders that do not exist are faults. */
import { z } from "zod";
import type { LanguageTexts, Messages } from "../../plans/messages.ts";
import { showsValue } from "../../rules/explained.ts";
import type { MessageName } from "../../rules/rule-definition.ts";
import { checkShape } from "./check.ts";
import { readDocument } from "./document.ts";
import type { Fault } from "./faults.ts";
import { messageNames } from "./rule-schema.ts";

/** Rules that describe a text, and need no message. */
const named: readonly MessageName[] = [...messageNames, "unique"].filter(
  (name, at, all): name is MessageName => all.indexOf(name) === at,
);

const textOf = (rule: MessageName) => {
  const known = showsValue(rule) ? `{${rule}}` : null;
  return z
    .string()
    .min(1)
    .refine((text) => (text.match(/\{[^{}]*\}/g) ?? []).every((one) => one === known), {
      error: known === null ? "a text without placeholders" : `no other placeholder than ${known}`,
    })
    .optional()
    .describe(`When ${rule} fails.`);
};

const label = z.string().min(1);
const labels = (description: string) =>
  z.record(z.string(), label).default({}).describe(description);

export const messagesSchema = z
  .strictObject({
    $schema: z.string().optional().describe("The JSON Schema of this file, for editors."),
    ...Object.fromEntries(named.map((rule) => [rule, textOf(rule)])),
    importErrors: label
      .optional()
      .describe("The heading of the reasons in files with the rejected rows of an import."),
    fieldLabels: z
      .record(z.string(), z.union([label, z.record(z.string(), label)]))
      .default({})
      .describe("Labels of fields in all endpoints, or by the name of an endpoint in that one."),
    endpointLabels: labels("Names of endpoints for people, by the name of the endpoint."),
    groupLabels: labels(
      "Names of groups in the menu of the console, by the group in the endpoints' files.",
    ),
    stepLabels: labels(
      "Verbs on the buttons that lead to a status, by the verb in the endpoints' files.",
    ),
    dashboardLabels: labels("Titles and headings of the dashboard, by the text in dashboard.json."),
    viewLabels: labels("Names of views in the console, by the name in the endpoints' files."),
  })
  .meta({ title: "Rowgate messages", description: "Texts of one language." });

const languageFile = /^messages\/([^/]+)\.json$/i;
const languageTag = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/;

export function readMessages(
  project: string,
  folder: ReadonlyMap<string, string>,
  faults: Fault[],
): Messages {
  const messages = new Map<string, LanguageTexts>();
  for (const [path, text] of folder) {
    const tag = languageFile.exec(path)?.[1];
    if (tag === undefined) continue;
    const file = `${project}/${path}`;
    faults.push(...suffixFaults(file));
    if (!languageTag.test(tag))
      faults.push({
        file,
        path: "$",
        found: `the name ${JSON.stringify(tag)}`,
        expected: "a language as name, such as de or pt-BR",
      });
    const { document, faults: textFaults } = readDocument(file, text);
    faults.push(...textFaults);
    if (document === null) continue;
    const checked = checkShape(messagesSchema, document, document.value);
    faults.push(...checked.faults);
    if (checked.value !== null) messages.set(tag, textsOf(checked.value));
  }
  return messages;
}

/** Whether the name ends in `.JSON`: on most systems this is another name, so the file would not be found. */
export const suffixFaults = (file: string): Fault[] =>
  file.endsWith(".json")
    ? []
    : [{ file, path: "$", found: `a name that ends in ${file.slice(-5)}`, expected: ".json" }];

function textsOf({
  fieldLabels,
  importErrors,
  endpointLabels,
  groupLabels,
  stepLabels,
  viewLabels,
  dashboardLabels,
  ...texts
}: z.output<typeof messagesSchema>): LanguageTexts {
  const rules = new Map(
    named.flatMap((rule) => {
      const text = (texts as Readonly<Record<string, string | undefined>>)[rule];
      return text === undefined ? [] : [[rule, text] as const];
    }),
  );
  const fields = new Map(Object.entries(fieldLabels));
  return {
    rules,
    importErrors,
    fields,
    endpoints: new Map(Object.entries(endpointLabels)),
    groups: new Map(Object.entries(groupLabels)),
    steps: new Map(Object.entries(stepLabels)),
    dashboard: new Map(Object.entries(dashboardLabels)),
    views: new Map(Object.entries(viewLabels)),
    labelOf(endpoint, field) {
      const own = fields.get(endpoint);
      const ofEndpoint = typeof own === "object" && Object.hasOwn(own, field) ? own[field] : null;
      const ofAll = fields.get(field);
      return ofEndpoint ?? (typeof ofAll === "string" ? ofAll : undefined);
    },
  };
}
