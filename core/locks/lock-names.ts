/**
 * How a lock is called in its store. Two requests that mean the same record must make the same name, whatever they sent and
 * through whichever endpoint. Record locks (of one write) and resource locks (of lock/acquire) never share a name.
 */
import type { Column, Table } from "../values/column.ts";
import type { Entity } from "../plans/entity.ts";
import { toBase64 } from "../values/formats.ts";
import type { Scalar } from "../values/scalar.ts";
import { columnTypes } from "../values/column-types.ts";

export type LockKind = "record" | "resource";

/** What is locked: the rows of `resource` whose column holds the value. */
export interface Locked {
  /** As `tableResource` or `resourceOf` gives it. */
  readonly resource: string;
  readonly column: Column;
  readonly value: Scalar;
}

/** Endpoints of one table lock each other's records. */
export const tableResource = ({ identity }: Table): string => `table ${identity}`;

/** An endpoint that has only a view or a query locks what is its own. */
export const resourceOf = ({ write, name }: Entity): string =>
  write ? tableResource(write.table) : `endpoint ${name}`;

/** `digest` keeps names short however long a key is; two keys must never share one. */
export function lockName(
  kind: LockKind,
  { resource, column, value }: Locked,
  digest: (text: string) => string,
): string {
  const text = `${resource}\n${column.name}\n${sameText(value, column)}`;
  return `${kind}:${digest(text).slice(0, 40)}`;
}

/**
 * Some databases find a text by another case, without its accents or trailing blanks. Locks cannot know, so to them all of these
 * are one record: two different ones may have to wait for each other, but no two requests hold the same.
 */
function sameText(value: Scalar, { type }: Column): string {
  if (value instanceof Uint8Array) return toBase64(value);
  if (typeof value !== "string" || !columnTypes[type].isFolded) return String(value);
  const plain = value.normalize("NFKD").replace(/[\p{M}\p{C}]/gu, "");
  return plain.toUpperCase().toLowerCase().trimEnd();
}
