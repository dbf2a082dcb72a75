/**
 * A fault of the configuration: file, path, what was found and what was expected, so that it can be corrected without
 * reading code. Every step of loading returns a list of faults; none stops at the first one.
 */

export interface Fault {
  /** Relative to the configuration folder, with `/`: `shop/products.json`. */
  readonly file: string;
  /** As in `fieldValidation[2].constraints.max`; `$` is the whole file. */
  readonly path: string;
  /** The value at the path; `nothing` for a missing property. Never contains values of environment variables. */
  readonly found: string;
  readonly expected: string;
  /** `did you mean "tableName"?` */
  readonly hint?: string;
  /** The name of a property that the service does not know; absent for all other faults. */
  readonly unknownProperty?: string;
  /** Position of the path in the file, counted from 1; of its parent when the property is missing. */
  readonly line?: number;
  readonly column?: number;
}

/** Property names and list indexes that lead to a value inside a file. */
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

/**
 * The later faults of a file without those of parts whose form has a fault: such a part was not read as a whole, so what
 * else is said of it may not be true.
 */
export const besides = (ofForm: readonly Fault[], later: readonly Fault[]): Fault[] =>
  later.filter((fault) => !ofForm.some((one) => areOfOnePart(one, fault)));

/** Whether both are in the same member of a member, or one is about the member that has the other. */
function areOfOnePart(one: Fault, other: Fault): boolean {
  const [mine, theirs] = [one, other].map(({ path }) => path.split(/[.[]/, 2));
  return mine!.every((step, at) => theirs![at] === undefined || theirs![at] === step);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** One sentence without file and path: `expected a number, found "ten"`, or `unknown property` with a suggestion. */
export function faultMessage({ found, expected, hint, unknownProperty }: Fault): string {
  if (unknownProperty !== undefined)
    return `unknown property ${JSON.stringify(unknownProperty)}; ${hint ?? `expected ${expected}`}`;
  const sentence = `expected ${expected}, found ${found}`;
  return hint === undefined ? sentence : `${sentence}; ${hint}`;
}

/** One fault on one line, for the log: `shop/orders.json:3:5  tableName  expected …`. */
export const faultLine = (fault: Fault): string =>
  `${placeOfFault(fault)}  ${fault.path}  ${faultMessage(fault)
    .trim()
    .replace(/\s*\n\s*/g, " ")}`;

const placeOfFault = ({ file, line, column }: Fault): string =>
  line === undefined ? file : `${file}:${line}:${column}`;

/** All faults as text for a terminal, one paragraph each: position and path, then the message. */
export function formatFaults(faults: readonly Fault[]): string {
  const listed = sortFaults(faults);
  const count = listed.length === 1 ? "1 fault" : `${listed.length} faults`;
  const paragraphs = listed.map(
    (fault) => `${placeOfFault(fault)}  ${fault.path}\n  ${faultMessage(fault)}`,
  );
  return [`${count} in the configuration`, ...paragraphs].join("\n\n");
}
