/** What all operations of one document share: the components, and the names that are taken. */
import type { Json } from "../values/json.ts";
import { createUniqueNames } from "./naming.ts";
import { createSchemaRegistry, type SchemaRegistry } from "./schema-printer.ts";
import { sharedSchemas } from "./shared-schemas.ts";

export interface DocumentParts {
  readonly schemas: SchemaRegistry;
  /**
   * Returns a reference to the response. It is built for the first operation that has it: `key` is equal for equal responses
   * that want the same name.
   */
  addResponse(wanted: string, key: string, build: () => Json): Json;
  /** By name. */
  readonly responses: ReadonlyMap<string, Json>;
  /** The wanted operationId, or the same with a number. */
  operationId(wanted: string): string;
}

export function createDocumentParts(): DocumentParts {
  const responses = new Map<string, Json>();
  const namesByKey = new Map<string, string>();
  const uniqueName = createUniqueNames();
  return {
    schemas: createSchemaRegistry(sharedSchemas),
    responses,
    addResponse(wanted, key, build) {
      const whole = `${wanted} ${key}`;
      const name = namesByKey.get(whole) ?? uniqueName(wanted);
      if (!namesByKey.has(whole)) responses.set(name, build());
      namesByKey.set(whole, name);
      return { $ref: `#/components/responses/${name}` };
    },
    operationId: createUniqueNames(),
  };
}
