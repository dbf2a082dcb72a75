/** The request of an operation: parameters and body. */
import { tableMediaTypes } from "../plans/table-formats.ts";
import type { RequestHeader } from "../calls/action-errors.ts";
import type { Entity } from "../plans/entity.ts";
import type { Json } from "../values/json.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import type { DraftOperation, OperationPlace } from "./draft-operation.ts";
import { requestMode } from "./headers.ts";
import { exampleOf } from "./schema-example.ts";

export interface RequestBody {
  readonly required?: true;
  /** By media type. */
  readonly content: Readonly<Record<string, MediaType>>;
}

interface MediaType {
  readonly schema: Json;
  readonly example?: Json;
  readonly encoding?: Json;
}

/** The members `parameters` and `requestBody` of an operation. `name`: of the schema of its body. */
export function requestParts(
  draft: DraftOperation,
  place: OperationPlace,
  name: string,
): { readonly parameters: readonly Json[]; readonly requestBody?: RequestBody } {
  const parameters = [...queryOf(draft, place), ...headersOf(draft, place)];
  return {
    parameters,
    ...(draft.method === "POST" && { requestBody: bodyOf(draft, place, name) }),
  };
}

function headersOf(
  { action, method, answer }: DraftOperation,
  { parts: { parameter } }: OperationPlace,
): Json[] {
  const mode = method === "GET" ? "dynamic" : "static";
  const own = [...action.headers].map((header: RequestHeader) =>
    header === "X-Request-Mode" ? requestMode(mode) : parameter(header),
  );
  const ofFiles =
    "mediaTypes" in answer
      ? [
          parameter("Range"),
          ...(answer.hasEtag ? [parameter("If-None-Match"), parameter("If-Range")] : []),
        ]
      : [];
  return [...own, ...ofFiles, parameter("X-Request-Id")];
}

/** Objects and lists are sent as names with brackets: `where[city]=Graz`. */
function queryOf({ method, input }: DraftOperation, { printer }: OperationPlace): Json[] {
  if (method !== "GET") return [];
  const { properties = {}, required = [] } = input;
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    ...(required.includes(name) && { required: true }),
    ...(isNested(schema) && { style: "deepObject", explode: true }),
    ...(schema.description !== undefined && { description: schema.description }),
    schema: printer.print(schema),
  }));
}

const isNested = ({ type, anyOf = [] }: JsonSchema): boolean =>
  [type].flat().some((one) => one === "object" || one === "array") || anyOf.some(isNested);

function bodyOf(draft: DraftOperation, { printer }: OperationPlace, name: string): RequestBody {
  const { action, input } = draft;
  const schema = printer.printAs(input, name);
  if (action.takesUpload) {
    const encoding = { file: { contentType: tableMediaTypes.xlsx } };
    const isWorkbook = action.uploadFields.length === 0;
    const media = { schema, ...(isWorkbook && { encoding }) };
    return { required: true, content: { "multipart/form-data": media } };
  }
  const example = exampleOf(input, { members: exampleMembersOf(draft) });
  const media: MediaType = {
    schema: action.takesOptions ? withOptions(schema) : schema,
    ...(example !== undefined && { example }),
  };
  return {
    ...(!isEmptyTaken(input) && { required: true }),
    content: {
      "application/json": media,
      ...(action.takesForm && { "application/x-www-form-urlencoded": { schema } }),
    },
  };
}

const isEmptyTaken = ({ minProperties = 0, required = [], anyOf }: JsonSchema): boolean =>
  minProperties === 0 && required.length === 0 && !anyOf?.every((one) => !isEmptyTaken(one));

/** The body itself, or next to options for handlers. */
const withOptions = (schema: Json): Json => ({
  type: "object",
  anyOf: [
    schema,
    {
      type: "object",
      properties: { data: schema, options: { type: "object" } },
      required: ["data", "options"],
      additionalProperties: false,
    },
  ],
});

/** Optional members of a body that its example has. */
function exampleMembersOf({ action, entity }: DraftOperation): readonly string[] {
  const shown = shownMembers[action.name] ?? [];
  return typeof shown === "function" ? shown(entity) : shown;
}

const fieldsOf = ({ insert }: Entity): string[] => [...(insert?.writable.keys() ?? [])];

const shownMembers: Readonly<
  Record<string, readonly string[] | ((entity: Entity) => readonly string[])>
> = {
  create: fieldsOf,
  update: (entity) => fieldsOf(entity).slice(0, 3),
  read: ["page", "per_page", "where", "sort_columns"],
  datatables: ["draw", "start", "length", "search"],
  lookup: ["search", "limit"],
  aggregate: ["operations", "group_by"],
  export: ["format", "where"],
};
