/** Names of endpoints: those of their tables, as far as a URL and a file allow. */
import type { Outline } from "../plans/database-catalog.ts";

/** Names of files that are not endpoints. */
const taken: readonly string[] = ["project"];

/** Unique even if case is ignored, because some file systems ignore it. */
export function endpointNames(outlines: readonly Outline[]): Map<Outline, string> {
  const used = new Set(taken);
  const names = new Map<Outline, string>();
  for (const outline of outlines) {
    const plain = plainName(outline.name);
    const withSchema = plainName(`${outline.schema ?? ""}_${outline.name}`);
    const candidates = outline.schema === null ? [plain] : [plain, withSchema];
    const name = candidates.find((one) => !used.has(one.toLowerCase())) ?? numbered(plain, used);
    used.add(name.toLowerCase());
    names.set(outline, name);
  }
  return names;
}

/** Letters, digits, `-` and `_`; all other characters become `_`. */
export function plainName(name: string): string {
  const plain = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^A-Za-z0-9_-]+/g, "_");
  return /[A-Za-z0-9]/.test(plain) ? plain : "table";
}

function numbered(name: string, used: ReadonlySet<string>): string {
  for (let count = 2; ; count++)
    if (!used.has(`${name}_${count}`.toLowerCase())) return `${name}_${count}`;
}

/** As `tableName` takes it. */
export const tableNameOf = ({ schema, name }: Pick<Outline, "schema" | "name">): string =>
  schema === null ? name : `${schema}.${name}`;
