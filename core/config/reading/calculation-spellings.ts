/**
 * Alternative spellings of `calculation`: `autoCalculateFields` and `headerCalculations`, in every place where they may
 * occur.
 */
import { isObject } from "../../values/json.ts";
import type { Draft, Members } from "./draft.ts";
import type { Path } from "./faults.ts";

/** autoCalculateFields and headerCalculations -> calculation, of the endpoint or of one of several kinds of details. */
export function carryCalculations(draft: Draft): void {
  const { root } = draft;
  const written = root["masterDetail"];
  const several = Array.isArray(written) ? written.filter(isObject) : [];
  for (const [at, entry] of several.entries())
    carryFormulas(draft, entry, [...placesOf(entry, ["masterDetail", at])]);
  const master = isObject(written) ? written : {};
  carryFormulas(draft, root, [...placesOf(master, ["masterDetail"]), [root, []]]);
}

/** The places where formulas of details may occur. */
const placesOf = (master: Members, base: Path): (readonly [Members, Path])[] => [
  [isObject(master["detailConfig"]) ? master["detailConfig"] : {}, [...base, "detailConfig"]],
  [master, base],
];

function carryFormulas(
  { moved, refuse }: Draft,
  target: Members,
  places: readonly (readonly [Members, Path])[],
): void {
  const calculation: Members = isObject(target["calculation"]) ? target["calculation"] : {};
  const targetBase = places.find(([holder]) => holder === target)?.[1] ?? [];
  for (const [holder, base] of places) {
    take(holder, base, autoCalculateFields);
    take(holder, base, headerCalculations);
  }

  function take(holder: Members, base: Path, { name, part, formulaOf, expected }: Spelling): void {
    const written = holder[name];
    if (written === undefined) return;
    delete holder[name];
    const formulas = isObject(calculation[part]) ? calculation[part] : {};
    for (const [key, entry] of isObject(written) || Array.isArray(written)
      ? Object.entries(written)
      : []) {
      const from = [...base, name, Array.isArray(written) ? Number(key) : key];
      const field = isObject(entry) ? (entry["field"] ?? entry["name"] ?? key) : key;
      if (isObject(entry) && entry["type"] === "generated") continue;
      const formula = formulaOf(entry);
      if (formula === null) {
        refuse(from, expected);
        continue;
      }
      formulas[String(field)] = formula;
      moved([...targetBase, "calculation", part, String(field)], from);
    }
    calculation[part] = formulas;
    target["calculation"] = calculation;
  }
}

interface Spelling {
  readonly name: string;
  /** The part of `calculation`. */
  readonly part: string;
  /** The formula in the main spelling; null when there is none. */
  formulaOf(entry: unknown): string | null;
  readonly expected: string;
}

const autoCalculateFields: Spelling = {
  name: "autoCalculateFields",
  part: "detail",
  formulaOf: writtenFormula,
  expected: "the formula in calculation.detail, in the syntax of that setting",
};

const headerCalculations: Spelling = {
  name: "headerCalculations",
  part: "header",
  formulaOf(entry) {
    if (isObject(entry) && typeof entry["source"] === "string") return sourceFormula(entry);
    const text = writtenFormula(entry);
    return text === null ? null : headerFormula(text);
  },
  expected:
    '{"type": "count", "source": "items.length"}, {"type": "sum", "source": "items.<column>"}, or the formula in calculation.header, in the syntax of that setting',
};

function writtenFormula(entry: unknown): string | null {
  const text = isObject(entry) ? (entry["formula"] ?? entry["expression"]) : entry;
  return typeof text === "string" ? text : null;
}

/** `{type: "count", source: "items.length"}` -> `COUNT(*)`; `sum` of `items.amount` -> `SUM(amount)`; else null. */
function sourceFormula({ type, source }: Members): string | null {
  const column = /^\s*items\.(\w+)\s*$/.exec(String(source))?.[1];
  if (column === undefined) return null;
  if (type === "count") return column === "length" ? "COUNT(*)" : null;
  return type === "sum" && column !== "length" ? `SUM(${column})` : null;
}

/** `items.length` -> `COUNT(*)`, `items.amount` -> `SUM(amount)`, `MAX(items.amount)` -> `MAX(amount)`. */
function headerFormula(text: string): string | null {
  const match =
    /^\s*(?:(COUNT|SUM|AVG|MIN|MAX)\s*\(\s*(?:items\.)?(\w+|\*)\s*\)|items\.(\w+))\s*$/i.exec(text);
  if (!match) return null;
  if (match[3] === "length") return "COUNT(*)";
  return match[3] ? `SUM(${match[3]})` : `${match[1]!.toUpperCase()}(${match[2]})`;
}
