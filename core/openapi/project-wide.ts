/** Actions that are reached for a whole project, as `/api/shop/lock/acquire`: the body names the endpoint. */
import type { BoundAction } from "../dispatch.ts";
import type { Json } from "../values/json.ts";
import type { DocumentParts } from "./document-parts.ts";
import { camelCase } from "./naming.ts";
import type { Operation, Paths } from "./operation.ts";

export interface ProjectWidePlace {
  /** Of the project, as in the URL. */
  readonly path: string;
  readonly parts: DocumentParts;
  /** Begins the names of operations; may be empty. */
  readonly base: string;
  readonly tag: string;
}

/** Built from the same actions in `paths`, which contains the endpoints that the caller may use. */
export function describeProjectWide(
  { action }: BoundAction,
  paths: Paths,
  { path, parts, base, tag }: ProjectWidePlace,
): Paths {
  const operations = Object.entries(paths).flatMap(([one, { post }]) =>
    post && one.endsWith(`/${action.name}`) ? [post] : [],
  );
  const [first] = operations;
  if (!first) return {};
  const schema = { type: "object", anyOf: operations.map((one) => withResource(schemaOf(one))) };
  const operation: Operation = {
    ...first,
    operationId: parts.operationId(camelCase(`${base} ${action.name}`)),
    tags: [tag],
    requestBody: { required: true, content: { [json]: { schema } } },
  };
  return { [`${path}/${action.name}`]: { post: operation } };
}

const json = "application/json";

const schemaOf = ({ requestBody }: Operation): Json => requestBody!.content[json]!.schema;

const withResource = (schema: Json): Json => ({
  allOf: [schema, { type: "object", required: ["resource"] }],
});
