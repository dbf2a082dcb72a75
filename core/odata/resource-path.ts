/** The part of an address behind the service document: which set, which record, and what of it. */
import { invalidParameter, notFound } from "../values/errors.ts";
import { notOffered } from "./expressions.ts";

export interface ResourcePath {
  readonly set: string;
  /** As it stands between the parentheses; null: the whole set. */
  readonly key: string | null;
  /** The relation behind the key; null: the record itself. */
  readonly relation: string | null;
  readonly isCount: boolean;
}

/** `path`: decoded, without its first slash. Rejects with `notImplemented`, `notFound` or Invalid parameter. */
export function readResourcePath(path: string): ResourcePath {
  const [, set = "", rest = ""] = /^([^/(]*)(.*)$/s.exec(path) ?? [];
  const { key, behind } = rest.startsWith("(") ? keyIn(rest) : { key: null, behind: rest };
  if (behind !== "" && !behind.startsWith("/")) throw notFound("No resource exists at this path");
  const segments = behind.split("/").slice(1);
  if (segments.at(-1) === "") segments.pop();
  const isCount = segments.at(-1) === "$count";
  const [relation = null, ...further] = isCount ? segments.slice(0, -1) : segments;
  const other = [relation, ...further].find((segment) => segment?.startsWith("$"));
  if (other) throw notOffered(other.slice(0, 100));
  if (key === null && relation !== null)
    throw notFound(`Keys stand in parentheses: ${set.slice(0, 100)}(${relation.slice(0, 100)})`);
  if (further.length > 0) throw notOffered("A path behind a relation");
  if (isCount && key !== null && relation === null)
    throw invalidParameter("A single record is not counted");
  return { set, key, relation, isCount };
}

/** The text up to the parenthesis that stands in no quotation marks. */
function keyIn(rest: string): { readonly key: string; readonly behind: string } {
  let isText = false;
  for (let at = 1; at < rest.length; at++) {
    if (rest[at] === "'") isText = !isText;
    else if (rest[at] === ")" && !isText)
      return { key: rest.slice(1, at), behind: rest.slice(at + 1) };
  }
  throw invalidParameter("The key has no end");
}
