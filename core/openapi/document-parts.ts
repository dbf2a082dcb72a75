/** What all operations of one document share: the components, and the names that are taken. */
import type { Json } from "../values/json.ts";
import { createUniqueNames } from "./naming.ts";
import { createSchemaRegistry, type SchemaRegistry } from "./schema-printer.ts";
import { sharedSchemas } from "./shared-schemas.ts";

export interface DocumentParts {
  readonly schemas: SchemaRegistry;
  /** Returns a reference to the response. Equal responses that want one name are one component. */
  addResponse(wanted: string, response: Json): Json;
  /** By name. */
  readonly responses: ReadonlyMap<string, Json>;
  /** The wanted operationId, or the same with a number. */
  operationId(wanted: string): string;
}

export function createDocumentParts(): DocumentParts {
  const responses = new Map<string, Json>();
  const namesByText = new Map<string, string>();
  const uniqueName = createUniqueNames();
  return {
    schemas: createSchemaRegistry(sharedSchemas),
    responses,
    addResponse(wanted, response) {
      const text = `${wanted} ${JSON.stringify(response)}`;
      const name = namesByText.get(text) ?? uniqueName(wanted);
      namesByText.set(text, name);
      responses.set(name, response);
      return { $ref: `#/components/responses/${name}` };
    },
    operationId: createUniqueNames(),
  };
}
