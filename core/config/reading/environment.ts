/**
 * `${NAME}` and `${NAME:-default}` in the strings of project.json. Values of variables are not expanded again, so a
 * password may contain `${`. As in a shell, the default also replaces an empty variable.
 */
import { didYouMean } from "./did-you-mean.ts";
import { faultAt, type Document } from "./document.ts";
import type { Fault, Path } from "./faults.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

const reference = /\$\{([^}]*)(\}?)/g;
const wellFormed = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;

/** The document's value with every variable replaced; a missing one is a fault that names it. */
export function replaceVariables(
  document: Document,
  env: Environment,
): { value: unknown; faults: Fault[] } {
  const faults: Fault[] = [];

  function replace(value: unknown, path: Path): unknown {
    if (typeof value === "string")
      return value.replace(reference, (...groups) => lookUp(path, groups));
    if (Array.isArray(value)) return value.map((item, index) => replace(item, [...path, index]));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, replace(item, [...path, name])]),
    );
  }

  function lookUp(path: Path, [whole, inner, closing]: string[]): string {
    const parts = closing === "" ? null : wellFormed.exec(inner!);
    if (parts === null) {
      faults.push(
        faultAt(document, path, { expected: "variables written as ${NAME} or ${NAME:-default}" }),
      );
      return whole!;
    }
    const name = parts[1]!;
    const fallback = parts[2];
    const set = Object.hasOwn(env, name) ? env[name] : undefined;
    if (set !== undefined && (set !== "" || fallback === undefined)) return set;
    if (fallback !== undefined) return fallback;
    faults.push(
      faultAt(document, path, {
        found: `the environment variable ${name}, which is not set`,
        expected: `a value for ${name}, or a default: \${${name}:-…}`,
        hint: didYouMean(name, Object.keys(env)),
      }),
    );
    return whole!;
  }

  return { value: replace(document.value, []), faults };
}
