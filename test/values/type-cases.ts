/**
 * For each column type, a valid and an invalid value. The table does not compile if a type is missing.
 * `column-types.test.ts` runs the cases on the types, `contract/column-types.test.ts` on the whole service.
 */
import type { ColumnType } from "../../core/values/types/column.ts";
import type { Json } from "../../core/values/json.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import type { EngineName } from "../servers/session.ts";

export interface TypeCase {
  readonly taken: { readonly sent: Json; readonly stored: Scalar; readonly shown: Json };
  readonly refused: { readonly sent: Json; readonly message: string };
  /** A column of each engine that has the type; null: the engine has none. */
  readonly native: Readonly<Record<EngineName, string | null>>;
}

export const typeCases: Readonly<Record<ColumnType, TypeCase>> = {
  text: {
    taken: { sent: 5, stored: "5", shown: "5" },
    refused: { sent: true, message: "must be text" },
    native: { postgres: "text", mysql: "longtext", sqlite: "text" },
  },
  integer: {
    taken: { sent: "42", stored: 42n, shown: 42 },
    refused: { sent: 1.5, message: "must be a whole number" },
    native: { postgres: "integer", mysql: "int", sqlite: "integer" },
  },
  decimal: {
    taken: { sent: "12.50", stored: "12.5", shown: 12.5 },
    refused: { sent: "x", message: "must be a number" },
    native: { postgres: "numeric(10,2)", mysql: "decimal(10,2)", sqlite: "decimal(10,2)" },
  },
  float: {
    taken: { sent: "1.5", stored: 1.5, shown: 1.5 },
    refused: { sent: false, message: "must be a number" },
    native: { postgres: "double precision", mysql: "double", sqlite: "double" },
  },
  boolean: {
    taken: { sent: "true", stored: true, shown: true },
    refused: { sent: 2, message: "must be true or false" },
    native: { postgres: "boolean", mysql: "boolean", sqlite: "boolean" },
  },
  date: {
    taken: { sent: "2024-02-29", stored: "2024-02-29", shown: "2024-02-29" },
    refused: { sent: "2026-02-29", message: "must be a date in the form YYYY-MM-DD" },
    native: { postgres: "date", mysql: "date", sqlite: "date" },
  },
  timestamp: {
    taken: {
      sent: "2026-10-31T10:15:00+02:00",
      stored: "2026-10-31T08:15:00.000Z",
      shown: "2026-10-31T08:15:00.000Z",
    },
    refused: { sent: "noon", message: "must be a date and time in the form YYYY-MM-DDTHH:mm:ssZ" },
    native: { postgres: "timestamptz(3)", mysql: "datetime(3)", sqlite: "timestamp(3)" },
  },
  time: {
    taken: { sent: "08:15", stored: "08:15:00", shown: "08:15:00" },
    refused: { sent: "8:15", message: "must be a time in the form HH:mm:ss" },
    native: { postgres: "time(0)", mysql: "time", sqlite: "time(0)" },
  },
  uuid: {
    taken: {
      sent: "0B9E4F0A-31C2-4D5E-8F60-718293A4B5C6",
      stored: "0b9e4f0a-31c2-4d5e-8f60-718293a4b5c6",
      shown: "0b9e4f0a-31c2-4d5e-8f60-718293a4b5c6",
    },
    refused: { sent: "0b9e4f0a", message: "must be a UUID" },
    native: { postgres: "uuid", mysql: "uuid", sqlite: "uuid" },
  },
  json: {
    taken: { sent: { a: [1, null] }, stored: '{"a":[1,null]}', shown: { a: [1, null] } },
    refused: { sent: { a: "\ud800" }, message: "must be well formed Unicode" },
    native: { postgres: "jsonb", mysql: "json", sqlite: "json" },
  },
  bytes: {
    taken: { sent: "AP8", stored: new Uint8Array([0, 255]), shown: "AP8=" },
    refused: { sent: "A", message: "must be base64 text" },
    native: { postgres: "bytea", mysql: "longblob", sqlite: "blob" },
  },
  array: {
    taken: { sent: ["a", "b"], stored: '["a","b"]', shown: ["a", "b"] },
    refused: { sent: {}, message: "must be an array" },
    native: { postgres: "text[]", mysql: null, sqlite: null },
  },
  file: {
    taken: {
      sent: { id: "0e3f4d4a-6d6f-4b8b-9d3e-3a2b1c0d9e8f" },
      stored: '{"id":"0e3f4d4a-6d6f-4b8b-9d3e-3a2b1c0d9e8f"}',
      shown: {
        id: "0e3f4d4a-6d6f-4b8b-9d3e-3a2b1c0d9e8f",
        name: "scan.pdf",
        type: "application/pdf",
        bytes: 5,
        sha256: "0".repeat(64),
      },
    },
    refused: {
      sent: "scan.pdf",
      message: 'must be a file: {"id": …}, with the id that file-upload answered',
    },
    // No column of a database is one: `files` of an endpoint makes it of json or text.
    native: { postgres: null, mysql: null, sqlite: null },
  },
  other: {
    taken: { sent: "10.0.0.1", stored: "10.0.0.1", shown: "10.0.0.1" },
    refused: { sent: {}, message: "must be text" },
    native: { postgres: "inet", mysql: null, sqlite: "inet" },
  },
};
