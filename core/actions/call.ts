/**
 * call: runs one procedure of the database in a transaction, with values of the request and of the caller's claims, and
 * answers its output parameters, or the rows that it gives.
 */
import { defineAction } from "../calls/action.ts";
import { paramsFor } from "../calls/params.ts";
import { past } from "../callers/scoped-session.ts";
import { object } from "../grammar/grammar.ts";
import { boundParams } from "../plans/query-params.ts";
import type { ProcedurePlan } from "../plans/procedure-plan.ts";
import type { Native, NativeValue } from "../query/statement.ts";
import { AppError } from "../values/errors.ts";
import type { Json } from "../values/json.ts";
import { type JsonSchema, orNull } from "../values/json-schema.ts";
import { wholeObject } from "../values/json-shapes.ts";
import type { Row } from "../values/row.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Column } from "../values/types/column.ts";
import { shownSchema } from "../values/types/schemas.ts";

interface CallRequest {
  readonly params: ReadonlyMap<string, Scalar>;
}

export const call = defineAction<ProcedurePlan, CallRequest>({
  name: "call",
  summary: "Runs a procedure of the database, and answers its results.",
  mode: "writes",
  methods: ["POST"],
  requires: ["procedure"],
  headers: ["Idempotency-Key"],
  errors: ["validationFailed", "foreignKeyMissing", "foreignKeyInUse", "duplicateEntry"],
  takesEmptyBody: true,
  needs: (entity) => entity.procedure,
  grammar: ({ params }) => {
    const values = paramsFor(params, new Set(params.sent.keys()));
    const needed = (values.schema().required ?? []).length > 0;
    return object({ params: values }, { required: needed ? ["params"] : [] });
  },
  answer: ({ outs }, { entity: { settings } }) => ({
    status: 200,
    schema: wholeObject({
      data:
        outs.size > 0
          ? wholeObject(
              Object.fromEntries(
                [...outs].map(([name, column]) => [
                  name,
                  orNull(shownSchema(column, settings.decimals)),
                ]),
              ),
            )
          : ({ type: "array", items: { type: "object" } } satisfies JsonSchema),
    }),
  }),

  begin({ input, caller }, plan) {
    const { values, lacking } = boundParams(plan.params, input.params, caller);
    if (lacking.size > 0)
      throw new AppError("forbidden", "The procedure needs a claim that you do not have");
    const statements = plan.texts.map((text, at): Native => ({
      kind: "native",
      ...text,
      values: plan.given.map((name) => valueOf(name, values, plan)),
      isRead: false,
      isCall: at === 0 ? "begins" : "continues",
    }));
    return {
      isOneStatement: false,
      async run(tx) {
        const queries = past(tx, "procedure");
        let rows: Row[] = [];
        try {
          for (const statement of statements) rows = await queries.native(statement);
        } catch (error) {
          throw aboutParams(error, plan);
        }
        return { status: 200, body: { data: dataOf(rows, plan) } };
      },
    };
  },
});

/** Its tables are not the caller's, so of what the database names only parameters stay, and what RAISE names. */
function aboutParams(error: unknown, { params }: ProcedurePlan): unknown {
  if (!(error instanceof AppError) || error.errors === undefined) return error;
  if (error.kind === "rejectedByDatabase") return error;
  const own = Object.entries(error.errors).filter(([name]) => params.sent.has(name));
  const errors = Object.fromEntries(own.map(([name, texts]) => [`params.${name}`, texts]));
  return error.with({ errors: own.length > 0 ? errors : undefined });
}

function valueOf(
  name: string,
  values: ReadonlyMap<string, Scalar>,
  { params }: ProcedurePlan,
): NativeValue {
  const column = params.sent.get(name) ?? params.claims.get(name)!.column;
  return { type: column.type, value: values.get(name) ?? null };
}

function dataOf(rows: readonly Row[], { outs, hidden }: ProcedurePlan): Json {
  if (outs.size === 0)
    return rows.map((row) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => !hidden.has(name))),
    );
  const [row = {}] = rows;
  const shown = [...outs].filter(([name]) => !hidden.has(name));
  return Object.fromEntries(shown.map(([name, column]) => [name, shownOut(row[name], column)]));
}

/** Not every database has booleans. */
const shownOut = (value: Json | undefined, { type }: Column): Json =>
  type === "boolean" && typeof value === "number" ? value !== 0 : (value ?? null);
