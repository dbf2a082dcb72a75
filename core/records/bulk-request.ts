/** What the bulk actions have in common: the members of their requests, and the forms of their answers. */
import {
  absentOr,
  choice,
  described,
  type Grammar,
  list,
  meaning,
  optional,
  text,
  value,
  word,
} from "../grammar/grammar.ts";
import type { JsonForm } from "../calls/answer.ts";
import type { Entity } from "../plans/entity.ts";
import { invalidPayload } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { closedObject, wholeObject } from "../values/json-shapes.ts";
import type { BulkMode } from "./bulk-outcomes.ts";
import { doneSchema } from "./record-schema.ts";

/** The records of a request: 1 to `limits.bulkRecords` of them. */
export const recordList = <T>(
  name: "data" | "keys",
  items: Grammar<T>,
  { settings: { bulkRecordsMax: max } }: Pick<Entity, "settings">,
): Grammar<T[]> => {
  const fault = () => invalidPayload(`${name} must be an array of 1 to ${max} records`);
  return list(items, { fault, min: 1, max });
};

/** Members that only the other form of a request has. Ignored, they would let more be changed than was meant. */
const ofOthers = { data: ["set", "expect"], keys: ["expect"], where: ["etags"] } as const;

/** Requests that name their records by that member, or by `where`; not by both, nor with a member of the other form. */
export function keyedOr<Keyed, Matching>(
  name: "data" | "keys",
  keyed: Grammar<Keyed>,
  matching: Grammar<Matching>,
): Grammar<Keyed | Matching> {
  const either = choice<Keyed | Matching>([keyed, matching], (sent) =>
    isNamedBy(name, sent) ? keyed : matching,
  );
  return described(either, { type: "object" });
}

function isNamedBy(name: "data" | "keys", sent: unknown): boolean {
  const [isNamed, isMatched] = [name, "where"].map(
    (one) => isObject(sent) && Object.hasOwn(sent, one),
  );
  if (isNamed === isMatched)
    throw invalidPayload(
      isNamed
        ? `Send ${name} or where, not both`
        : `Send ${name}, the records by their keys, or where with a condition`,
    );
  const [own, other] = isNamed ? [name, "where"] : (["where", name] as const);
  for (const member of ofOthers[own])
    if (isObject(sent) && (sent[member] ?? null) !== null)
      throw invalidPayload(`${member} goes with ${other}, not with ${own}`);
  return isNamed === true;
}

export const bulkMode: Grammar<BulkMode> = absentOr(
  word(["all", "each"] as const, () => invalidPayload('mode must be "all" or "each"')),
  "all",
);

const notTrueOrFalse = () => invalidPayload("dry_run must be true or false");

/** Why the request cannot be a step of a batch, which stores all or nothing; null: it can. */
export function stepFaultOf({ mode, dry_run }: Record<string, unknown>): string | null {
  if (mode === "each") return 'mode "each" is not possible in a batch';
  return dry_run === true ? "dry_run is for the whole batch, not for one step" : null;
}

/** Further members of every bulk request; the edge reads `dry_run`. */
export const bulkMembers = {
  options: optional(
    value(
      isObject,
      () => invalidPayload("options must be an object"),
      () => ({ type: "object" }),
    ),
    {},
  ),
  dry_run: absentOr(
    value(
      (sent): sent is boolean => typeof sent === "boolean",
      notTrueOrFalse,
      () => ({
        type: "boolean",
        description:
          "True: everything happens and is undone; the answer is what would be answered.",
      }),
    ),
    false,
  ),
};

const notAnEtag = () => invalidPayload("etags must be an array of ETags and nulls");

/** One version for each record; null = any. The number is compared by `checkEtags`. */
export const etags = ({
  settings: { bulkRecordsMax: max },
}: Pick<Entity, "settings">): Grammar<(string | null)[] | null> =>
  optional(list(optional(text(notAnEtag), null), { fault: notAnEtag, max }), null);

/** The request with one version, or null, for each of its records. Rejects with Invalid payload. */
export const withEtags = <T>(
  grammar: Grammar<T>,
  partsOf: (sent: T) => { readonly count: number; readonly etags: readonly unknown[] | null },
): Grammar<T> =>
  meaning(grammar, (sent) => {
    const { count, etags: versions } = partsOf(sent);
    if (versions !== null && versions.length !== count)
      throw invalidPayload(`etags must have one entry for each of the ${count} records`);
    return sent;
  });

interface BulkForm {
  readonly entity: Entity;
  readonly record: JsonSchema;
  readonly done: "added" | "updated" | "deleted" | "stored";
  readonly status: 200 | 201;
  /** Whether answers have etags. */
  readonly hasEtags: boolean;
  /** Whether results say `created`. */
  readonly isUpsert?: boolean;
}

/** The answers in both modes. */
export function bulkForm(form: BulkForm): JsonForm {
  const { status, hasEtags, isUpsert = false, record } = form;
  const message = doneSchema(form.entity, form.done);
  const created: JsonSchema = { type: "boolean" };
  const index: JsonSchema = { type: "integer", minimum: 0 };
  const all = wholeObject({
    message,
    data: { type: "array", items: record },
    ...(hasEtags && { etags: { type: "array", items: { type: "string" } } }),
    ...(isUpsert && { results: { type: "array", items: wholeObject({ index, created }) } }),
  });
  const stored = wholeObject({
    index,
    success: { const: true },
    ...(isUpsert && { created }),
    data: record,
  });
  const each = (isWhole: boolean): JsonSchema =>
    wholeObject({
      ...(!isWhole && { success: { const: false } }),
      message: isWhole ? message : { type: "string" },
      summary: wholeObject({ succeeded: index, failed: index }),
      results: { type: "array", items: isWhole ? stored : { anyOf: [stored, refused] } },
    });
  return status === 200
    ? { status, schema: { type: "object", anyOf: [all, each(true)] }, others: { 207: each(false) } }
    : { status, schema: all, others: { 200: each(true), 207: each(false) } };
}

const refused: JsonSchema = closedObject(
  {
    index: { type: "integer", minimum: 0 },
    success: { const: false },
    error: { type: "string", description: "The name of the error." },
    message: { type: "string" },
    errors: {
      type: "object",
      additionalProperties: { type: "array", items: { type: "string" } },
      description: "Messages by the field that they are about.",
    },
    data: { type: "object", additionalProperties: true },
  },
  ["index", "success", "error", "message"],
);
