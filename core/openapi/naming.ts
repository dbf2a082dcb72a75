/** Names in a document: of operations and of shared schemas, made from the names of projects, endpoints and actions. */

/** `visit-create/composite` -> `VisitCreateComposite`. Capitals within a word stay. */
export const pascalCase = (name: string): string =>
  name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join("");

/** `visitCreateComposite`. */
export function camelCase(name: string): string {
  const pascal = pascalCase(name);
  return pascal.slice(0, 1).toLowerCase() + pascal.slice(1);
}

/** Returns the wanted name the first time, then with a number appended: `Order`, `Order2`, `Order404_2`. */
export function createUniqueNames(): (wanted: string) => string {
  const taken = new Set<string>();
  return (wanted) => {
    let name = wanted;
    const stem = /[0-9]$/.test(wanted) ? `${wanted}_` : wanted;
    for (let number = 2; taken.has(name); number++) name = `${stem}${number}`;
    taken.add(name);
    return name;
  };
}

/**
 * A different name for each of these, in their order: names that are the same without their signs get a number. One
 * without letters and digits is called `Unnamed`.
 */
export function distinctNames(names: Iterable<string>): ReadonlyMap<string, string> {
  const unique = createUniqueNames();
  return new Map([...names].map((name) => [name, unique(pascalCase(name) || "Unnamed")]));
}
