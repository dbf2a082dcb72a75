/** Settings of RESTForge that have no counterpart here. Each is reported wherever it occurs, with its replacement. */
import { isObject } from "../../values/json.ts";
import type { Draft, Members } from "./draft.ts";
import type { Path } from "./faults.ts";

/** By property: the message of the fault. */
export const foreign: ReadonlyMap<string, string> = new Map([
  [
    "kafka",
    "no kafka setting (send the message from a handler of an onAfter… event under components)",
  ],
  [
    "processor",
    "no processor setting (serve such addresses from a server of your own; handlers under components run around writes)",
  ],
  ["widgets", "no dashboard (aggregate answers such numbers; a view can hold the query)"],
  [
    "fieldPolicy",
    "no fieldPolicy setting (readOnlyFields and hiddenFields say who sets and sees a field; a handler of onAfterUpdate can record changes)",
  ],
]);

/** Objects of the file whose members are settings, so these names cannot be columns there. */
const holders: readonly Path[] = [
  ["masterDetail"],
  ["masterDetail", "detailConfig"],
  ["workflow"],
  ["importConfig"],
];

export function refuseForeign({ root, refuse }: Draft): void {
  // A file with only such endpoints or a dashboard has no actions: one fault is enough.
  if (Object.hasOwn(root, "processor")) root["action"] ??= {};
  if (Object.hasOwn(root, "widgets")) {
    root["action"] ??= {};
    for (const name of ["params", "cache"]) delete root[name];
  }
  refuseIn(root, [], foreign.keys(), refuse);
  if (Array.isArray(root["components"])) {
    if (root["components"].length > 0)
      refuse(
        ["components"],
        `an object that maps events to handlers: ${exampleOf(root["components"])}`,
      );
    delete root["components"];
  }
  for (const [holder, at] of holders.flatMap((path) => holdersAt(root, path))) {
    refuseIn(holder, at, ["kafka", "processor"], refuse);
    if (!Object.hasOwn(holder, "components")) continue;
    const example = exampleOf(holder["components"]);
    refuse([...at, "components"], `components at the top of the file: ${example}`);
    delete holder["components"];
  }
}

function refuseIn(
  holder: Members,
  base: Path,
  names: Iterable<string>,
  refuse: Draft["refuse"],
): void {
  for (const name of names) {
    const value = holder[name];
    delete holder[name];
    const isOff = value === undefined || value === null || value === false;
    if (!isOff && !(isObject(value) && value["enabled"] === false))
      refuse([...base, name], foreign.get(name)!);
  }
}

/** The objects at a path; of a list on the way, its items. */
function holdersAt(root: Members, path: Path): [Members, Path][] {
  let found: [unknown, Path][] = [[root, []]];
  for (const step of path) {
    found = found.flatMap(([holder, at]): [unknown, Path][] => {
      const value = isObject(holder) ? holder[step] : undefined;
      const here: Path = [...at, step];
      return Array.isArray(value)
        ? value.map((one, index): [unknown, Path] => [one, [...here, index]])
        : [[value, here]];
    });
  }
  return found.filter((one): one is [Members, Path] => isObject(one[0]));
}

/** `components` in the form that they have here, with the handlers of the list as far as it names them. */
function exampleOf(components: unknown): string {
  const handlers: Record<string, string[]> = {};
  for (const entry of Array.isArray(components) ? components : []) {
    const properties = isObject(entry) ? entry["properties"] : null;
    if (!isObject(properties) || !Array.isArray(properties["methods"])) continue;
    for (const { name, events } of properties["methods"].filter(isObject)) {
      for (const event of [events].flat())
        (handlers[String(event)] ??= []).push(`${String(properties["filename"])}#${String(name)}`);
    }
  }
  const isEmpty = Object.keys(handlers).length === 0;
  return JSON.stringify(isEmpty ? { onBeforeInsert: ["components/code.ts#check"] } : handlers);
}
