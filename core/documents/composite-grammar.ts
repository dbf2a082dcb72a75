/**
 * Bodies of create-composite and update-composite: the header's object under the name of its table, with its details
 * inside. Rules read the fields; the grammar defines the objects, their number, and how they name details.
 */
import {
  absentOr,
  asSent,
  described,
  type Grammar,
  list,
  meaning,
  object,
  optional,
  type Parts,
} from "../grammar/grammar.ts";
import type { CompositePlan, DetailPlan } from "../plans/composite-plan.ts";
import type { Entity } from "../plans/entity.ts";
import { hasHandlers } from "../records/events.ts";
import {
  recordColumns,
  keyMembers,
  namesOf,
  neededOf,
  type RecordColumns,
  readOnlyMembers,
  recordMembers,
} from "../records/record-grammar.ts";
import { keyOf, readKey, requiredFields } from "../records/record-key.ts";
import { mayHold } from "../query/comparisons.ts";
import { AppError, type FieldErrors, invalidPayload, validationFailed } from "../values/errors.ts";
import { keyNames, type KeyValue } from "../values/types/key.ts";
import { limits } from "../values/limits.ts";
import {
  type CompositeNeeds,
  compositeNeeds,
  type NamedDetail,
  noSuchDetail,
} from "./composite.ts";
import { queriedColumns } from "./composite-schema.ts";
import { addErrors, type Place } from "./detail-errors.ts";

/** A header's object as it was sent, and its details, one `Lines` for each table of them. */
export interface SentDocument<Lines> {
  readonly sent: Record<string, unknown>;
  readonly lines: readonly Lines[];
}

/** `Lines`: the details of one table. `lines` reads the details of an object, including one changed by handlers. */
export interface DocumentNeeds<Lines> extends CompositeNeeds {
  readonly lines: Grammar<readonly Lines[]>;
}

/** New details of one table. */
export type NewLines = readonly Place[];

export function newDocumentNeeds(entity: Entity): DocumentNeeds<NewLines> | null {
  const plan = compositeNeeds(entity);
  if (plan === null) return null;
  const lines = meaning(linesOf(plan.composite, newLines(entity)), (found) => {
    if (found.flat().length > 0) return found;
    const names = plan.composite.details.map(({ table }) => table.name).join(" or ");
    throw invalidPayload(`${names} must not be empty`);
  });
  return { ...plan, lines };
}

/** `{<header>: {<fields>, <details>: [{<fields>}]}}` with at least one detail. Before handlers can add fields. */
export function newDocument(
  plan: DocumentNeeds<NewLines>,
  entity: Entity,
): Grammar<SentDocument<NewLines>> {
  const { composite, lines } = plan;
  const shape = (): Grammar<unknown> => {
    const columns = { ...recordColumns(plan, entity), writable: composite.writable };
    const members = {
      ...recordMembers(columns, "create"),
      ...partsOf(composite, newLines(entity)),
    };
    const required = hasHandlers(entity, "onBeforeInsert") ? [] : neededOf(columns);
    const isFilled = composite.details.map(({ table: { name } }) => ({
      required: [name],
      properties: { [name]: { minItems: 1 } },
    }));
    return described(object(members, { required }), { anyOf: isFilled });
  };
  return underTable(plan, shape, (sent) => ({ sent, lines: lines.read(sent) }));
}

/** What happens to the details of one table. */
export interface ChangedLines {
  readonly deletes: readonly NamedDetail[];
  readonly updates: readonly NamedDetail[];
  readonly inserts: readonly Place[];
}

export function changedDocumentNeeds(entity: Entity): DocumentNeeds<ChangedLines> | null {
  const plan = compositeNeeds(entity);
  return plan && { ...plan, lines: meaning(linesOf(plan.composite, changedLines(entity)), named) };
}

/** `{<header>: {<key>, <fields>, <details>: {insert, update, delete}}}`. */
export function changedDocument(
  plan: DocumentNeeds<ChangedLines>,
  entity: Entity,
): Grammar<SentDocument<ChangedLines> & { readonly keyValue: KeyValue }> {
  const { write, composite, lines } = plan;
  const shape = (): Grammar<unknown> => {
    const columns = { ...recordColumns(plan, entity), writable: composite.writable };
    const members = {
      ...recordMembers(columns, "update"),
      ...partsOf(composite, changedLines(entity)),
    };
    return object(members, { required: namesOf(write.key) });
  };
  return underTable(plan, shape, (sent) => ({
    sent,
    keyValue: keyOf({ body: sent, entity }, write.key),
    lines: lines.read(sent),
  }));
}

/** A body with this one member. `mean`: of the header's object. */
function underTable<T>(
  { write: { table }, composite: { tableName, details } }: CompositeNeeds,
  shape: () => Grammar<unknown>,
  mean: (header: Record<string, unknown>) => T,
): Grammar<T> {
  const { name } = table;
  const header = meaning(
    asSent(shape, () => invalidPayload(`${name} must be an object`)),
    (sent) => mean(withTableNames(sent, details)),
  );
  const root = asSent(() => object({ [name]: header }, { required: [name] }));
  return meaning(root, (body) => {
    const [first = "", ...others] = Object.keys(body);
    if ((first !== name && first !== tableName) || others.length > 0)
      throw invalidPayload(`Root key must be '${tableName}'`);
    return header.read(body[first]);
  });
}

/** The header's object with its details under the names of their tables, also where a body names them with the schema. */
function withTableNames(
  sent: Record<string, unknown>,
  details: readonly DetailPlan[],
): Record<string, unknown> {
  const named = { ...sent };
  for (const { table, tableName } of details) {
    if (tableName === table.name || !Object.hasOwn(sent, tableName)) continue;
    if (Object.hasOwn(sent, table.name))
      throw invalidPayload(`${tableName} and ${table.name} are the same table`);
    named[table.name] = sent[tableName];
    delete named[tableName];
  }
  return named;
}

/** The details of a header's object, in the order of their tables. */
const linesOf = <Lines extends object>(
  composite: CompositePlan,
  ofTable: (detail: DetailPlan) => Grammar<Lines>,
): Grammar<readonly Lines[]> =>
  meaning(object(partsOf(composite, ofTable)), (byName) => {
    const lines = composite.details.map(({ table }) => byName[table.name] as Lines);
    const count = lines.flatMap((one) => Object.values(one).flat()).length;
    if (count > limits.detailsMax) throw tooMany();
    return lines;
  });

const partsOf = (
  { details }: CompositePlan,
  ofTable: (detail: DetailPlan) => Grammar<unknown>,
): Parts => Object.fromEntries(details.map((detail) => [detail.table.name, ofTable(detail)]));

const tooMany = () => invalidPayload(`A request takes at most ${limits.detailsMax} details`);

/** The new details of a table; there may be none. */
const newLines =
  (entity: Entity) =>
  (detail: DetailPlan): Grammar<Place[]> => {
    const fault = () => invalidPayload(`${detail.table.name} must be an array of objects`);
    const shape = newLine(detail, hasHandlers(entity, "onBeforeInsert"));
    const items = list(line({ detail, list: null }, shape), {
      fault,
      max: limits.detailsMax,
      tooMany,
    });
    return optional(items, [], items.schema);
  };

interface SentLines {
  readonly insert: Place[];
  readonly update: Place[];
  readonly delete: Place[];
}

const noLines: SentLines = { insert: [], update: [], delete: [] };

const changedLines =
  (entity: Entity) =>
  (detail: DetailPlan): Grammar<SentLines> => {
    const shape = `${detail.table.name} must be an object with arrays of objects as insert, update and delete`;
    const fault = () => invalidPayload(shape);
    const listOf = (name: Place["list"], item: () => Grammar<unknown>): Grammar<Place[]> =>
      absentOr(
        list(line({ detail, list: name }, item), { fault, max: limits.detailsMax, tooMany }),
        [],
      );
    const insert = listOf("insert", newLine(detail, hasHandlers(entity, "onBeforeUpdate")));
    const whole = object({
      insert,
      update: listOf("update", changedLine(detail)),
      delete: listOf("delete", namedLine(detail)),
    });
    // Details that cannot be named can only be new.
    const sent = asSent(() => (detail.namesRecords ? whole : object({ insert })), fault);
    return absentOr(
      meaning(sent, (lists) => {
        for (const name of Object.keys(lists))
          if (!Object.hasOwn(noLines, name))
            throw invalidPayload(`${shape}; it has ${JSON.stringify(name.slice(0, 100))}`);
        const lines = whole.read(lists);
        if (lines.insert.length === 0 || lines.update.length === 0) return lines;
        const saying = (places: Place[]) => places.map((place) => ({ ...place, saysList: true }));
        return {
          insert: saying(lines.insert),
          update: saying(lines.update),
          delete: saying(lines.delete),
        };
      }),
      noLines,
    );
  };

/** The same with the keys of the details that are changed or deleted. */
const named = (lines: readonly SentLines[]): ChangedLines[] =>
  lines.map((one) => ({
    deletes: one.delete.map(namedDetail),
    updates: one.update.map(namedDetail),
    inserts: one.insert,
  }));

/** A detail that is changed or deleted, by what names it within its header. */
function namedDetail(place: Place): NamedDetail {
  const { detail, sent } = place;
  const { key, lineKey, namesRecords } = detail;
  const path = pathOf(place);
  if (!namesRecords)
    throw new AppError("forbidden", `The details of ${detail.table.name} cannot be named`);
  const { values, missing } = readKey(sent, { named: lineKey, key, prefix: `${path}: the` });
  if (missing.length === lineKey.length)
    throw invalidPayload(`${path} needs the primary key ${keyNames(lineKey)}`);
  if (missing.length > 0) {
    const errors: FieldErrors = {};
    addErrors(errors, place, requiredFields(missing));
    throw validationFailed(errors);
  }
  if (!lineKey.every((column, at) => mayHold(column, values[at]!))) throw noSuchDetail(detail);
  return { place, keyValue: values };
}

/** One detail of a list. */
const line = (
  about: Pick<Place, "detail" | "list">,
  shape: () => Grammar<unknown>,
): Grammar<Place> =>
  meaning(
    asSent(shape, (index) => invalidPayload(`${pathOf({ ...about, index })} must be an object`)),
    (sent, index) => ({ ...about, index, sent, saysList: false }),
  );

/** The place of the detail in the body. */
const pathOf = ({ detail, list: name, index }: Pick<Place, "detail" | "list" | "index">): string =>
  `${detail.table.name}${name === null ? "" : `.${name}`}[${index}]`;

const newLine = (detail: DetailPlan, mayBeCompleted: boolean) => (): Grammar<unknown> => {
  const columns = lineColumns(detail);
  const required = mayBeCompleted ? [] : neededOf(columns);
  return object(recordMembers(columns, "create"), { required });
};

const changedLine = (detail: DetailPlan) => (): Grammar<unknown> =>
  object(recordMembers(lineColumns(detail), "update"), { required: namesOf(detail.lineKey) });

/** A detail to delete: only its key is used, but the rest of it is allowed. */
const namedLine = (detail: DetailPlan) => (): Grammar<unknown> => {
  const { key, lineKey } = detail;
  const others = readOnlyMembers([...lineColumns(detail).answered, detail.writable], lineKey);
  return object({ ...keyMembers(lineKey, key), ...others }, { required: namesOf(lineKey) });
};

/** A body may also contain what read-composite shows of a detail. */
const lineColumns = (detail: DetailPlan): RecordColumns => ({
  ...detail,
  answered: [detail.shown, queriedColumns(detail)],
});
