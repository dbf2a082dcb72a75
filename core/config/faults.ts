/**
 * What is wrong with a configuration, said so that it can be mended without reading code: file, place, what stands
 * there and what should. Every step of loading answers a list of these; nothing stops at the first one.
 */

export interface Fault {
  /** Relative to the configuration folder, with `/`: `shop/products.json`. */
  readonly file: string;
  /** As in `fieldValidation[2].constraints.max`; `$` is the whole file. */
  readonly path: string;
  /** What stands there; `nothing` for a missing property. Values of environment variables are never in it. */
  readonly found: string;
  readonly expected: string;
  /** `did you mean "tableName"?` */
  readonly hint?: string;
  /** Where the path is in the file, counted from 1; the place of its parent when it is missing. */
  readonly line?: number;
  readonly column?: number;
}

/** The way to a value inside a file. */
export type Path = readonly (string | number)[];

/** `["fieldValidation", 2, "name"]` as `fieldValidation[2].name`; names with other characters come in brackets. */
export function formatPath(path: Path): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (!/^[A-Za-z_$][\w$-]*$/.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text === "" ? "$" : text;
}

/** By file, then by place in the file; the same fault of the same place once. */
export function sortFaults(faults: readonly Fault[]): Fault[] {
  const once = new Map(
    faults.map((fault) => [JSON.stringify([fault.file, fault.path, fault.expected]), fault]),
  );
  return [...once.values()].sort(
    (a, b) =>
      compare(a.file, b.file) ||
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0) ||
      compare(a.path, b.path),
  );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** All faults as text for a terminal, one paragraph each. */
export function formatFaults(faults: readonly Fault[]): string {
  const count = faults.length === 1 ? "1 fault" : `${faults.length} faults`;
  const paragraphs = sortFaults(faults).map((fault) => {
    const place =
      fault.line === undefined ? fault.file : `${fault.file}:${fault.line}:${fault.column}`;
    const lines = [
      `${place}  ${fault.path}`,
      `  found     ${fault.found}`,
      `  expected  ${fault.expected}`,
    ];
    if (fault.hint !== undefined) lines.push(`  ${fault.hint}`);
    return lines.join("\n");
  });
  return [`${count} in the configuration`, ...paragraphs].join("\n\n");
}
