/**
 * next-number: the numbers that a record with these fields would get if it were made now. Takes none, so another
 * record may get them first.
 */
import { type CallOf, defineAction } from "../calls/action.ts";
import { past } from "../callers/scoped-session.ts";
import { asSent, type Grammar, object, unread, whatever } from "../grammar/grammar.ts";
import { numberAfter } from "../numbers/number-counters.ts";
import { openNumber, type OpenNumber, type ValueOf } from "../numbers/number-text.ts";
import type { Entity } from "../plans/entity.ts";
import { columnsBehind, type NumberPlan } from "../plans/number-tables.ts";
import { notARecord, recordColumns, recordMembers } from "../records/record-grammar.ts";
import { createAudit, filledBeside, type InsertingPlan, withFills } from "../records/record.ts";
import { AppError, type FieldErrors, validationFailed } from "../values/errors.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { wholeObject } from "../values/json-shapes.ts";
import type { Row } from "../values/row.ts";
import type { Scalar } from "../values/scalar.ts";
import { columnTypes } from "../values/types/column-types.ts";
import type { Column, Columns } from "../values/types/column.ts";

interface NumberNeeds extends InsertingPlan {
  /** At least one; those that answers show. */
  readonly numbers: readonly NumberPlan[];
  /** The fields on which they depend, as far as a body may set them. */
  readonly fields: Columns;
}

type Body = Record<string, unknown>;

export const nextNumber = defineAction<NumberNeeds, Body>({
  name: "next-number",
  summary: "Tells the numbers that a new record would get.",
  mode: "reads",
  methods: ["POST"],
  requires: ["table", "numbers"],
  isStep: false,
  errors: ["validationFailed", "constraintViolation"],
  sees: "active",
  takesEmptyBody: true,
  needs({ insert, read, numbers: tables }) {
    if (insert === null || read === null) return null;
    const { table, shown, writable, keyColumns } = insert;
    const numbers = (tables.get(table.identity) ?? []).filter(({ column }) =>
      shown.has(column.name),
    );
    const behind = numbers.flatMap(columnsBehind);
    const open = behind.filter(({ name }) => writable.has(name) || keyColumns.has(name));
    const fields = new Map(open.map((column) => [column.name, column]));
    return numbers.length === 0 ? null : { write: insert, read, numbers, fields };
  },
  grammar: (plan, { entity }) => grammar(plan, entity),
  answer: ({ numbers }) => ({
    status: 200,
    schema: wholeObject({
      data: wholeObject(
        Object.fromEntries(numbers.map(({ column }) => [column.name, { type: "string" }])),
      ),
    }),
  }),

  async run(call, plan) {
    const open = openNumbers(call, plan);
    const { session, digest } = call;
    const ledger = await session.ledger("numbers");
    const own = past(session, "numbers");
    const data: Row = {};
    for (const one of open)
      data[one.plan.column.name] = await numberAfter(own, one, { ledger, digest });
    return { status: 200, body: { data } };
  },
});

/** The fields of a new record. Those on which the numbers depend are required, unless a rule has a default. */
const grammar = (plan: NumberNeeds, entity: Entity): Grammar<Body> =>
  asSent(() => {
    const { rules } = entity;
    // Other fields may be sent, and do not count.
    const others = Object.keys(recordMembers(recordColumns(plan, entity), "create"));
    const asked = [...plan.fields.values()];
    const filled = rules.check({}, "create", plan.fields).values;
    return object(
      {
        ...Object.fromEntries(others.map((name) => [name, whatever])),
        ...Object.fromEntries(
          asked.map((column) => [
            column.name,
            unread(() => filledSchema(rules.schemaOf({ ...column, nullable: false }), column)),
          ]),
        ),
      },
      { required: asked.flatMap((column) => (filled.has(column) ? [] : column.name)) },
    );
  }, notARecord);

const filledSchema = (schema: JsonSchema, { type }: Column): JsonSchema =>
  columnTypes[type].isText && !("enum" in schema)
    ? { ...schema, minLength: Math.max(1, Number(schema["minLength"] ?? 0)) }
    : schema;

/** Rejects with what create would refuse in the fields behind the numbers. */
function openNumbers(call: CallOf<Body>, { write, numbers, fields }: NumberNeeds): OpenNumber[] {
  const { rules, settings } = call.entity;
  const checked = rules.check(withFills(call, write), "create", fields);
  const errors: FieldErrors = { ...checked.errors };
  const values = new Map<string, Scalar>();
  const beside = filledBeside({ ...call, rules }, write);
  const all = [...beside, ...checked.values, ...createAudit({ write }, call)];
  for (const [{ name }, value] of all) values.set(name, value);
  const valueOf: ValueOf = ({ name }) => values.get(name);
  const time = { now: call.now(), timeZone: settings.timeZone };
  const empty: FieldErrors = {};
  const open = numbers.flatMap((plan) => openNumber(plan, { valueOf, time, errors: empty }) ?? []);
  for (const [name, messages] of Object.entries(empty)) errors[name] ??= messages;
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  // Counters of other rows than the caller's own are not shown.
  const known = [...fields.values()].flatMap((column) => {
    const value = valueOf(column);
    return value === undefined ? [] : [[column, value] as const];
  });
  if (call.refusedColumn(new Map(known)) !== null)
    throw new AppError("forbidden", "The record would be outside the rows that you may access");
  return open;
}
