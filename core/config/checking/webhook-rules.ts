/** `webhooks` of project.json -> what each webhook is told of the tables of its endpoints. */
import { isDecidable } from "../../changes/holds.ts";
import type { WebhookRule } from "../../plans/change-tables.ts";
import type { Condition } from "../../query/statement.ts";
import { neededWhere } from "../../query/where.ts";
import { AppError } from "../../values/errors.ts";
import type { Columns } from "../../values/types/column.ts";
import { faultOfAddress } from "../compiling/hook-plan.ts";
import { didYouMean } from "../reading/did-you-mean.ts";
import { faultAt } from "../reading/document.ts";
import type { Fault, Path } from "../reading/faults.ts";
import type { WebhookSettings } from "../reading/webhook-schema.ts";
import type { ProjectConfig } from "../reading/read-config.ts";

/** A webhook, at the place where it names an endpoint. */
export interface NamedBy {
  readonly webhook: WebhookSettings;
  /** In `webhooks`. */
  readonly at: number;
  /** Where the endpoint is named. */
  readonly path: Path;
}

/** The webhooks of a project while it is compiled. */
export interface WebhookSurvey {
  readonly faults: readonly Fault[];
  fault(path: Path, about: Parameters<typeof faultAt>[2]): void;
  /** The webhooks that can be called and name the endpoint. */
  naming(endpoint: string): readonly NamedBy[];
}

/** Checks what needs no database. */
export function openWebhookSurvey(
  config: Pick<ProjectConfig, "webhooks" | "document" | "endpoints" | "endpointNames">,
): WebhookSurvey {
  const faults: Fault[] = [];
  const survey: WebhookSurvey = {
    faults,
    fault: (path, about) =>
      void faults.push(faultAt(config.document, ["webhooks", ...path], about)),
    naming: (endpoint) => usable.filter(({ names }) => names === endpoint),
  };
  const known = config.endpointNames;
  const usable = config.webhooks.flatMap((webhook, at) => {
    const before = faults.length;
    checkOne(survey, { webhook, at, config });
    const named = [...webhook.endpoints.entries()].flatMap(([place, names]) => {
      const path = [at, "endpoints", place];
      if (webhook.endpoints.indexOf(names) < place)
        survey.fault(path, { expected: "each endpoint once" });
      else if (!known.has(names))
        survey.fault(path, {
          expected: "an endpoint of the project",
          hint: didYouMean(names, known),
        });
      else return { webhook, at, path, names };
      return [];
    });
    // Without an address or with the name of another one, it could not be called.
    return faults.length > before ? [] : named;
  });
  return survey;
}

function checkOne(
  survey: WebhookSurvey,
  {
    webhook: { name, url },
    at,
    config: { webhooks },
  }: { webhook: WebhookSettings; at: number; config: Pick<ProjectConfig, "webhooks"> },
): void {
  if (webhooks.findIndex((other) => other.name === name) < at)
    survey.fault([at, "name"], { expected: "a different name for each webhook" });
  const fault = /[{}]/.test(url)
    ? { expected: "an address without variables other than those of the environment" }
    : faultOfAddress([url]);
  if (fault && url.startsWith("/"))
    survey.fault([at, "url"], { expected: "http:// or https:// and a host" });
  else if (fault) survey.fault([at, "url"], fault);
}

/** `columns`: those of the table that no endpoint whose changes are recorded hides from everybody. */
export function webhookRule(
  survey: WebhookSurvey,
  { webhook, at }: NamedBy,
  table: {
    readonly columns: Columns;
    readonly label: string;
    readonly place: Pick<WebhookRule, "project" | "endpoint" | "namesRecords">;
  },
): WebhookRule {
  const { columns, label } = table;
  for (const [place, name] of webhook.columns?.entries() ?? [])
    if (!columns.has(name))
      survey.fault([at, "columns", place], {
        expected: `a column of ${label} that is not hidden from everybody`,
        hint: didYouMean(name, columns.keys()),
      });
  return {
    ...table.place,
    webhook: webhook.name,
    on: new Set(webhook.on),
    columns: webhook.columns ? new Set(webhook.columns) : null,
    when: webhook.when
      ? conditionOf(survey, { when: webhook.when, path: [at, "when"], table })
      : null,
  };
}

function conditionOf(
  survey: WebhookSurvey,
  {
    when,
    path,
    table: { columns, label },
  }: { when: object; path: Path; table: { readonly columns: Columns; readonly label: string } },
): Condition | null {
  const expected = `a where, as read takes it, over the columns of ${label}`;
  const grammar = neededWhere(columns);
  try {
    const condition = grammar.read(when);
    for (const { path: unknown } of grammar.unknownIn?.(when, "when") ?? [])
      survey.fault(path, { found: `the unknown member ${unknown}`, expected });
    if (condition === null) survey.fault(path, { expected: "a where with a condition" });
    else if (!isDecidable(condition))
      survey.fault(path, {
        found: "an operator that only the database can apply",
        expected: "conditions that can be checked against a single record",
      });
    return condition;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    survey.fault(path, { found: `one that is refused: ${error.message}`, expected });
    return null;
  }
}
