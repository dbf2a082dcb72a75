/** `procedure` of an endpoint's file -> the statements that call it, held against what the database says of it. */
import type { Routine } from "../../plans/database-catalog.ts";
import type { ProcedurePlan } from "../../plans/procedure-plan.ts";
import type { Column } from "../../values/types/column.ts";
import { didYouMean } from "../reading/did-you-mean.ts";
import type { ParamConfig } from "../reading/param-schema.ts";
import { forEverybody } from "./plans.ts";
import { claimedParams, sentParams } from "./params-plan.ts";
import { paramColumns } from "./query-parameters.ts";
import type { Survey } from "./survey.ts";

/** Null without a procedure, or with one that cannot be called, which is a fault. */
export async function procedureOf(survey: Survey): Promise<ProcedurePlan | null> {
  const { procedure, hiddenFields } = survey.payload;
  if (procedure === undefined) return null;
  const { name, params } = procedure;
  const entries = Object.entries(params);
  const isOut = ([, one]: [string, ParamConfig]): boolean => "out" in one && one.out;
  const outs = entries.filter(([, one]) => "out" in one && (one.out || one.inout));
  const given = entries.filter((entry) => !isOut(entry));
  const columns = paramColumns(params);
  const path = ["procedure", "params"];
  const sent = given.flatMap(([param, one]) => ("claim" in one ? [] : [[param, one] as const]));
  const routine = await routineOf(survey, name);
  if (routine === null || !fits(survey, routine, params)) return null;
  const names = given.map(([param]) => param);
  return {
    params: {
      endpoint: survey.endpoint,
      claims: claimedParams(survey, params, { columns, path }),
      ...sentParams(survey, sent, { columns, path }),
    },
    given: names,
    texts: routine.callTexts(names),
    outs: new Map(outs.map(([param]): [string, Column] => [param, columns.get(param)!])),
    hidden: new Set(forEverybody(hiddenFields)),
  };
}

async function routineOf(survey: Survey, name: string): Promise<Routine | null> {
  const path = ["procedure", "name"];
  const found = await survey.routines(name);
  if (found === null) {
    survey.fault(["procedure"], { expected: "no procedure, because this database has none" });
    return null;
  }
  if (found.length === 1) return found[0]!;
  survey.fault(path, {
    expected:
      found.length === 0
        ? "a procedure of the database"
        : `the only procedure of its name; the database has ${found.length} of them`,
  });
  return null;
}

const modes = { in: "a value", out: "out", inout: "inout" } as const;

function modeOf(one: ParamConfig): keyof typeof modes {
  if (!("out" in one)) return "in";
  return one.out ? "out" : one.inout ? "inout" : "in";
}

/** Whether the file names the parameters that the procedure has. */
function fits(
  survey: Survey,
  { parameters }: Routine,
  params: Readonly<Record<string, ParamConfig>>,
): boolean {
  const faults = survey.faults.length;
  const names = parameters.flatMap(({ name }) => name ?? []);
  if (names.length < parameters.length)
    survey.fault(["procedure", "name"], {
      expected: "a procedure whose parameters all have names",
    });
  for (const { name, mode, hasDefault } of parameters)
    if (name !== null && !Object.hasOwn(params, name) && !(hasDefault && mode === "in"))
      survey.fault(["procedure", "params"], { expected: `the parameter ${name}` });
  for (const [name, one] of Object.entries(params)) {
    const parameter = parameters.find((each) => each.name === name);
    const path = ["procedure", "params", name];
    if (parameter === undefined)
      survey.fault(path, {
        expected: "a parameter of the procedure",
        hint: didYouMean(name, names),
      });
    else if (parameter.mode !== modeOf(one))
      survey.fault(path, { expected: `${modes[parameter.mode]}, as the procedure has it` });
  }
  return survey.faults.length === faults;
}
