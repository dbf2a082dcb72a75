/**
 * Messages about fields in the language of the request, and as data (`details`). Answers are made and kept in English;
 * this is the last step before they are sent. `error`, and messages that are not about rules, stay English.
 */
import { plainPlan, type ConsolePlan } from "../plans/console-plan.ts";
import type { Entity } from "../plans/entity.ts";
import { languageFor, type LanguageTexts, type Messages } from "../plans/messages.ts";
import type { Explained } from "../rules/explained.ts";
import { AppError, type FieldErrors } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import type { Answer } from "./answer.ts";
import type { Handler, Request } from "./handler.ts";

/** The handler itself in a project without such texts and without `errorDetails`. */
export function worded(handler: Handler, entity: Entity): Handler {
  const { messages, errorDetails } = entity.settings;
  if (messages.size === 0 && !errorDetails) return handler;
  const wordingOf = ({ language }: Pick<Request, "language">): Wording => {
    const tag = messages.size === 0 ? null : languageFor(language, messages);
    return { entity, tag, texts: tag === null ? null : (messages.get(tag) ?? null), errorDetails };
  };
  return {
    ...handler,
    async run(request, keepAnswer) {
      try {
        const answer = await handler.run(request, keepAnswer);
        return answer.status === 207 ? wordedAnswer(answer, wordingOf(request)) : answer;
      } catch (error) {
        throw error instanceof AppError && error.errors !== undefined
          ? wordedError(error, wordingOf(request))
          : error;
      }
    },
  };
}

interface Wording {
  readonly entity: Entity;
  /** Null: there is only one language. */
  readonly tag: string | null;
  /** Null: English. */
  readonly texts: LanguageTexts | null;
  readonly errorDetails: boolean;
}

function wordedError(error: AppError, wording: Wording): AppError {
  const { errors, details } = wordedErrors(error.errors!, wording);
  const isValidation = error.kind === "validationFailed";
  return error.with({
    errors,
    ...(wording.errorDetails && isValidation && { details }),
    ...(wording.tag !== null && { language: wording.tag }),
  });
}

/** Of bulk writes in mode `each`: the errors of each record. */
function wordedAnswer(answer: Answer, wording: Wording): Answer {
  const { results } = answer.body;
  if (!Array.isArray(results)) return answer;
  const all = results.map((one: unknown) => {
    if (!isObject(one) || !isObject(one["errors"])) return one;
    const { errors, details } = wordedErrors(one["errors"] as FieldErrors, wording);
    const isDetailed = wording.errorDetails && one["error"] === "Validation failed";
    return { ...one, errors, ...(isDetailed && { details }) };
  });
  const language = wording.tag !== null && { language: wording.tag };
  return { ...answer, ...language, body: { ...answer.body, results: all } };
}

/** A message as data: its rule with the rule's value, or the message itself where it is of no rule. */
export type Detail = Readonly<Record<string, unknown>>;

function wordedErrors(
  errors: FieldErrors,
  { entity, texts }: Wording,
): { errors: FieldErrors; details: Record<string, Detail[]> } {
  const found: FieldErrors = Object.create(null) as FieldErrors;
  const details: Record<string, Detail[]> = Object.create(null) as Record<string, Detail[]>;
  for (const [name, messages] of Object.entries(errors)) {
    const explainText = explainer(entity, name);
    const all = messages.map((message) => {
      const [, list = "", text = message] =
        /^((?:insert|update|delete): )(.*)$/s.exec(message) ?? [];
      const explained = explainText(text);
      return { list, text, explained };
    });
    found[name] = all.map(
      ({ list, text, explained }) =>
        list + (explained && texts ? inWords(explained, texts, text) : text),
    );
    details[name] = all.map(({ list, text, explained }) =>
      explained === null
        ? { message: list + text }
        : {
            rule: explained.rule,
            ...(explained.value !== undefined && { [explained.rule]: explained.value }),
          },
    );
  }
  return { errors: found, details };
}

/** The text of the rule in that language; the English one where there is none, or the configuration has its own. */
export function inWords(
  { rule, value, isOwn }: Explained,
  { rules }: Pick<LanguageTexts, "rules">,
  english: string,
): string {
  const text = isOwn ? undefined : rules.get(rule);
  if (text === undefined) return english;
  const shown = Array.isArray(value) ? value.join(", ") : String(value ?? "");
  return text.replaceAll(`{${rule}}`, () => shown);
}

type ExplainText = (text: string) => Explained | null;

/** Finds the field that a name in `errors` is about: `[3].price`, `params.from`, `order_lines[0].price`. */
function explainer(entity: Entity, name: string): ExplainText {
  const path = name.replace(/^\[\d+\]\.?/, "");
  const { params, procedure, composite, write, insert, read, rules } = entity;
  if (path.startsWith("params.")) {
    const own = path.slice("params.".length);
    const sent = params?.sent.has(own) ? params : procedure?.params;
    const column = sent?.sent.get(own);
    return column ? (text) => sent!.rules.explain(column, text) : () => null;
  }
  for (const { table, rules: ofDetail } of composite?.details ?? []) {
    if (!path.startsWith(`${table.name}[`) && !path.startsWith(`${table.name}.`)) continue;
    const column = table.columns.get(path.slice(path.lastIndexOf(".") + 1));
    return column ? (text) => ofDetail.explain(column, text) : () => null;
  }
  const column = (write ?? insert)?.table.columns.get(path) ?? read?.source.columns.get(path);
  return column ? (text) => rules.explain(column, text) : () => null;
}

/** A message about a field in the language of a job. */
export type FieldWording = (name: string, text: string) => string;

/** `tag`: null = English. */
export function wordingIn(tag: string | null, entity: Entity): FieldWording {
  const texts = tag === null ? undefined : entity.settings.messages.get(tag);
  if (texts === undefined) return (_name, text) => text;
  return (name, text) => {
    const explained = explainer(entity, name)(text);
    return explained === null ? text : inWords(explained, texts, text);
  };
}

/** What a job has to know of the language of the request that starts it; nothing where there is only one. */
export function languageOfJob({
  entity,
  language,
}: {
  readonly entity: Entity;
  readonly language: string | null;
}): { readonly language?: string } {
  const { messages } = entity.settings;
  return messages.size === 0 ? {} : { language: languageFor(language, messages) };
}

/** The entity with its labels in that language. */
export function labelledIn(language: string, entity: Entity): Entity {
  const { name, labels, read, grid, insert, settings } = entity;
  const texts = settings.messages.get(language);
  if (texts === undefined) return entity;
  const columns = [read?.columns, grid?.columns, insert?.shown].flatMap((one) => [
    ...(one?.keys() ?? []),
  ]);
  const own = [...labels.keys(), ...columns].flatMap((field): [string, string][] => {
    const label = texts.labelOf(name, field);
    return label === undefined ? [] : [[field, label]];
  });
  return { ...entity, labels: new Map([...labels, ...own]), console: consoleIn(language, entity) };
}

/** The names that an endpoint has in the console, in that language. */
export function consoleIn(
  language: string,
  { name, console: plan, settings }: Entity,
): ConsolePlan | null {
  const texts = settings.messages.get(language);
  const label = texts?.endpoints.get(name) ?? plan?.label ?? null;
  if (plan === null) return label === null ? null : { ...plainPlan, label };
  const group = texts?.groups.get(plan.group ?? "") ?? plan.group;
  const verbs = [...plan.steps].map(
    ([status, verb]) => [status, texts?.steps.get(verb) ?? verb] as const,
  );
  const views = plan.views.map((view) => ({
    ...view,
    name: texts?.views.get(view.name) ?? view.name,
  }));
  return { ...plan, label, group, views, steps: new Map(verbs) };
}

/** The texts that the project of these routes has. */
export const messagesIn = ({
  endpoints,
}: {
  readonly endpoints: ReadonlyMap<string, ReadonlyMap<string, { readonly entity: Entity | null }>>;
}): Messages => {
  for (const actions of endpoints.values())
    for (const { entity } of actions.values()) if (entity !== null) return entity.settings.messages;
  return new Map();
};
