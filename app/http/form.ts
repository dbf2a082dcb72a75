/**
 * Reads form encoding with bracketed names (`order[0][column]=2&columns[2][data]=name`) into the same structures as
 * JSON; every value is a string. Implemented here because existing parsers silently drop values beyond their limits and
 * turn long lists into objects.
 */
import { invalidPayload } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";

export type FormValue = string | FormValue[] | { [name: string]: FormValue };

/**
 * Parses a form, or a query string without its `?`, into an object. Names `0` to `n - 1` become an array, `a[]` appends
 * to an array, and of two equal names the last counts. Rejects (400 Invalid payload) more than `limits.formPairsMax`
 * pairs, names nested deeper than `limits.jsonDepthMax`, a name that is both a value and a list, broken percent signs
 * or UTF-8, NUL characters, and names that belong to prototypes.
 */
export function parseForm(text: string): Record<string, FormValue> {
  const root: Branch = new Map();
  let pairs = 0;
  for (let from = 0; from <= text.length;) {
    const found = text.indexOf("&", from);
    const end = found === -1 ? text.length : found;
    if (end > from) {
      if (++pairs > limits.formPairsMax)
        throw invalidPayload(`A form takes at most ${limits.formPairsMax} values`);
      put(root, text.slice(from, end));
    }
    from = end + 1;
  }
  return valuesOf(root) as Record<string, FormValue>;
}

/**
 * Reads names with brackets in a JSON object (`{"order[0][column]": 2}`) as those of a form; values stay as they are. An
 * object without such names is returned unchanged. Rejects like parseForm.
 */
export function nestNames(body: Record<string, unknown>): Record<string, unknown> {
  const members = Object.entries(body);
  if (!members.some(([name]) => name.includes("["))) return body;
  if (members.length > limits.formPairsMax)
    throw invalidPayload(`Names with brackets are read of at most ${limits.formPairsMax} members`);
  const root: Branch = new Map();
  for (const [name, value] of members) place(root, name, value);
  return valuesOf(root);
}

const valuesOf = (root: Branch): Record<string, unknown> =>
  Object.fromEntries([...root].map(([name, node]) => [name, valueOf(node)]));

/**
 * Maps are used while the form is read, so that a name can neither reach a prototype nor allocate an array by a large
 * index.
 */
type Branch = Map<string, unknown>;

function put(root: Branch, pair: string): void {
  const equals = pair.indexOf("=");
  const name = decode(equals === -1 ? pair : pair.slice(0, equals));
  place(root, name, equals === -1 ? "" : decode(pair.slice(equals + 1)));
}

function place(root: Branch, name: string, value: unknown): void {
  const path = pathOf(name);
  const last = path.pop()!;
  let branch = root;
  for (const part of path) branch = branchAt(branch, keyIn(branch, part));
  const key = keyIn(branch, last);
  if (branch.get(key) instanceof Map) throw contradiction(name);
  branch.set(key, value);

  function branchAt(within: Branch, part: string): Branch {
    const known = within.get(part);
    if (known instanceof Map) return known;
    if (known !== undefined) throw contradiction(name);
    const made: Branch = new Map();
    within.set(part, made);
    return made;
  }
}

const contradiction = (name: string) =>
  invalidPayload(`The form field "${name.slice(0, 100)}" is both a value and a list`);

/** `a[]` is the place after the last one. */
const keyIn = (branch: Branch, part: string): string => (part === "" ? String(branch.size) : part);

const ofPrototypes: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** `a[b][]` as `a`, `b` and an empty string. A name with unbalanced brackets is used unchanged. */
function pathOf(name: string): string[] {
  const match = /^([^[\]]+)((?:\[[^[\]]*\])+)$/.exec(name);
  const path = match ? [match[1]!, ...match[2]!.slice(1, -1).split("][")] : [name];
  if (path.length > limits.jsonDepthMax)
    throw invalidPayload(`The form is nested deeper than ${limits.jsonDepthMax} levels`);
  if (path.some((part) => ofPrototypes.has(part)))
    throw invalidPayload("The form has a field name that is not allowed");
  return path;
}

function decode(text: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw invalidPayload("The form is not valid percent-encoded UTF-8");
  }
  if (decoded.includes("\0")) throw invalidPayload("A string contains a NUL character");
  return decoded;
}

function valueOf(node: unknown): unknown {
  if (!(node instanceof Map)) return node;
  return listOf(node)?.map(valueOf) ?? valuesOf(node);
}

/** The members by index; null where the names are not exactly 0 to n - 1, in any order. */
function listOf(branch: Branch): unknown[] | null {
  const list: unknown[] = [];
  for (let index = 0; index < branch.size; index++) {
    const member = branch.get(String(index));
    if (member === undefined) return null;
    list.push(member);
  }
  return list;
}
