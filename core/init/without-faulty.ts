/** A drafted endpoint without the parts that have a fault. */
import type { Fault } from "../config/reading/faults.ts";

type Payload = Readonly<Record<string, unknown>>;

/** Null when a fault is about something that the endpoint cannot do without. */
export function withoutFaulty(payload: Payload, faults: readonly Fault[]): Payload | null {
  let kept: Record<string, unknown> = structuredClone(payload) as Record<string, unknown>;
  const rules = new Set<number>();
  for (const { path } of faults) {
    const [, rule] = /^fieldValidation\[(\d+)\]/.exec(path) ?? [];
    if (rule !== undefined) {
      rules.add(Number(rule));
      continue;
    }
    const next = withoutPart(kept, path);
    // Null after an earlier fault about the same part: it is left out already.
    if (next === null && withoutPart(payload, path) === null) return null;
    kept = next ?? kept;
  }
  if (rules.size === 0) return kept;
  const written = kept["fieldValidation"] as readonly unknown[];
  return { ...kept, fieldValidation: written.filter((_, at) => !rules.has(at)) };
}

const writing = ["create", "update", "delete", "import", "lookup"];
const composites = ["create-composite", "read-composite", "update-composite"];

function withoutPart(payload: Payload, path: string): Record<string, unknown> | null {
  const [, action] = /^action(?:\.|\[")([\w-]+)/.exec(path) ?? [];
  if (action !== undefined) return withoutActions(payload, [action]);
  if (path.startsWith("masterDetail"))
    return without(withoutActions(payload, composites) ?? payload, "masterDetail");
  if (path.startsWith("fieldNameLookup"))
    return without(withoutActions(payload, ["lookup"]) ?? payload, "fieldNameLookup");
  const member = memberOf(path);
  if (member && path.startsWith("importConfig.lookupFields"))
    return withoutMember(payload, ["importConfig", "lookupFields"], member);
  if (member && path.startsWith("aggregateConfig.joins"))
    return withoutMember(payload, ["aggregateConfig", "joins"], member);
  const [, number] = /^numbers(?:\.([\w$-]+)|\[)/.exec(path) ?? [];
  if (path.startsWith("numbers")) {
    const numbers = number === undefined ? {} : without(payload["numbers"] as Payload, number);
    return { ...without(payload, "numbers"), ...(!isEmpty(numbers) && { numbers }) };
  }
  const [, relation] = /^relations\.(\w+)/.exec(path) ?? [];
  if (relation !== undefined) {
    const relations = without(payload["relations"] as Payload, relation);
    return { ...without(payload, "relations"), ...(!isEmpty(relations) && { relations }) };
  }
  for (const property of ["importConfig", "aggregateConfig"])
    if (path.startsWith(property) && Object.hasOwn(payload, property))
      return without(payload, property);
  // A fault about the table or its key: it is read only, then.
  if (/^(tableName|primaryKey)/.test(path))
    return withoutActions(payload, [...writing, ...composites]);
  return null;
}

const isEmpty = (payload: Payload): boolean => Object.keys(payload).length === 0;

function without(payload: Payload, property: string): Record<string, unknown> {
  const { [property]: _, ...rest } = payload;
  return rest;
}

/** Null when none of the actions is there. */
function withoutActions(
  payload: Payload,
  names: readonly string[],
): Record<string, unknown> | null {
  const actions = Object.entries(payload["action"] as Record<string, true>);
  const kept = actions.filter(([name]) => !names.includes(name));
  if (kept.length === actions.length) return null;
  const left = { ...payload, action: Object.fromEntries(kept) };
  return names.includes("import") ? without(left, "importConfig") : left;
}

/** `importConfig.lookupFields["Unit price"].id` -> `Unit price`. */
function memberOf(path: string): string | null {
  const found = /^\w+\.\w+(?:\.([\w$-]+)|\[("(?:[^"\\]|\\.)*")\])/.exec(path);
  if (!found) return null;
  return found[1] ?? (JSON.parse(found[2]!) as string);
}

function withoutMember(
  payload: Payload,
  [outer, inner]: readonly [string, string],
  name: string,
): Record<string, unknown> {
  const setting = payload[outer] as Record<string, Record<string, unknown>>;
  return { ...payload, [outer]: { ...setting, [inner]: without(setting[inner] ?? {}, name) } };
}
