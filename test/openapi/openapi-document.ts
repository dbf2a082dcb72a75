/**
 * An OpenAPI document as a client reads it: its operations, and whether a value matches a schema. It uses no code of
 * the service: Ajv validates, and everything else is in the document.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { JsonSchema } from "../../core/values/json-schema.ts";

// oxlint-disable-next-line no-explicit-any -- documents are read as JSON
type Part = any;

export interface OpenedOperation {
  readonly id: string;
  readonly path: string;
  readonly method: "GET" | "POST";
  readonly parameters: readonly Parameter[];
  readonly requestBody: Part;
  /** By status, without references. */
  readonly responses: Readonly<Record<string, Part>>;
  /** Where it is in the document, as a JSON pointer. */
  readonly pointer: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: "query" | "header";
  readonly required?: boolean;
  readonly schema: Part;
}

export interface OpenedDocument {
  readonly json: Part;
  readonly operations: readonly OpenedOperation[];
  operation(id: string): OpenedOperation;
  /** Why the value does not match the schema at this place; null = it matches. */
  faultOf(schema: Part, value: unknown): string | null;
  /** The schema with its references resolved. */
  whole(schema: Part): JsonSchema;
}

export function openDocument(json: Part): OpenedDocument {
  const ajv = new Ajv2020({ strict: false, multipleOfPrecision: 6 });
  addFormats.default(ajv);
  ajv.addFormat("binary", true);
  ajv.addSchema({ $id: "https://document.test/", components: json.components });
  const compiled = new Map<string, ValidateFunction>();
  const resolve = (part: Part): Part =>
    typeof part?.$ref === "string"
      ? resolve(
          part.$ref
            .slice(2)
            .split("/")
            .reduce((within: Part, name: string) => within[name], json),
        )
      : part;

  const operations = Object.entries<Part>(json.paths).flatMap(([path, methods]) =>
    Object.entries<Part>(methods).map(([method, operation]): OpenedOperation => ({
      id: operation.operationId,
      path,
      method: method.toUpperCase() as "GET" | "POST",
      parameters: operation.parameters.map(resolve),
      requestBody: operation.requestBody,
      responses: Object.fromEntries(
        Object.entries<Part>(operation.responses).map(([status, one]) => [status, resolve(one)]),
      ),
      pointer: `/paths/${path.replaceAll("/", "~1")}/${method}`,
    })),
  );

  const wholes = new Map<Part, JsonSchema>();
  function whole(schema: Part): JsonSchema {
    const known = wholes.get(schema);
    if (known) return known;
    const resolved = resolve(schema);
    const made =
      resolved === schema
        ? (Object.fromEntries(
            Object.entries<Part>(schema).map(([keyword, value]) => [
              keyword,
              wholeParts(keyword, value),
            ]),
          ) as JsonSchema)
        : whole(resolved);
    wholes.set(schema, made);
    return made;
  }
  function wholeParts(keyword: string, value: Part): Part {
    if (keyword === "allOf" || keyword === "anyOf") return value.map(whole);
    if (keyword === "properties")
      return Object.fromEntries(
        Object.entries<Part>(value).map(([name, part]) => [name, whole(part)]),
      );
    const isSchema = ["items", "not", "additionalProperties"].includes(keyword);
    return isSchema && typeof value === "object" ? whole(value) : value;
  }

  return {
    json,
    operations,
    operation(id) {
      const found = operations.find((one) => one.id === id);
      if (!found) throw new Error(`The document has no operation ${id}`);
      return found;
    },
    faultOf(schema, value) {
      const text = JSON.stringify(schema).replaceAll('"#/', '"https://document.test/#/');
      const check = compiled.get(text) ?? ajv.compile(JSON.parse(text) as object);
      compiled.set(text, check);
      return check(value) ? null : ajv.errorsText(check.errors);
    },
    whole,
  };
}
