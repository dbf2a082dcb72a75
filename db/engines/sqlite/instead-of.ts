/** The statements that a view of SQLite accepts: those for which it has an INSTEAD OF trigger. */
import type { Column, TableRefusal, WriteKind } from "../../../core/values/types/column.ts";

/** From the texts of the triggers. A trigger `of` some columns does not accept an UPDATE of the others. */
export function refusedByView(
  triggers: readonly string[],
  columns: readonly Column[],
): TableRefusal[] {
  const taken = triggers.flatMap((sql) => insteadOf(sql) ?? []);
  return (["insert", "update", "delete"] as const).flatMap((statement): TableRefusal[] => {
    const own = taken.filter((one) => one.statement === statement);
    const reason = `a view without an INSTEAD OF trigger for ${statement.toUpperCase()}`;
    if (own.length === 0) return [{ statement, columns: null, reason }];
    if (own.some((one) => one.columns === null)) return [];
    const known = new Set(own.flatMap((one) => one.columns ?? []));
    const left = columns.map(({ name }) => name).filter((name) => !known.has(name.toLowerCase()));
    return left.length === 0 ? [] : [{ statement, columns: left, reason: `${reason} of` }];
  });
}

interface Taken {
  readonly statement: WriteKind;
  /** In lower case; null = all. */
  readonly columns: readonly string[] | null;
}

const comments = /--[^\n]*|\/\*[^]*?\*\//g;
const name = String.raw`(?:"(?:[^"]|"")*"|\[[^\]]*\]|\x60(?:[^\x60]|\x60\x60)*\x60|[^\s,]+)`;
const event = new RegExp(
  String.raw`\binstead\s+of\s+(insert|delete|update)(?:\s+of\s+(${name}(?:\s*,\s*${name})*))?\s+on\b`,
  "i",
);

function insteadOf(sql: string): Taken | null {
  const found = event.exec(sql.replace(comments, " "));
  if (found === null) return null;
  const names = found[2]?.match(new RegExp(name, "g"));
  return {
    statement: found[1]!.toLowerCase() as WriteKind,
    columns: names?.map((one) => one.replace(/^["[\x60]|["\]\x60]$/g, "").toLowerCase()) ?? null,
  };
}
