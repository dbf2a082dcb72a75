/**
 * Names of locks in the store. Two requests for the same record must produce the same name, whatever they sent and
 * through whichever endpoint. Record locks (of one write) and resource locks (of lock/acquire) never share a name.
 */
import type { Column, Table } from "../values/column.ts";
import type { Entity } from "../plans/entity.ts";
import type { Key, KeyValue } from "../values/key.ts";
import { toBase64 } from "../values/formats.ts";
import type { Scalar } from "../values/scalar.ts";
import { columnTypes } from "../values/column-types.ts";

export type LockKind = "record" | "resource";

/** What is locked: the rows of `resource` whose columns hold the values. */
export interface Locked {
  /** As `tableResource` or `resourceOf` gives it. */
  readonly resource: string;
  /** At least one column. */
  readonly key: Key;
  readonly value: KeyValue;
}

/** Endpoints of one table lock each other's records. */
export const tableResource = ({ identity }: Table): string => `table ${identity}`;

/** An endpoint with only a view or a query has its own namespace of locks. */
export const resourceOf = ({ write, name }: Entity): string =>
  write ? tableResource(write.table) : `endpoint ${name}`;

/** `digest` keeps names short however long a key is; two keys must never share one. */
export function lockName(
  kind: LockKind,
  { resource, key, value }: Locked,
  digest: (text: string) => string,
): string {
  const parts = key.map((column, at) => [column.name, sameText(value[at]!, column)] as const);
  const [only] = parts;
  // Endpoints of one table may name the columns of its key in another order.
  const named = only && parts.length === 1 ? only.join("\n") : JSON.stringify(parts.toSorted());
  const text = `${resource}\n${named}`;
  return `${kind}:${digest(text).slice(0, 40)}`;
}

/**
 * Some databases find a text regardless of case, accents or trailing spaces. Locks cannot know that, so they treat all
 * such texts as one record: two different records may have to wait for each other, but two requests never hold the same
 * record.
 */
function sameText(value: Scalar, { type }: Column): string {
  if (value instanceof Uint8Array) return toBase64(value);
  if (typeof value !== "string" || !columnTypes[type].isFolded) return String(value);
  const plain = value.normalize("NFKD").replace(/[\p{M}\p{C}]/gu, "");
  return plain.toUpperCase().toLowerCase().trimEnd();
}
