/**
 * Finds the rows of a file that would change a closed record, become or stay a detail of one, or set a status that only
 * change-status sets. The session of the commit refuses them as well (`core/workflow/status-session.ts`).
 */
import {
  isClosed,
  isReserved,
  type OwnerLink,
  reservedMessage,
} from "../../core/plans/status-tables.ts";
import type { Queries } from "../../core/query/session.ts";
import { sourceOf } from "../../core/query/statement.ts";
import { findRows } from "../../core/query/find-rows.ts";
import { scalarFor, shownScalar } from "../../core/totals/row-values.ts";
import type { Json } from "../../core/values/json.ts";
import type { Row } from "../../core/values/row.ts";
import { keyText, type KeyValue } from "../../core/values/types/key.ts";
import { addMessage } from "./row-case.ts";
import type { StoredRow, VerdictOptions } from "./row-verdict.ts";

/** A row of the file, and its record before and after. */
interface Change {
  readonly stored: StoredRow;
  /** Null: it is new. */
  readonly before: Row | null;
  readonly after: Row;
}

type ClosedCheck = (queries: Queries, rows: readonly StoredRow[]) => Promise<void>;

/** Null if no status of the table or of its owners has rules. */
export function closedCheck({ entity, plan }: VerdictOptions): ClosedCheck | null {
  const { table, key } = plan.write;
  const own = entity.statuses.guarded.get(table.identity);
  const links = entity.statuses.owners.get(table.identity) ?? [];
  if (own === undefined && links.length === 0) return null;
  const columns = [...(own ? [own.status] : []), ...links.flatMap((link) => link.columns)];
  const search = { source: sourceOf(table), by: key, columns, lock: false };

  return async (queries, rows) => {
    const keys = rows.flatMap(({ verdict }) => (verdict.kind === "change" ? [verdict.key] : []));
    const found = keys.length === 0 ? null : await findRows(queries, search, keys);
    const changes = rows.map((stored): Change => {
      const { verdict } = stored;
      const isNew = verdict.kind === "new";
      const before = isNew ? null : (found?.get(keyText(verdict.key))?.[0] ?? null);
      const values = [...verdict.values].map(([{ name }, value]) => [name, shownScalar(value)]);
      return { stored, before, after: { ...before, ...Object.fromEntries(values) } };
    });
    if (own)
      for (const { stored, before, after } of changes) {
        const [was, is] = [before, after].map((row) => row?.[own.status.name] ?? null);
        if (isClosed(own, was!)) addReason(stored, "a closed record cannot be changed");
        else if (before === null ? isReserved(own, is!) : textOf(is!) !== textOf(was!))
          addMessage(stored.one, own.status, reservedMessage);
      }
    for (const link of links) await checkOwners(queries, link, changes);
  };
}

async function checkOwners(
  queries: Queries,
  link: OwnerLink,
  changes: readonly Change[],
): Promise<void> {
  const { owner, referenced } = link;
  const named = changes.map(({ before, after }) => ownersIn(link, [before, after]));
  const search = {
    source: sourceOf(owner.table),
    by: referenced,
    columns: [owner.status],
    lock: false,
  };
  const found = await findRows(queries, search, named.flat());
  for (const [at, { stored }] of changes.entries())
    for (const key of named[at]!)
      if (found.get(keyText(key))?.some((row) => isClosed(owner, row[owner.status.name] ?? null)))
        addReason(stored, "what belongs to a closed record cannot be changed");
}

const ownersIn = ({ columns, referenced }: OwnerLink, rows: readonly (Row | null)[]): KeyValue[] =>
  rows.flatMap((row) => {
    const key = columns.map(({ name }, at) => scalarFor(referenced[at]!, row?.[name] ?? null));
    return key.includes(null) ? [] : [key];
  });

function addReason({ one: { faults } }: StoredRow, text: string): void {
  if (!faults.some((fault) => fault.text === text)) faults.push({ text, place: null });
}

const textOf = (value: Json): string | null => (value === null ? null : String(value));
