/**
 * `fieldValidation` of one entity, compiled. `check` turns a body into values for the columns and reports every fault
 * at once: per field the default and transforms, then the rules, then the column itself; after that the comparisons
 * between fields. Names are looked up as the body's own properties only.
 */
import type { FieldRule, MessageName } from "./rule-definition.ts";
import { keywordsOf, ruleNames } from "./field-rules.ts";
import { bareColumn, prepareField, type Field } from "./field.ts";
import { acceptedSchema } from "../values/types/schemas.ts";
import { type JsonSchema, narrowed, orNull } from "../values/json-schema.ts";
import type { Column, Columns } from "../values/types/column.ts";
import type { FieldErrors } from "../values/errors.ts";
import { type Clock, systemClock } from "../values/clock.ts";
import type { Scalar } from "../values/scalar.ts";
import { accept } from "../values/types/accept.ts";
import { columnTypes } from "../values/types/column-types.ts";
import { compareMoments, momentOf } from "../values/formats.ts";
import { explain, type Explained } from "./explained.ts";
import { type FieldWords, fieldWords } from "./field-words.ts";

/** The result of checking a body: accepted values by column, and every fault of every field. */
export interface Checked {
  readonly values: Map<Column, Scalar>;
  readonly errors: FieldErrors | null;
}

/** fieldValidation and column types of one entity, compiled. */
export interface Rules {
  /**
   * `columns` are those that the body may set, without the key; other members of the body are ignored. Pass the same
   * map each time, because the preparation for it is done only once. On update only the fields sent are checked.
   */
  check(body: Record<string, unknown>, mode: "create" | "update", columns: Columns): Checked;
  /** A value of one column that a body sends for a change. */
  checkOne(column: Column, sent: unknown): Checked;
  /** The allowed values in a body, by the column and its rule. */
  schemaOf(column: Column): JsonSchema;
  /** What a message about the column says; null: it is of no rule. */
  explain(column: Column, text: string): Explained | null;
  /** The description of the column's cells for a person. */
  wordsOf(column: Column): FieldWords;
  /** Names of the columns that a body must contain to create a record. */
  neededOf(columns: Columns): string[];
}

/** Rules in which `ruleFaults` found no fault; if a field has two, the last one counts. */
export function compileRules(rules: readonly FieldRule[], now: Clock = systemClock): Rules {
  const byName = new Map(rules.map((rule) => [rule.name, rule]));
  const prepared = new WeakMap<Columns, readonly Field[]>();
  const fieldsOf = (columns: Columns): readonly Field[] => {
    const known = prepared.get(columns);
    if (known) return known;
    const fields = [...columns.values()].map((column) =>
      prepareField(column, byName.get(column.name)),
    );
    prepared.set(columns, fields);
    return fields;
  };
  return {
    check: (body, mode, columns) => checkFields(fieldsOf(columns), { body, mode, columns, now }),
    checkOne(column, sent) {
      const columns: Columns = new Map([[column.name, column]]);
      const field = prepareField(column, byName.get(column.name));
      const body = { [column.name]: sent };
      return checkFields([field], { body, mode: "update", columns, now });
    },
    schemaOf: (column) => fieldSchema(column, byName.get(column.name)),
    explain: (column, text) => explain(text, prepareField(column, byName.get(column.name))),
    wordsOf: (column) => fieldWords(column, byName.get(column.name)),
    neededOf: (columns) =>
      fieldsOf(columns).flatMap(({ column, isNeeded, default: byDefault }) =>
        isNeeded && byDefault === undefined ? [column.name] : [],
      ),
  };
}

interface Check {
  readonly body: Record<string, unknown>;
  readonly mode: "create" | "update";
  readonly columns: Columns;
  readonly now: Clock;
}

function checkFields(fields: readonly Field[], check: Check): Checked {
  const values = new Map<Column, Scalar>();
  const faults = new Faults();
  for (const field of fields) checkField(field, check, values, faults);
  for (const field of fields)
    if (field.comparisons.length > 0) checkOrder(field, { ...check, values, faults });
  return { values, errors: faults.errors };
}

function checkField(
  field: Field,
  { body, mode }: Check,
  values: Map<Column, Scalar>,
  faults: Faults,
): void {
  const { column, rule } = field;
  let sent = Object.hasOwn(body, column.name) ? body[column.name] : undefined;
  if (sent === undefined) {
    if (mode === "update") return;
    sent = field.default;
    if (sent === undefined) {
      if (field.isNeeded) faults.add(column, "is required", rule, "required");
      return;
    }
  }
  const text = typeof sent === "string" ? transformed(sent, field) : sent;
  // An empty text asks for a number, as null does.
  const value = text === "" && mode === "create" && column.isNumbered ? null : text;
  const missing = value === null || value === "" ? missingIn(field, value) : undefined;
  if (missing !== undefined) {
    faults.add(column, missing.message, rule, missing.name);
  } else if (value === null) {
    // A trigger may set a value instead; if none does, the database refuses the null.
    const isFilled = mode === "create" && column.isFilledByTrigger === true;
    if (column.nullable || isFilled) values.set(column, null);
    else faults.add(column, "must not be null", rule, "nullable");
  } else if (rule === null) {
    store(field, value, values, faults);
  } else {
    checkRule(field, value, values, faults);
  }
}

function transformed(text: string, { transforms }: Field): string {
  let result = text;
  for (const change of transforms) result = change(result);
  return result;
}

const missingIn = ({ presences }: Field, value: null | "") =>
  presences.find(({ refuses }) => refuses(value));

function checkRule(
  field: Field,
  value: unknown,
  values: Map<Column, Scalar>,
  faults: Faults,
): void {
  const { column, rule, bare } = field;
  for (const { name, fault } of field.forms) {
    const message = fault(value);
    if (message !== null) return faults.add(column, message, rule, name);
  }
  const typed = accept(bare, value);
  if (!typed.ok) return faults.add(column, typed.message, rule, "type");
  for (const { name, fault } of field.tests) {
    const message = fault(typed.value, value);
    if (message !== null) faults.add(column, message, rule, name);
  }
  const { fromOther } = columnTypes[column.type];
  const own = bare.type === column.type ? value : fromOther(value, typed.value);
  store(field, own, values, faults);
}

function store(
  { column }: Field,
  value: unknown,
  values: Map<Column, Scalar>,
  faults: Faults,
): void {
  const stored = accept(column, value);
  if (stored.ok) values.set(column, stored.value);
  else faults.add(column, stored.message);
}

interface OrderCheck extends Check {
  readonly values: ReadonlyMap<Column, Scalar>;
  readonly faults: Faults;
}

/** No message if one of the two has no value in this body. */
function checkOrder(
  { column, rule, comparisons }: Field,
  { columns, now, values, faults }: OrderCheck,
): void {
  for (const { name, bound, message, holds } of comparisons) {
    const other = columns.get(bound);
    const left = momentOf(values.get(column));
    const right = momentOf(
      bound === "now" ? now() : other === undefined ? bound : values.get(other),
    );
    const side = compareMoments(left, right);
    if (side !== null && !holds(side)) faults.add(column, message, rule, name);
  }
}

/** The messages of all fields, each once. */
class Faults {
  errors: FieldErrors | null = null;

  /** `rule` and `name` select the configured message that replaces this one. */
  add(column: Column, message: string, rule: FieldRule | null = null, name?: MessageName): void {
    const own = name === undefined ? undefined : rule?.messages?.[name];
    // Without a prototype, a column may have any name.
    this.errors ??= Object.create(null) as FieldErrors;
    const messages = (this.errors[column.name] ??= []);
    const text = own ?? message;
    if (!messages.includes(text)) messages.push(text);
  }
}

/**
 * The plain values that the column and its rule accept. Values that are converted first (a number as text, blanks that
 * `trim` removes) may be accepted although the schema refuses them. The schema omits what JSON Schema cannot express
 * (digits after the decimal point, another field).
 */
function fieldSchema(column: Column, rule: FieldRule | undefined): JsonSchema {
  if (rule === undefined) return acceptedSchema(column);
  const bare = bareColumn(column, rule);
  const checked = bare.type === column.type ? column : bare;
  let schema = acceptedSchema({ ...checked, nullable: false });
  for (const name of ruleNames) schema = narrowed(schema, keywordsOf(name, { rule, bare }));
  const { presences } = prepareField(column, rule);
  const isNullable = column.nullable && !presences.some(({ refuses }) => refuses(null));
  return isNullable ? orNull(schema) : schema;
}
