/** `params` of an endpoint's file -> what requests may send for its queries, and what claims give. */
import type { Column, Columns } from "../../values/types/column.ts";
import { ruleFaults } from "../../rules/field-rules.ts";
import { compileRules } from "../../rules/compile-rules.ts";
import type { FieldRule } from "../../rules/rule-definition.ts";
import { namesIn, type QueryParams } from "../../plans/query-params.ts";
import type { Path } from "../reading/faults.ts";
import type { ParamConfig, SentParam } from "../reading/param-schema.ts";
import { fieldRuleOf } from "./rule-plan.ts";
import type { FoundQuery, Survey } from "./survey.ts";

/** Null where there are none. A parameter that no query names is a fault. */
export function paramsOf(
  survey: Survey,
  [reading, ...queries]: readonly (Pick<FoundQuery, "source"> | null | undefined)[],
): QueryParams | null {
  const { params, viewQuery } = survey.payload;
  if (params === undefined || Object.keys(params).length === 0) return null;
  const columns = survey.params;
  const read = [...(viewQuery === undefined ? [] : [reading]), ...queries];
  const named = new Set(read.flatMap((one) => [...((one && namesIn(one.source)) ?? [])]));
  const sent: [string, SentParam][] = [];
  for (const [name, config] of Object.entries(params)) {
    // A query with a fault is told by itself.
    if (!named.has(name) && !read.includes(null))
      survey.fault(["params", name], {
        expected: `a viewQuery, datatablesQuery or exportQuery that names :${name}`,
      });
    if (!("claim" in config)) sent.push([name, config]);
  }
  return {
    endpoint: survey.endpoint,
    claims: claimedParams(survey, params, { columns, path: ["params"] }),
    ...sentParams(survey, sent, { columns, path: ["params"] }),
  };
}

interface Placed {
  readonly columns: Columns;
  /** Of `params` in the file. */
  readonly path: Path;
}

/** Those that come from claims. */
export function claimedParams(
  survey: Survey,
  params: Readonly<Record<string, ParamConfig>>,
  { columns, path }: Placed,
): QueryParams["claims"] {
  const claims = new Map<string, { column: Column; path: string }>();
  for (const [name, config] of Object.entries(params)) {
    if (!("claim" in config)) continue;
    if (survey.hasAuth) claims.set(name, { column: columns.get(name)!, path: config.claim });
    else
      survey.fault([...path, name, "claim"], { expected: "a claim only in a project with auth" });
  }
  return claims;
}

/** The columns and rules of what requests send; faults of constraints and defaults go to the survey. */
export function sentParams(
  survey: Pick<Survey, "fault">,
  params: readonly (readonly [string, SentParam])[],
  { columns, path }: Placed,
): Pick<QueryParams, "sent" | "rules"> {
  const sent: Columns = new Map(params.map(([name]) => [name, columns.get(name)!]));
  const fieldRules = params.map(([name, param]): FieldRule => {
    const { type, required, default: byDefault, constraints } = param;
    const rule: FieldRule = {
      ...fieldRuleOf({ name, type, constraints }),
      ...(required && { required }),
      ...(byDefault !== undefined && { default: byDefault }),
    };
    for (const fault of ruleFaults(rule, sent))
      survey.fault([...path, name, "constraints", fault.rule], {
        expected: `a valid value (it ${fault.message})`,
      });
    return rule;
  });
  const rules = Object.freeze(compileRules(fieldRules));
  for (const rule of fieldRules) {
    if (rule.default === undefined) continue;
    const [message] =
      rules.check({ [rule.name]: rule.default }, "update", sent).errors?.[rule.name] ?? [];
    if (message !== undefined)
      survey.fault([...path, rule.name, "default"], {
        expected: `a value that it takes (it ${message})`,
      });
  }
  return { sent, rules };
}
