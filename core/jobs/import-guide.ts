/**
 * What a person who fills in a workbook should know of its columns: a note in plain words, the values that a list
 * offers, and how cells look. It follows from the same plan and rules that judge the rows later.
 */
import type { Column } from "../values/types/column.ts";
import type { ReadQueries } from "../query/session.ts";
import type { BooleanWords, ImportLookup, ImportPlan } from "../plans/import-plan.ts";
import type { Json } from "../values/json.ts";
import type { Choices, GuidedColumn } from "../plans/workbooks-port.ts";
import type { Rules } from "../rules/compile-rules.ts";
import type { FieldWords } from "../rules/field-words.ts";
import { headingKey } from "../values/text.ts";
import { mustBeSent } from "../values/types/new-key.ts";
import { limits } from "../values/limits.ts";
import { selectFrom, sourceOf } from "../query/statement.ts";

type Name = string | number;

interface Importing {
  readonly plan: ImportPlan;
  readonly rules: Rules;
}

/** One column for each heading. Reads the names that lookups offer, of rows that the caller may see. */
export async function readGuide(
  queries: Pick<ReadQueries, "all">,
  importing: Importing,
  headings: readonly string[],
): Promise<GuidedColumn[]> {
  const meant = headings.map((heading) => importing.plan.headings.get(headingKey(heading)));
  const lookups = meant.filter((one) => one !== undefined && "target" in one);
  const names = await readNames(queries, lookups);
  return headings.map((heading, at) => {
    const one = meant[at];
    if (one === undefined) return unknownColumn(heading);
    if ("target" in one)
      return { heading, ...guideOfLookup(importing, one, names.get(one) ?? null) };
    return { heading, ...guideOfColumn(importing, one) };
  });
}

const unknownColumn = (heading: string): GuidedColumn => ({
  heading,
  note: null,
  isRequired: false,
  format: null,
  width: null,
  choices: null,
});

type Guide = Omit<GuidedColumn, "heading">;

function guideOfColumn(importing: Importing, column: Column): Guide {
  const { plan, rules } = importing;
  const words = rules.wordsOf(column);
  const { form, asks } = words;
  const offered = plan.words.get(column)?.offered;
  const isRequired = isRequiredIn(importing, column, words);
  const shown = offered ? `Write ${offered.join(" or ")}` : form.words;
  return {
    note: noteOf([
      presenceOf(words.default, { isRequired, offered }),
      `${shown}.`,
      ...asks,
      purposeOf(plan, column),
    ]),
    isRequired,
    format: form.format,
    width: form.width,
    choices: offered
      ? { values: [...new Set(offered)], isComplete: false }
      : choicesOf(words.allowed),
  };
}

function guideOfLookup(
  importing: Importing,
  { target, table, name, isRequired: mustBeFound }: ImportLookup,
  names: readonly Name[] | null,
): Guide {
  const words = importing.rules.wordsOf(target);
  const { form } = importing.rules.wordsOf(name);
  const isRequired = isRequiredIn(importing, target, words);
  const otherwise = mustBeFound
    ? "It must be there already."
    : "One that is not there leaves the field empty.";
  return {
    note: noteOf([
      presenceOf(undefined, { isRequired, offered: undefined }),
      `The ${name.name} of one of the ${table.name}.`,
      otherwise,
      purposeOf(importing.plan, target),
    ]),
    isRequired,
    format: form.format,
    width: form.width,
    choices: names === null ? null : { values: names, isComplete: false },
  };
}

function isRequiredIn(
  { plan: { required, upsertKeys, makesKeys, write } }: Importing,
  column: Column,
  { isNeeded }: FieldWords,
): boolean {
  // A key that the file need not hold is made by the service or the database.
  const isMade = write.key.includes(column) && !mustBeSent(write).includes(column);
  const isOwnNeed = isNeeded && !isMade;
  return isOwnNeed || required.includes(column) || (upsertKeys.has(column.name) && !makesKeys);
}

function presenceOf(
  standIn: unknown,
  { isRequired, offered }: { isRequired: boolean; offered: BooleanWords["offered"] | undefined },
): string {
  if (isRequired) return "Required.";
  if (standIn === undefined || standIn === null) return "Optional.";
  const shown = offered && typeof standIn === "boolean" ? offered[standIn ? 0 : 1] : standIn;
  return `Optional: a new record without it gets ${choiceText(shown)}.`;
}

function purposeOf({ upsertKeys, strategy }: ImportPlan, column: Column): string | null {
  if (!upsertKeys.has(column.name)) return null;
  const found =
    upsertKeys.size === 1 ? "A record that has this value" : "A record with the same keys";
  return {
    update_existing: `${found} is changed.`,
    insert_only: `${found} is an error.`,
    skip_existing: `${found} stays as it is.`,
  }[strategy];
}

/** Values that a cell can contain; null if some cannot be listed, or there are none. */
function choicesOf(allowed: readonly Json[] | null): Choices | null {
  const values = (allowed ?? []).filter((value) => typeof value !== "object");
  const plain = values.filter((value) => typeof value !== "boolean");
  return plain.length === 0 || plain.length < values.length
    ? null
    : { values: plain, isComplete: true };
}

const choiceText = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value);

/** Longer ones do not fit into the window that shows them. */
const noteLengthMax = 400;

function noteOf(sentences: readonly (string | null)[]): string {
  const distinct = new Set(sentences.filter((sentence) => sentence !== null && sentence !== ""));
  const note = [...distinct].join("\n");
  return note.length > noteLengthMax ? `${note.slice(0, noteLengthMax)}…` : note;
}

/** The names that lookups offer, in rows that the caller can see. Skips a lookup with no names or more than `limits.importChoicesMax`. */
async function readNames(
  queries: Pick<ReadQueries, "all">,
  lookups: readonly ImportLookup[],
): Promise<ReadonlyMap<ImportLookup, readonly Name[]>> {
  const names = new Map<ImportLookup, readonly Name[]>();
  for (const lookup of lookups) {
    const { table, name } = lookup;
    const rows = await queries.all(
      selectFrom(sourceOf(table), {
        columns: [name],
        where: { kind: "null", column: name, negated: true },
        sort: [{ column: name, direction: "asc" }],
        limit: limits.importChoicesMax + 1,
      }),
    );
    const offered = namesOf(rows.map((row) => row[name.name]));
    if (rows.length <= limits.importChoicesMax && offered.length > 0) names.set(lookup, offered);
  }
  return names;
}

/** Leaves out names that several rows have, because they identify none of them. */
function namesOf(values: readonly unknown[]): Name[] {
  const names = values.filter((value) => isName(value));
  return names.filter((value) => names.indexOf(value) === names.lastIndexOf(value));
}

const isName = (value: unknown): value is Name =>
  typeof value === "number" || (typeof value === "string" && value.trim() !== "");
