/**
 * Checks a normalised value against a Zod schema and describes what does not match, with "did you mean" for properties
 * and choices.
 */
import type { z } from "zod";
import { plannedActions } from "../../actions.ts";
import { isObject } from "../../values/json.ts";
import { otherNamesAt } from "./compat.ts";
import { didYouMean } from "./did-you-mean.ts";
import { faultAt, valueAt, type Document } from "./document.ts";
import type { Fault, Path } from "./faults.ts";

type Issue = z.core.$ZodIssue;

interface Checked<Value> {
  /** With its defaults; null: it has faults. */
  readonly value: Value | null;
  /** The same without the members at fault; null: it means nothing without them. */
  readonly rest: Value | null;
  readonly faults: Fault[];
}

/** `needed`: members without which the others mean something else. */
export function checkShape<Schema extends z.ZodType>(
  schema: Schema,
  document: Document,
  value: unknown,
  needed: ReadonlySet<string> = new Set(),
): Checked<z.output<Schema>> {
  const result = schema.safeParse(value);
  if (result.success) return { value: result.data, rest: result.data, faults: [] };
  const issues = withoutEchoes(result.error.issues);
  const rest = schema.safeParse(withoutFaulty(value, issues, needed)).data ?? null;
  return { value: null, rest, faults: issues.flatMap((issue) => explain(issue, [])) };

  function explain(issue: Issue, base: Path): Fault[] {
    const path = [...base, ...issue.path] as Path;
    if (issue.code === "unrecognized_keys")
      return issue.keys.map((key) => unknownProperty(path, key));
    if (issue.code === "invalid_union" && issue.errors.length > 0)
      return explainUnion(issue.errors, path);
    if (issue.code === "invalid_key")
      return issue.issues.map((about) =>
        faultAt(document, path, {
          found: `the name ${JSON.stringify(path.at(-1))}`,
          expected: expectation(about),
        }),
      );
    const found = valueAt(value, path);
    const choices = choicesOf(issue);
    const hint = typeof found === "string" ? didYouMean(found, choices) : undefined;
    return [faultAt(document, path, { expected: expectation(issue), hint })];
  }

  function unknownProperty(path: Path, key: string): Fault {
    const planned = path.join() === "action" ? plannedActions.get(key) : undefined;
    if (planned !== undefined) {
      return faultAt(document, [...path, key], {
        found: "an action that is planned but not available yet",
        expected: `an action that is available (${planned.reason})`,
      });
    }
    // The branches of a union may have properties of the same name.
    const known = [...new Set(propertiesAt(schema, path))];
    const fault = faultAt(document, [...path, key], {
      found: "an unknown property",
      expected:
        known.length > 12
          ? "a property that the JSON Schema of the file lists"
          : `one of ${known.join(", ")}`,
      hint: didYouMean(key, [...known, ...otherNamesAt(path)]),
    });
    return { ...fault, unknownProperty: key };
  }

  /** The author probably meant the branch whose kind of value matches. Without one, all kinds are named. */
  function explainUnion(reported: readonly Issue[][], path: Path): Fault[] {
    const branches = reported.map(withoutEchoes);
    const ofKind = branches.filter(
      (issues) => !issues.some((issue) => issue.path.length === 0 && isOfKind(issue)),
    );
    const best = ofKind.toSorted((a, b) => a.length - b.length)[0];
    if (best) return best.flatMap((issue) => explain(issue, path));
    const kinds = new Set(branches.flatMap((issues) => issues.flatMap(kindsOf)));
    return [faultAt(document, path, { expected: [...kinds].join(" or ") })];
  }
}

/** A copy without unknown properties, and without the members that have another fault, if none of these is needed. */
function withoutFaulty(
  value: unknown,
  issues: readonly Issue[],
  needed: ReadonlySet<string>,
): unknown {
  const copy = structuredClone(value);
  for (const issue of issues) {
    const isUnknown = issue.code === "unrecognized_keys";
    if (!isUnknown && needed.has(String(issue.path[0]))) return null;
    const named = issue.path.findLastIndex((step) => typeof step === "string");
    const end = isUnknown ? issue.path.length : Math.max(named, 0);
    const holder = valueAt(copy, issue.path.slice(0, end) as Path);
    const names = isUnknown ? issue.keys : [String(issue.path[named])];
    if (isObject(holder)) for (const name of names) delete holder[name];
  }
  return copy;
}

/** Zod checks the length of lists and texts even where the value should be something else. */
function withoutEchoes(issues: readonly Issue[]): Issue[] {
  const mistyped = new Set(
    issues.filter(({ code }) => code === "invalid_type").map(({ path }) => path.join("\n")),
  );
  return issues.filter(({ code, path }) => code !== "too_small" || !mistyped.has(path.join("\n")));
}

const isOfKind = (issue: Issue): boolean =>
  issue.code === "invalid_type" || issue.code === "invalid_value" || issue.code === "invalid_union";

const kindsOf = (issue: Issue): string[] =>
  issue.code === "invalid_union"
    ? issue.errors.flatMap((issues) => issues.flatMap(kindsOf))
    : [expectation(issue)];

const kinds: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

function expectation(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return kinds[issue.expected] ?? issue.expected;
    case "invalid_value":
    case "invalid_union":
      return choicesOf(issue).length === 1
        ? choicesOf(issue)[0]!
        : `one of ${choicesOf(issue).join(", ")}`;
    case "too_small":
      if (issue.origin === "string") return "a string that is not empty";
      return issue.origin === "array" ? "a list that is not empty" : `at least ${issue.minimum}`;
    case "too_big":
      return `at most ${issue.maximum}`;
    default:
      return issue.message;
  }
}

/** The allowed values; for alternative forms of an object, those of the property that chooses the form. */
function choicesOf(issue: Issue): string[] {
  if (issue.code === "invalid_value") return issue.values.map(String);
  return issue.code === "invalid_union" && "options" in issue
    ? (issue.options as unknown[]).map(String)
    : [];
}

/** The property names of the strict object at this path; empty when there is none. */
function propertiesAt(schema: unknown, path: Path): string[] {
  const def = (schema as z.core.$ZodType)._zod.def as unknown as Record<string, unknown> & {
    type: string;
  };
  const [step, ...rest] = path;
  switch (def.type) {
    case "optional":
    case "default":
    case "prefault":
    case "nullable":
      return propertiesAt(def["innerType"], path);
    case "union":
      return (def["options"] as unknown[]).flatMap((option) => propertiesAt(option, path));
    case "object": {
      const shape = def["shape"] as Record<string, unknown>;
      if (step === undefined) return Object.keys(shape);
      return Object.hasOwn(shape, step) ? propertiesAt(shape[step], rest) : [];
    }
    case "array":
      return step === undefined ? [] : propertiesAt(def["element"], rest);
    case "record":
      return step === undefined ? [] : propertiesAt(def["valueType"], rest);
    default:
      return [];
  }
}
