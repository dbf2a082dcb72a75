/**
 * One configuration file while it is loaded: its value as written, and a map from paths in the normalised value back to
 * paths in the file. Every fault is created here, so that all of them point at what the author wrote.
 */
import { formatPath, type Fault, type Path } from "./faults.ts";
import { JsonTextError, readJsonText } from "./json-text.ts";

export interface Document {
  readonly file: string;
  readonly text: string;
  /** As written, before variables are replaced and alternative spellings are normalised. */
  readonly value: unknown;
  readonly offsets: ReadonlyMap<string, number>;
  /** Formatted path in the normalised value -> path in the file, where the two differ. Filled by `compat.ts`. */
  readonly origins: Map<string, Path>;
}

/** The file as a document, and the faults of its text; null when it is not JSON. */
export function readDocument(
  file: string,
  text: string,
): { document: Document | null; faults: Fault[] } {
  try {
    const { value, offsets, slips } = readJsonText(text);
    const document: Document = { file, text, value, offsets, origins: new Map() };
    return { document, faults: slips.map((slip) => faultAt(document, slip.path, slip)) };
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    const { line, column } = placeOf(text, error.offset);
    const found = `${error.found} at line ${line}, column ${column}`;
    return {
      document: null,
      faults: [{ file, path: "$", found, expected: error.message, line, column }],
    };
  }
}

/** A fault at a path of the normalised value. `found` defaults to the value in the file. */
export function faultAt(
  document: Document,
  path: Path,
  { found, expected, hint }: { found?: string; expected: string; hint?: string | undefined },
): Fault {
  const origin = pathInFile(document, path);
  return {
    file: document.file,
    path: formatPath(origin),
    found:
      found ??
      (isSecret(origin)
        ? "a value (not shown, because it may be a secret)"
        : show(valueAt(document.value, origin))),
    expected,
    ...(hint === undefined ? {} : { hint }),
    ...placeOf(document.text, offsetOf(document, origin)),
  };
}

/** Where the file has, or would have, what is at a path of the normalised value. */
export function pathInFile(document: Pick<Document, "origins">, path: Path): Path {
  for (let length = path.length; length > 0; length--) {
    const origin = document.origins.get(formatPath(path.slice(0, length)));
    if (origin !== undefined) return [...origin, ...path.slice(length)];
  }
  return path;
}

/** The offset of the path, or of its longest part that exists in the file. */
function offsetOf(document: Document, path: Path): number {
  for (let length = path.length; length > 0; length--) {
    const offset = document.offsets.get(formatPath(path.slice(0, length)));
    if (offset !== undefined) return offset;
  }
  return document.offsets.get("$") ?? 0;
}

function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}

/** The value at a path; undefined when there is none. */
export function valueAt(value: unknown, path: Path): unknown {
  let current = value;
  for (const step of path) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, step))
      return undefined;
    current = (current as Record<string | number, unknown>)[step];
  }
  return current;
}

/** Settings of `auth` and of webhooks may contain secrets, especially wrong ones. */
const isSecret = (path: Path): boolean =>
  (path[0] === "auth" && path.length > 1) || (path[0] === "webhooks" && path[2] === "secret");

/** A value on one short line; the user and password of an address are left out. */
function show(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value).replace(/\/\/[^"]*@/g, "//…@");
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
