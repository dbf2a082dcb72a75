/** What all operations of one document share: the components, and the names that are taken. */
import type { Json } from "../values/json.ts";
import {
  type AnswerHeader,
  type ParameterName,
  referenceToHeader,
  referenceToParameter,
} from "./headers.ts";
import { createUniqueNames } from "./naming.ts";
import { createSchemaRegistry, type SchemaRegistry } from "./schema-printer.ts";
import { sharedSchemas } from "./shared-schemas.ts";

export interface DocumentParts {
  readonly schemas: SchemaRegistry;
  /**
   * Returns a reference to the response, which is built for the first operation that has it. `key` is equal for equal
   * responses with the same wanted name.
   */
  addResponse(wanted: string, key: string, build: () => Json): Json;
  /** By name. */
  readonly responses: ReadonlyMap<string, Json>;
  /** References to these headers of answers, by name. */
  headers(names: readonly AnswerHeader[]): Record<string, Json>;
  /** A reference to this header of requests. */
  parameter(name: ParameterName): Json;
  /** Those that something refers to. */
  readonly usedHeaders: ReadonlySet<AnswerHeader>;
  readonly usedParameters: ReadonlySet<ParameterName>;
  /** The wanted operationId, or the same with a number. */
  operationId(wanted: string): string;
}

export function createDocumentParts(): DocumentParts {
  const responses = new Map<string, Json>();
  const namesByKey = new Map<string, string>();
  const uniqueName = createUniqueNames();
  const usedHeaders = new Set<AnswerHeader>();
  const usedParameters = new Set<ParameterName>();
  return {
    usedHeaders,
    usedParameters,
    headers(names) {
      for (const name of names) usedHeaders.add(name);
      return Object.fromEntries(names.map((name) => [name, referenceToHeader(name)]));
    },
    parameter(name) {
      usedParameters.add(name);
      return referenceToParameter(name);
    },
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
