/** The columns by which upsert finds records: the primary key, or a unique index without condition. */
import { type Grammar, optional } from "../grammar/grammar.ts";
import type { Columns } from "../values/types/column.ts";
import { columnTypes } from "../values/types/column-types.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { anyOf } from "../values/json-shapes.ts";
import { invalidParameter } from "../values/errors.ts";
import type { Key } from "../values/types/key.ts";
import type { RecordPlan } from "./record.ts";

export interface UpsertBy {
  readonly columns: Key;
  /** The same by name; always the same map. */
  readonly named: Columns;
  readonly isKey: boolean;
}

/** All that the caller can write or name. */
export function upsertChoices({ write }: RecordPlan): readonly UpsertBy[] {
  const { key, keyColumns, writable, table, namesRecords, readOnly } = write;
  const own = key.map(({ name }) => name);
  const named = new Map(
    [...(namesRecords ? keyColumns : [])].filter(([name]) => !readOnly.has(name)),
  );
  const sets = [own, ...table.unique.map(({ columns }) => columns)];
  const found = new Map<string, UpsertBy>();
  for (const names of sets) {
    const columns = [...new Set(names)].flatMap(
      (name) => writable.get(name) ?? named.get(name) ?? [],
    );
    const text = JSON.stringify(names.toSorted());
    const isKey = text === JSON.stringify(own.toSorted());
    const isUsable = columns.length === names.length && columns.every(findsRows);
    if (columns.length === 0 || !isUsable || found.has(text)) continue;
    const byKey = isKey ? key : columns;
    const byName = new Map(byKey.map((column) => [column.name, column]));
    found.set(text, { columns: byKey, named: byName, isKey });
  }
  return [...found.values()];
}

const findsRows = ({ type }: Key[number]): boolean => columnTypes[type].findsRows;

const namesIn = ({ columns }: UpsertBy): string[] => columns.map(({ name }) => name);

/** The columns of an index, in any order. */
const listSchema = (one: UpsertBy): JsonSchema => {
  const names = namesIn(one);
  const items: JsonSchema = { type: "string", enum: names };
  return { type: "array", items, minItems: names.length, maxItems: names.length };
};

/** `by`; the primary key by default. Rejects with Invalid parameter, which names the choices. */
export function upsertBy(choices: readonly UpsertBy[]): Grammar<UpsertBy> {
  const texts = choices.map((one) => JSON.stringify(namesIn(one)));
  const fault = () =>
    invalidParameter(
      texts.length === 0
        ? "by is not possible: the table has no unique index whose columns you may write"
        : `by must be the columns of a unique index: ${texts.join(" or ")}`,
    );
  const byKey = choices.find(({ isKey }) => isKey);
  const grammar = optional<UpsertBy, UpsertBy | undefined>(
    {
      read(sent) {
        const names = Array.isArray(sent) ? JSON.stringify(sent.toSorted()) : null;
        const chosen = choices.find((one) => JSON.stringify(namesIn(one).toSorted()) === names);
        if (chosen === undefined) throw fault();
        return chosen;
      },
      schema: () => anyOf(choices.map(listSchema)),
    },
    byKey,
  );
  return {
    ...grammar,
    read(sent) {
      const chosen = grammar.read(sent);
      if (chosen === undefined) throw fault();
      return chosen;
    },
  };
}
