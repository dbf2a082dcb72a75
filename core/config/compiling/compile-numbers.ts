/**
 * `numbers` of all endpoints -> the columns that the service numbers. Rules of tables: a record gets its numbers through
 * whichever endpoint it is made.
 */
import type { Catalog } from "../../plans/database-catalog.ts";
import type { Entity } from "../../plans/entity.ts";
import type { NumberPart, NumberPlan, NumberTables } from "../../plans/number-tables.ts";
import type { Column, Table } from "../../values/types/column.ts";
import { didYouMean } from "../reading/did-you-mean.ts";
import { noticeRoles } from "./access-plan.ts";
import type { Path } from "../reading/faults.ts";
import type { EndpointConfig } from "../reading/read-config.ts";
import { withChangedColumns } from "./changed-columns.ts";
import type { CompiledEndpoint, Survey } from "./survey.ts";

type NumberConfig = NonNullable<Survey["payload"]["numbers"]>[string];

/** One column in one endpoint's file. */
interface Numbered {
  readonly survey: Survey;
  readonly entity: Entity;
  readonly table: Table;
  readonly column: Column;
  readonly config: NumberConfig;
  /** In the file. */
  readonly path: Path;
}

/** Adds faults to the surveys. */
export function numberTables(compiled: readonly CompiledEndpoint[]): NumberTables {
  const tables = new Map<string, NumberPlan[]>();
  const first = new Map<string, Numbered>();
  for (const one of compiled.flatMap(numberedIn)) {
    const { survey, table, column, config, path } = one;
    const name = JSON.stringify([table.identity, column.name]);
    const known = first.get(name);
    if (known) {
      if (JSON.stringify(known.config) !== JSON.stringify(config))
        survey.fault(path, {
          expected: `the same as in ${known.entity.name}, which numbers the same column`,
        });
      continue;
    }
    first.set(name, one);
    const plan = planOf(one);
    if (plan) tables.set(table.identity, [...(tables.get(table.identity) ?? []), plan]);
  }
  return tables;
}

/** The same catalog, in which numbered columns are columns that something else than a request fills. */
export const withNumbered = (catalog: Catalog, endpoints: readonly EndpointConfig[]): Catalog =>
  withChangedColumns(catalog, endpoints, ({ numbers = {} }) => [
    Object.keys(numbers),
    (column) => ({ ...column, isFilledByTrigger: true, isNumbered: true }),
  ]);

/** Empty, and faults, if the endpoint has no table whose records can be numbered. */
function numberedIn({ survey, entity, table }: CompiledEndpoint): Numbered[] {
  const { numbers } = survey.payload;
  if (numbers === undefined) return [];
  if (entity.insert === null || table === null || table.kind === "view") {
    survey.fault(["numbers"], { expected: "a tableName that is a table" });
    return [];
  }
  if (!table.transactional) {
    survey.fault(["numbers"], {
      found: `${table.name}, whose storage cannot roll back a change`,
      expected: "a table whose storage has transactions",
    });
    return [];
  }
  return Object.entries(numbers).flatMap(([name, config]): Numbered[] => {
    const path = ["numbers", name];
    const column = survey.column(name, table.columns, path, `the table ${table.name}`);
    return column ? [{ survey, entity, table, column, config, path }] : [];
  });
}

function planOf(numbered: Numbered): NumberPlan | null {
  const { survey, table, column, config, path } = numbered;
  checkColumn(numbered);
  const of = `the table ${table.name}`;
  const { by: names, date: dateName, start, manual } = config;
  const format = formatOf(numbered);
  const by = survey.columns(names, table.columns, [...path, "by"], of);
  by.forEach((one, at) => checkSource(numbered, one, { at: ["by", at], types: sourceTypes }));
  const date =
    dateName === undefined ? null : survey.column(dateName, table.columns, [...path, "date"], of);
  if (date) checkSource(numbered, date, { at: ["date"], types: ["date", "timestamp"] });
  if (manual && !survey.hasAuth)
    survey.fault([...path, "manual"], {
      expected: '"auth" in project.json, which identifies the callers',
    });
  noticeRoles(survey, config.manual ?? [], [...path, "manual"]);
  const onStatus = statusOf(numbered);
  if (format === null) return null;
  checkLength(numbered, format);
  const plan: NumberPlan = {
    table,
    column,
    format,
    by,
    within: uniqueWithin(table, column, by) ?? by,
    date,
    start,
    onStatus,
    manual: manual === undefined ? null : new Set(manual),
  };
  return plan;
}

/** The columns beside the number of the unique index that keeps numbers apart; null = there is none. */
export function uniqueWithin(
  table: Table,
  { name }: Column,
  by: readonly Column[],
): Column[] | null {
  const indexes = table.unique.flatMap(({ columns }) => {
    const others = columns.filter((column) => column !== name);
    const within = by.filter((column) => others.includes(column.name));
    return columns.includes(name) && within.length === others.length ? [within] : [];
  });
  return indexes.toSorted((a, b) => a.length - b.length)[0] ?? null;
}

function checkColumn({ survey, entity, column, config, path }: Numbered): void {
  const { name, type, generated } = column;
  const fields = new Map([[name, column]]);
  const isOther =
    entity.insert!.audit.some((one) => one.column.name === name) ||
    entity.workflow?.status.name === name ||
    generated !== "none";
  if (type !== "text" || column.notation !== undefined)
    survey.fault(path, { found: `a ${type} column`, expected: "a text column" });
  else if (isOther)
    survey.fault(path, {
      found: "a column that the service or the database fills",
      expected: "a column that only its number fills",
    });
  else if (entity.rules.neededOf(fields).length > 0)
    survey.fault(path, {
      found: "a field that is required",
      expected: "a field that a request may leave out, because the service fills it",
    });
  else if (entity.rules.check({}, "create", fields).values.size > 0)
    survey.fault(path, {
      found: "a field with a default in fieldValidation",
      expected: "a field without one, because the service fills it",
    });
  else if (config.onStatus !== undefined && (!column.nullable || column.hasDefault))
    survey.fault(path, {
      found: column.nullable ? "a column with a default" : "a column that is NOT NULL",
      expected: "a column that is null until a record reaches the status of onStatus",
    });
}

/** Types whose values a counter can belong to, or whose texts a number can contain. */
const sourceTypes: readonly Column["type"][] = ["text", "integer", "date", "uuid", "boolean"];

function checkSource(
  { survey, entity, path }: Numbered,
  column: Column,
  { at, types }: { at: Path; types: readonly Column["type"][] },
): void {
  const { name, type, labels } = column;
  const isLabel = labels !== null && types.includes("text");
  const isNumbered = Object.hasOwn(survey.payload.numbers ?? {}, name);
  const isOfKey = entity.insert!.key.some((one) => one.name === name) && column.hasDefault;
  if (isNumbered)
    survey.fault([...path, ...at], {
      found: `${name}, which is numbered itself`,
      expected: "another column",
    });
  else if (column.generated !== "none" || isOfKey)
    survey.fault([...path, ...at], {
      found: `${name}, which the database fills`,
      expected: "a column whose value is known before the record is stored",
    });
  else if (!types.includes(type) && !isLabel)
    survey.fault([...path, ...at], {
      found: `${name}, a ${type} column`,
      expected: `a column of the type ${new Intl.ListFormat("en", { type: "disjunction" }).format(types)}`,
    });
}

const dateParts = ["yyyy", "yy", "MM", "dd"] as const;
/** More do not fit into the counter's column. */
const digitsMax = 18;

/** Null, and a fault, for a format that makes no numbers. */
function formatOf(numbered: Numbered): NumberPart[] | null {
  const { survey, config, path } = numbered;
  const at = [...path, "format"];
  const parts = config.format
    .split(/(\{[^{}]*\})/)
    .flatMap((text) => (text === "" ? [] : partOf(numbered, text, at)));
  if (parts.includes(null)) return null;
  const format = parts.filter((part) => part !== null);
  const seqs = format.filter((part) => part.kind === "seq");
  const [seq] = seqs;
  if (seq === undefined || seqs.length > 1) {
    survey.fault(at, {
      found: `${JSON.stringify(config.format)}, with ${seq ? "more than one" : "no"} {seq}`,
      expected: "exactly one {seq} or {seq:<digits>}",
    });
    return null;
  }
  if (seq.digits !== null && String(config.start).length > seq.digits)
    survey.fault([...path, "start"], {
      found: String(config.start),
      expected: `a number with at most ${seq.digits} digits, as {seq:${seq.digits}} says`,
    });
  return format;
}

function partOf(numbered: Numbered, text: string, path: Path): (NumberPart | null)[] {
  const { survey, table } = numbered;
  const name = /^\{(.*)\}$/s.exec(text)?.[1];
  if (name === undefined) {
    if (!/[{}]/.test(text)) return [{ kind: "text", text }];
    survey.fault(path, { found: JSON.stringify(text), expected: "braces in pairs" });
    return [null];
  }
  const digits = dateParts.find((part) => part === name);
  if (digits !== undefined) return [{ kind: "date", digits }];
  const seq = /^seq(?::([1-9]\d?))?$/.exec(name);
  if (seq && Number(seq[1] ?? 1) <= digitsMax)
    return [{ kind: "seq", digits: seq[1] === undefined ? null : Number(seq[1]) }];
  const column = table.columns.get(name);
  if (column === undefined) {
    survey.fault(path, {
      found: JSON.stringify(text),
      expected: `{yyyy}, {yy}, {MM}, {dd}, {seq}, {seq:1} to {seq:${digitsMax}}, or a column of the table ${table.name}`,
      hint: didYouMean(name, [...dateParts, "seq", ...table.columns.keys()]),
    });
    return [null];
  }
  checkSource(numbered, column, {
    at: path.slice(2),
    types: sourceTypes.filter((type) => type !== "boolean"),
  });
  return [{ kind: "column", column }];
}

/** Characters of the shortest number. */
function checkLength({ survey, column, path }: Numbered, format: readonly NumberPart[]): void {
  const shortest = format.reduce((sum, part) => {
    if (part.kind === "text") return sum + [...part.text].length;
    if (part.kind === "date") return sum + part.digits.length;
    return sum + (part.kind === "seq" ? (part.digits ?? 1) : 1);
  }, 0);
  const { lengthMax } = column;
  if (lengthMax !== null && shortest > lengthMax)
    survey.fault([...path, "format"], {
      found: `a number of ${shortest} characters`,
      expected: `at most ${lengthMax}, the length of ${column.name}`,
    });
}

/** Null, and a fault, when records cannot reach the status. */
function statusOf({ survey, entity, config, path }: Numbered): NumberPlan["onStatus"] {
  const { onStatus: status } = config;
  if (status === undefined) return null;
  const at = [...path, "onStatus"];
  const { workflow } = entity;
  if (survey.payload.workflow === undefined || workflow === null) {
    survey.fault(at, { expected: 'a "workflow" of the endpoint, which says where the status is' });
    return null;
  }
  const { transitions, fields, status: column } = workflow;
  const known = transitions && new Set([...transitions].flatMap(([from, to]) => [from, ...to]));
  const { values, errors } = entity.rules.check({ [column.name]: status }, "update", fields);
  if ((known && !known.has(status)) || errors || String([...values.values()][0]) !== status) {
    survey.fault(at, {
      found: JSON.stringify(status),
      expected: known ? "a status of workflow.transitions" : `a value of ${column.name}`,
      hint: known ? didYouMean(status, known) : undefined,
    });
    return null;
  }
  return { column, status };
}
