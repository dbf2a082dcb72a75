/**
 * References between the steps of a batch. `{"$ref": "order.data.id"}` stands for a whole value: a member of the answer
 * to an earlier step. `{"$literal": …}` stands for a value that looks like one of the two. Any other object is itself.
 */
import { closest } from "../values/closest.ts";
import { AppError, invalidPayload } from "../values/errors.ts";
import { ExactNumber, isObject } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import { inStep, type Step } from "./batch-request.ts";

const reference = "$ref";
const literal = "$literal";

/**
 * Checks the form of every reference, and that it names an earlier step. Returns the indexes of the steps with
 * references or literals. Rejects with Invalid payload, in the step of the fault.
 */
export function checkReferences(steps: readonly Step[]): ReadonlySet<number> {
  const marked = new Set<number>();
  const earlier = new Map<string, number>();
  const ids = new Set(steps.flatMap(({ id }) => id ?? []));
  for (const step of steps) {
    try {
      const { isMarked } = checkIn(step.body, { earlier, ids, place: "body" });
      if (isMarked) marked.add(step.index);
    } catch (error) {
      throw inStep(step, error);
    }
    if (step.id !== null) earlier.set(step.id, step.index);
  }
  return marked;
}

interface Checking {
  /** The ids of earlier steps. */
  readonly earlier: ReadonlyMap<string, number>;
  /** Those of all steps. */
  readonly ids: ReadonlySet<string>;
  /** For messages. */
  readonly place: string;
}

function checkIn(value: unknown, checking: Checking): { isMarked: boolean } {
  if (typeof value !== "object" || value === null || value instanceof ExactNumber)
    return { isMarked: false };
  const only = markIn(value);
  if (only === literal) return { isMarked: true };
  if (only === reference) {
    targetOf((value as Record<string, unknown>)[reference], checking);
    return { isMarked: true };
  }
  let isMarked = false;
  for (const [name, member] of Object.entries(value)) {
    const place = Array.isArray(value) ? `${checking.place}[${name}]` : `${checking.place}.${name}`;
    if (checkIn(member, { ...checking, place }).isMarked) isMarked = true;
  }
  return { isMarked };
}

/** The mark that an object consists of, if it is one. */
function markIn(value: object): string | null {
  if (Array.isArray(value)) return null;
  const names = Object.keys(value);
  const [only] = names;
  return names.length === 1 && (only === reference || only === literal) ? only : null;
}

interface Target {
  readonly index: number;
  /** At least one. */
  readonly path: readonly string[];
}

function targetOf(sent: unknown, { earlier, ids, place }: Checking): Target {
  const where = place.slice(0, 200);
  if (typeof sent !== "string")
    throw invalidPayload(
      `${where}: the value of "$ref" must be a text such as "<id>.data.<member>"`,
    );
  const id = idIn(sent, earlier.keys());
  if (id !== null) {
    const path = sent.slice(id.length + 1).split(".");
    if (path.includes(""))
      throw invalidPayload(
        `${where}: ${shown(sent)} must name members of the step, as "<id>.data"`,
      );
    return { index: earlier.get(id)!, path };
  }
  if (earlier.has(sent))
    throw invalidPayload(`${where}: ${shown(sent)} must name a member of the step, as "<id>.data"`);
  if (ids.has(sent) || idIn(sent, ids) !== null)
    throw invalidPayload(`${where}: ${shown(sent)} must name an earlier step`);
  const near = closest(sent.split(".", 1)[0]!, earlier.keys());
  const hint = near === null ? "" : `; did you mean ${shown(near)}?`;
  throw invalidPayload(`${where}: ${shown(sent)} names no earlier step${hint}`);
}

const shown = (text: string): string => JSON.stringify(text.slice(0, 100));

/** The longest id with which the reference begins: an id may contain points. */
function idIn(sent: string, ids: Iterable<string>): string | null {
  let found: string | null = null;
  for (const id of ids)
    if (sent.startsWith(`${id}.`) && id.length > (found?.length ?? -1)) found = id;
  return found;
}

/** What references are replaced with. */
export interface Answered {
  /** The ids of earlier steps. */
  readonly earlier: ReadonlyMap<string, number>;
  /** The body of the answer of that step, as a client would read it. */
  bodyOf(index: number): unknown;
}

/**
 * The value with all references replaced, for a value that `checkReferences` has passed. Rejects with Invalid payload
 * if a member does not exist, or the result is nested too deeply; with payloadTooLarge.
 */
export function resolve(value: unknown, { earlier, bodyOf }: Answered): unknown {
  const lengths = new Map<unknown, number>();
  let length = 0;

  /** References share what they stand for, so a small body can become very large when it is written. */
  function count(found: unknown): void {
    const own = lengths.get(found) ?? JSON.stringify(found).length;
    if (typeof found === "object") lengths.set(found, own);
    length += own;
    if (length > limits.batchReferredLengthMax)
      throw new AppError(
        "payloadTooLarge",
        `The values that the references of a step stand for may have ${limits.batchReferredLengthMax} characters`,
      );
  }

  function valueAt(sent: unknown, place: string): unknown {
    const { index, path } = targetOf(sent, { earlier, ids: new Set(), place });
    let found: unknown = bodyOf(index);
    for (const name of path) {
      if (!isMember(found, name))
        throw invalidPayload(`${place.slice(0, 200)}: ${shown(String(sent))} does not exist`);
      found = (found as Record<string, unknown>)[name];
    }
    count(found);
    return found;
  }

  function resolved(one: unknown, place: string): unknown {
    if (typeof one !== "object" || one === null || one instanceof ExactNumber) return one;
    if (Array.isArray(one)) return one.map((item, at) => resolved(item, `${place}[${at}]`));
    const only = markIn(one);
    const members = one as Record<string, unknown>;
    if (only === literal) return members[literal];
    if (only === reference) return valueAt(members[reference], place);
    return Object.fromEntries(
      Object.entries(members).map(([name, member]) => [name, resolved(member, `${place}.${name}`)]),
    );
  }

  const whole = resolved(value, "body");
  if (isDeeper(whole, limits.jsonDepthMax))
    throw invalidPayload(`The body is nested deeper than ${limits.jsonDepthMax} levels`);
  return whole;
}

/** Own members of objects, and items of lists. */
function isMember(value: unknown, name: string): boolean {
  if (Array.isArray(value)) return /^(?:0|[1-9]\d{0,8})$/.test(name) && Number(name) < value.length;
  return isObject(value) && !(value instanceof ExactNumber) && Object.hasOwn(value, name);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null || value instanceof ExactNumber) return false;
  if (levels === 0) return true;
  return Object.values(value).some((member) => isDeeper(member, levels - 1));
}
