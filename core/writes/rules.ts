/**
 * `fieldValidation` of one entity, compiled. `check` turns a body into values that the columns hold and says everything
 * that is wrong with it at once: per field the default and transforms, then the rule, then the column itself; in the
 * end the comparisons between fields. Names are looked up as the body's own properties only.
 * `core/config/compile.ts` compiles the rules, the writing actions call `check`.
 */
import { fieldTests, type FieldTest } from "./constraints.ts";
import type { Column, Columns } from "../column.ts";
import { acceptedSchema } from "../values/schemas.ts";
import type { FieldErrors } from "../errors.ts";
import { columnTypeOf, type ConstraintName, type FieldRule } from "./field-rule.ts";
import { momentOf } from "../values/formats.ts";
import { ExactNumber } from "../json.ts";
import { type JsonSchema, orNull } from "../json-schema.ts";
import type { Clock } from "../ports.ts";
import type { Scalar } from "../statement.ts";
import { accept } from "../values/accept.ts";

/** What a body becomes: accepted values by column, and every fault of every field. */
export interface Checked {
  readonly values: Map<Column, Scalar>;
  readonly errors: FieldErrors | null;
}

/** fieldValidation and column types of one entity, compiled. */
export interface Rules {
  /**
   * `columns` are those that the body may set, the key aside; other members of the body are ignored. Pass the same map
   * each time: what is known of it is prepared once. On update only the fields sent are checked.
   */
  check(body: Record<string, unknown>, mode: "create" | "update", columns: Columns): Checked;
  /** What `check` takes of these columns, as the members of a schema, and which of them it asks for. */
  describe(mode: "create" | "update", columns: Columns): FieldSchemas;
}

export interface FieldSchemas {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
}

/** Rules that `fieldRuleFaults` found nothing in; the last of two for one field wins. */
export function compileRules(
  rules: readonly FieldRule[],
  now: Clock = () => new Date().toISOString(),
): Rules {
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
    describe: (mode, columns) => describeFields(fieldsOf(columns), mode),
  };
}

function describeFields(fields: readonly Field[], mode: "create" | "update"): FieldSchemas {
  return {
    properties: Object.fromEntries(fields.map((field) => [field.column.name, schemaOf(field)])),
    required:
      mode === "update"
        ? []
        : fields
            .filter(({ isNeeded, rule }) => isNeeded && rule?.default === undefined)
            .map(({ column }) => column.name),
  };
}

function schemaOf({ column, isNullable, isRequired }: Field): JsonSchema {
  const schema = acceptedSchema(column);
  return isNullable && !isRequired ? orNull(schema) : schema;
}

/** A column with what its rule says, ready to be checked. */
interface Field {
  readonly column: Column;
  /** Null: the column alone decides. */
  readonly rule: FieldRule | null;
  /** The column without limits that the rule's type, or else the column's own, stands for. */
  readonly bare: Column;
  readonly tests: readonly FieldTest[];
  readonly isRequired: boolean;
  readonly isNullable: boolean;
  /** A create must bring a value. */
  readonly isNeeded: boolean;
}

function prepareField(column: Column, rule: FieldRule | undefined): Field {
  const isFilled = column.nullable || column.hasDefault || column.generated !== "none";
  const bare = withoutLimits(
    column,
    rule?.type === undefined ? column.type : columnTypeOf[rule.type],
  );
  const isRequired = rule?.required === true;
  return {
    column,
    rule: rule ?? null,
    bare,
    tests: rule === undefined ? [] : fieldTests(rule, bare),
    isRequired,
    isNullable: column.nullable && rule?.nullable !== false,
    isNeeded: isRequired || !isFilled,
  };
}

function withoutLimits(column: Column, type: Column["type"]): Column {
  const none = {
    lengthMax: null,
    bytesMax: null,
    range: null,
    precision: null,
    scale: null,
    span: null,
  };
  return { ...column, ...none, type, labels: null, fixedLength: false, fractionDigits: 3 };
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
  for (const { column, rule } of fields) {
    if (rule !== null) checkOrder(column, rule, { ...check, values, faults });
  }
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
    sent = rule?.default;
    if (sent === undefined) {
      if (field.isNeeded) faults.add(column, "is required", rule, "required");
      return;
    }
  }
  const value = rule === null || typeof sent !== "string" ? sent : transform(sent, rule);
  if (field.isRequired && (value === null || value === "")) {
    faults.add(column, "is required", rule, "required");
  } else if (value === null) {
    if (field.isNullable) values.set(column, null);
    else faults.add(column, "must not be null", rule, "nullable");
  } else if (rule === null) {
    store(field, value, values, faults);
  } else {
    checkRule(field, { rule, value, values, faults });
  }
}

function transform(text: string, rule: FieldRule): string {
  let result = rule.trim === true ? text.trim() : text;
  if (rule.lowercase === true) result = result.toLowerCase();
  if (rule.uppercase === true) result = result.toUpperCase();
  return result;
}

interface RuleCheck {
  readonly rule: FieldRule;
  readonly value: unknown;
  readonly values: Map<Column, Scalar>;
  readonly faults: Faults;
}

function checkRule(field: Field, { rule, value, values, faults }: RuleCheck): void {
  const { column, bare } = field;
  if (rule.strict === true && !isOfJsonType(bare, value)) {
    faults.add(column, `must be ${jsonTypes[bare.type]}`, rule, "strict");
    return;
  }
  const typed = accept(bare, value);
  if (!typed.ok) {
    faults.add(column, typed.message, rule, "type");
    return;
  }
  for (const test of field.tests) {
    const message = test.run(typed.value, value);
    if (message !== null) faults.add(column, message, rule, test.constraint);
  }
  store(field, forColumn(field, value, typed.value), values, faults);
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

/** What the column gets where the rule's type differs from its own; a sent text stays byte for byte what it was. */
function forColumn({ column, bare }: Field, value: unknown, typed: Scalar): unknown {
  if (typeof typed === "boolean" && column.type === "integer") return Number(typed);
  const isText = column.type === "text" || column.type === "other";
  return isText && bare.type !== column.type && typeof value !== "string" ? String(typed) : value;
}

const jsonTypes: Partial<Record<Column["type"], string>> = {
  text: "a text",
  integer: "a number, not a text",
  decimal: "a number, not a text",
  float: "a number, not a text",
  boolean: "true or false, not a number or text",
};

/** What `strict` asks for: a text, number or boolean as such. The other types have one JSON form only. */
function isOfJsonType({ type }: Column, value: unknown): boolean {
  if (type === "text") return typeof value === "string";
  if (type === "boolean") return typeof value === "boolean";
  const isNumeric = type === "integer" || type === "decimal" || type === "float";
  return !isNumeric || typeof value === "number" || value instanceof ExactNumber;
}

interface OrderCheck extends Check {
  readonly values: ReadonlyMap<Column, Scalar>;
  readonly faults: Faults;
}

/** `before` and `after`; silent where one of the two has no value in this body. */
function checkOrder(
  column: Column,
  rule: FieldRule,
  { columns, now, values, faults }: OrderCheck,
): void {
  for (const constraint of ["before", "after"] as const) {
    const bound = rule[constraint];
    if (bound === undefined) continue;
    const other = columns.get(bound);
    const left = momentOf(values.get(column));
    const right = momentOf(
      bound === "now" ? now() : other === undefined ? bound : values.get(other),
    );
    if (left === null || right === null || left.length !== right.length) continue;
    const holds = constraint === "before" ? left < right : left > right;
    if (!holds) faults.add(column, `must be ${constraint} ${bound}`, rule, constraint);
  }
}

/** The messages of all fields, each once. */
class Faults {
  errors: FieldErrors | null = null;

  /** `rule` and `constraint` say which of the configuration's own messages stands in for this one. */
  add(
    { name }: Column,
    message: string,
    rule: FieldRule | null = null,
    constraint?: ConstraintName,
  ): void {
    const own = constraint === undefined ? undefined : rule?.messages?.[constraint];
    // Without a prototype, a column may have any name.
    this.errors ??= Object.create(null) as FieldErrors;
    const messages = (this.errors[name] ??= []);
    const text = own ?? message;
    if (!messages.includes(text)) messages.push(text);
  }
}
