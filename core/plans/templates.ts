/**
 * Texts with variables, in the URL and body of a workflow's hooks: `{{id}}`, `{{record.total}}`. They are parsed once,
 * at start, and filled in one pass: a value that itself looks like a variable stays text.
 */
import { closest } from "../values/closest.ts";
import { ExactNumber, isObject } from "../values/json.ts";
import type { Row } from "../values/row.ts";

export const plainVariables = [
  "id",
  "newStatus",
  "oldStatus",
  "remarks",
  "tableName",
  "user_id",
  "timestamp",
] as const;

type PlainVariable = (typeof plainVariables)[number];

export type Variable =
  | { readonly from: "change"; readonly name: PlainVariable }
  /** A column of the record, or a member of the request's body. */
  | { readonly from: "record" | "requestData"; readonly name: string };

/** Literal pieces and variables, in order. */
export type Template = readonly (string | Variable)[];

/** A JSON value whose texts are templates. */
export type JsonTemplate =
  | { readonly kind: "text"; readonly template: Template }
  /** JSON text of a number, a boolean or null. */
  | { readonly kind: "literal"; readonly json: string }
  | { readonly kind: "array"; readonly items: readonly JsonTemplate[] }
  | {
      readonly kind: "object";
      readonly members: readonly (readonly [name: string, value: JsonTemplate])[];
    };

/** The values of the variables. */
export interface TemplateValues {
  readonly change: Readonly<Record<PlainVariable, unknown>>;
  readonly record: Row;
  readonly requestData: Readonly<Record<string, unknown>>;
}

export type Parsed =
  | { readonly ok: true; readonly template: Template }
  | { readonly ok: false; readonly found: string; readonly near: string | null };

/** Parses a text. `columns`: the allowed names in `record.<field>`. */
export function parseTemplate(text: string, columns: readonly string[]): Parsed {
  const template: (string | Variable)[] = [];
  let at = 0;
  for (;;) {
    const opening = text.indexOf("{{", at);
    if (opening < 0) break;
    const closing = text.indexOf("}}", opening);
    if (closing < 0) return { ok: false, found: "{{ without }}", near: null };
    const name = text.slice(opening + 2, closing).trim();
    const variable = variableOf(name, columns);
    if (variable === null) {
      const known = [...plainVariables, ...columns.map((column) => `record.${column}`)];
      return { ok: false, found: `the unknown variable {{${name}}}`, near: closest(name, known) };
    }
    if (opening > at) template.push(text.slice(at, opening));
    template.push(variable);
    at = closing + 2;
  }
  if (at < text.length) template.push(text.slice(at));
  return { ok: true, template };
}

/**
 * The URL with every value percent-encoded, so that no value ends the path or adds a parameter. Throws an Error if a
 * value would make a segment `.` or `..`, because encoding does not stop these from changing the path.
 */
export function fillUrl(template: Template, values: TemplateValues): string {
  const url = template
    .map((part) =>
      typeof part === "string"
        ? part
        : // A text that is not valid Unicode has no encoding.
          encodeURIComponent(scalarText(valueOf(part, values)).toWellFormed()),
    )
    .join("");
  if (hasDotSegment(url)) throw new Error("A value would change the path of the hook URL");
  return url;
}

/** Whether a segment of the path is `.` or `..`, encoded or not. */
export function hasDotSegment(url: string): boolean {
  const path = /^[^?#]*/.exec(url)![0];
  return path.split("/").some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
}

/** JSON text. A text that is a single variable becomes the value itself; in other texts values are joined as text. */
export function fillJson(template: JsonTemplate, values: TemplateValues): string {
  switch (template.kind) {
    case "literal":
      return template.json;
    case "array":
      return `[${template.items.map((item) => fillJson(item, values)).join(",")}]`;
    case "object":
      return `{${template.members
        .map(([name, value]) => `${JSON.stringify(name)}:${fillJson(value, values)}`)
        .join(",")}}`;
    case "text":
      return jsonOf(wholeOf(template.template, values));
  }
}

function wholeOf(template: Template, values: TemplateValues): unknown {
  const [first] = template;
  if (template.length === 1 && typeof first === "object") return valueOf(first, values);
  return template
    .map((part) => (typeof part === "string" ? part : scalarText(valueOf(part, values))))
    .join("");
}

function variableOf(name: string, columns: readonly string[]): Variable | null {
  const plain = plainVariables.find((known) => known === name);
  if (plain !== undefined) return { from: "change", name: plain };
  if (name.startsWith("record.")) {
    const column = name.slice("record.".length);
    return columns.includes(column) ? { from: "record", name: column } : null;
  }
  const member = name.startsWith("requestData.") ? name.slice("requestData.".length) : "";
  return member === "" ? null : { from: "requestData", name: member };
}

/** Null for what is not there; members that every object inherits are not. */
function valueOf({ from, name }: Variable, values: TemplateValues): unknown {
  const holder: Readonly<Record<string, unknown>> = values[from];
  return Object.hasOwn(holder, name) ? (holder[name] ?? null) : null;
}

function scalarText(value: unknown): string {
  if (value === null) return "";
  return typeof value === "string" ? value : jsonOf(value);
}

/** As JSON.stringify, with the digits of numbers that a double cannot hold. */
function jsonOf(value: unknown): string {
  if (value instanceof ExactNumber) return value.source;
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${jsonOf(member)}`,
  );
  return `{${members.join(",")}}`;
}
