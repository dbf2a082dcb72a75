/** The paths of OData below `/odata/{project}`: those of all sets are the same, so each is described once. */
import type { Routes } from "../dispatch.ts";
import { odataLimits } from "../odata/odata-limits.ts";
import type { Json } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import type { ViewOf } from "./describe-endpoint.ts";
import { camelCase } from "./naming.ts";
import type { Operation, Paths } from "./operation.ts";
import type { ProjectPlace } from "./project-operation.ts";
import { securityOf } from "./security.ts";

export const odataTag = "odata";

/** `path`: of the service document, without its last slash. */
export function describeOData(
  { odata }: Pick<Routes, "odata">,
  viewOf: ViewOf,
  { path, parts, base, tag, traits }: Omit<ProjectPlace, "path"> & { readonly path: string },
): Paths {
  if (odata === null) return {};
  const seen = [...odata.sets].flatMap(([set, { list, first }]) => {
    const hasList = list !== null && viewOf(list) !== null;
    return hasList || (first !== null && viewOf(first) !== null) ? [{ set, hasList }] : [];
  });
  if (seen.length === 0) return {};
  const all = seen.map(({ set }) => set);
  const lists = seen.filter(({ hasList }) => hasList).map(({ set }) => set);
  const mayUse = [...odata.sets.values()];
  const security = securityOf(
    traits.credentials && { ...traits.credentials, takesBasic: true },
    (caller) => mayUse.some(({ list, first }) => list?.mayUse(caller) || first?.mayUse(caller)),
  );
  const operation = (name: string, summary: string, more: Operated): Operation => ({
    operationId: parts.operationId(camelCase(`${base} odata ${name}`)),
    tags: [tag],
    summary,
    ...security,
    parameters: [...more.parameters, parts.parameter("X-Request-Id")],
    responses: {
      200: {
        description: more.description,
        headers: parts.headers(["X-Request-Id"]),
        content: { [more.mediaType ?? "application/json"]: { schema: more.schema } },
      },
      "4XX": failure("The request is refused."),
      "5XX": failure("The service does not offer this, or cannot answer now."),
    },
  });
  const failure = (description: string): Json => ({
    description,
    headers: parts.headers(["X-Request-Id"]),
    content: { "application/json": { schema: errorSchema } },
  });
  const ofSets = (names: readonly string[]) =>
    inPath("set", "The entity set.", { enum: [...names] });
  const paths: Record<string, Paths[string]> = {
    [path]: {
      get: operation("service", "Names the entity sets.", {
        parameters: [],
        description: "The service document.",
        schema: { type: "object" },
      }),
    },
    [`${path}/$metadata`]: {
      get: operation("metadata", "Describes the entity sets, their types and relations.", {
        parameters: [],
        description: "CSDL in XML.",
        mediaType: "application/xml",
        schema: { type: "string" },
      }),
    },
    [`${path}/{set}({key})`]: {
      get: operation("record", "Finds one record of an entity set by its key.", {
        parameters: [
          ofSets(all),
          inPath("key", "As OData writes it: 5, 'A1', or no='A1',line=2.", { type: "string" }),
          ...recordOptions,
        ],
        description: "The record.",
        schema: { type: "object" },
      }),
    },
  };
  if (lists.length === 0) return paths;
  return {
    ...paths,
    [`${path}/{set}`]: {
      get: operation("list", "Lists the records of an entity set.", {
        parameters: [ofSets(lists), ...listOptions, prefer],
        description: "A page of records.",
        schema: listSchema,
      }),
    },
    [`${path}/{set}/$count`]: {
      get: operation("count", "Counts the records of an entity set.", {
        parameters: [ofSets(lists), ...countOptions],
        description: "The number.",
        mediaType: "text/plain",
        schema: { type: "string", pattern: "^[0-9]+$" },
      }),
    },
  };
}

interface Operated {
  readonly parameters: readonly Json[];
  readonly description: string;
  /** Absent: JSON. */
  readonly mediaType?: string;
  readonly schema: Json;
}

const inPath = (name: string, description: string, schema: Json): Json => ({
  name,
  in: "path",
  required: true,
  description,
  schema,
});

const inQuery = (name: string, description: string, schema: Json = { type: "string" }): Json => ({
  name,
  in: "query",
  description,
  schema,
});

const filter = inQuery("$filter", "Which records: amount gt 10 and customer/name eq 'Ada'.");
const search = inQuery("$search", "Words and phrases that the records must contain.");
const whole: Json = { type: "integer", minimum: 0 };

const recordOptions: readonly Json[] = [
  inQuery("$select", "Names of properties, separated by commas."),
  inQuery("$expand", "Related records: customer,lines($orderby=line;$top=5)."),
];
const countOptions: readonly Json[] = [filter, search];
const listOptions: readonly Json[] = [
  filter,
  search,
  inQuery("$orderby", "Properties, each with asc or desc behind it, separated by commas."),
  ...recordOptions,
  inQuery("$top", "Records at most.", whole),
  inQuery("$skip", "Records to leave out first.", whole),
  inQuery("$count", "Whether the answer has the number of all records.", { type: "boolean" }),
  inQuery("$skiptoken", "As @odata.nextLink has it."),
];
const prefer: Json = {
  name: "Prefer",
  in: "header",
  description: `odata.maxpagesize=…: records of a page, at most ${limits.limitMax}; absent: ${odataLimits.pageDefault}.`,
  schema: { type: "string" },
};

const listSchema: Json = {
  type: "object",
  properties: {
    "@odata.context": { type: "string" },
    "@odata.count": whole,
    value: { type: "array", items: { type: "object" } },
    "@odata.nextLink": { type: "string", format: "uri" },
  },
  required: ["@odata.context", "value"],
};

const errorSchema: Json = {
  type: "object",
  properties: {
    error: {
      type: "object",
      properties: {
        code: { type: "string", description: "The name of the error." },
        message: { type: "string", description: "What is wrong, for people." },
        details: { type: "array", items: { type: "object" } },
      },
      required: ["code", "message"],
    },
  },
  required: ["error"],
};
