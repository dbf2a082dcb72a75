/**
 * What an English message says about a field: which rule it is of, and the rule's value. By it messages are written in
 * other languages, and programs get them as data. Other messages (of handlers, of the database) stay as they are.
 */
import type { Column } from "../values/types/column.ts";
import { effectsOf, type Field } from "./field.ts";
import type { MessageName } from "./rule-definition.ts";

export interface Explained {
  readonly rule: MessageName;
  /** The rule's value where it has one that a message shows: a bound, a list, the name of a type. */
  readonly value: unknown;
  /** The configuration has its own text for it. */
  readonly isOwn: boolean;
}

/** Rules without a value that a text could show. */
const flags: ReadonlySet<MessageName> = new Set([
  "required",
  "nullable",
  "unique",
  "positive",
  "negative",
  "integer",
  "uniqueItems",
  "strict",
]);

/** Whether texts of the rule may have the placeholder `{<rule>}`. */
export const showsValue = (rule: MessageName): boolean => !flags.has(rule);

/** Null: the message is of no rule. */
export function explain(text: string, { column, rule, bare }: Field): Explained | null {
  if (rule !== null) {
    for (const effect of effectsOf({ rule, bare })) {
      const own = rule.messages?.[effect.name];
      if (!("message" in effect) || (own ?? effect.message) !== text) continue;
      const value = showsValue(effect.name) ? rule[effect.name] : undefined;
      return { rule: effect.name, value, isOwn: own !== undefined };
    }
    if (rule.messages?.type === text) return { rule: "type", value: bare.type, isOwn: true };
  }
  return byForm(text, rule === null ? column : bare);
}

/** Messages of columns themselves, and those of what the database checks. */
const forms: readonly (readonly [RegExp, MessageName])[] = [
  [/^is required$/, "required"],
  [/^must not be null$/, "nullable"],
  [/^already exists$/, "unique"],
  [/^must have at most (\d+) characters$/, "maxLength"],
  [/^must be one of: (.+)$/s, "enum"],
  [/^must have at most (\d+) digits after the decimal point$/, "scale"],
  [
    /^must (be (a |an |text|true or false|base64|between )|have (exactly|at most) \d+ bytes)/,
    "type",
  ],
];

function byForm(text: string, { type }: Column): Explained | null {
  for (const [form, rule] of forms) {
    const match = form.exec(text);
    if (match === null) continue;
    const value = rule === "type" ? type : showsValue(rule) ? valueOf(match[1]!) : undefined;
    return { rule, value, isOwn: false };
  }
  return null;
}

const valueOf = (text: string): unknown => (/^\d+$/.test(text) ? Number(text) : text);
