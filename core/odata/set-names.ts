/**
 * The names by which OData knows endpoints, columns and relations. Names of OData have letters, digits and underscores
 * only; other characters become underscores. They are made of the whole configuration, so that every caller knows the
 * same names.
 */
import type { Entity } from "../plans/entity.ts";

/** The names of one endpoint and its records. */
export interface SetNames {
  readonly endpoint: string;
  /** Of the entity set. */
  readonly set: string;
  /** Of the type of its records. */
  readonly type: string;
  /** Columns by the names of OData, and the other way round. */
  readonly columns: ReadonlyMap<string, string>;
  readonly properties: ReadonlyMap<string, string>;
  /** Relations by the names of OData, in which theirs never change, and the endpoint to which they lead. */
  readonly relations: ReadonlyMap<string, string>;
}

/** The sets of a project. */
export interface ProjectNames {
  readonly sets: ReadonlyMap<string, SetNames>;
  readonly endpoints: ReadonlyMap<string, SetNames>;
}

/** Of all endpoints whose records can be read. */
export function setNamesOf(entities: ReadonlyMap<string, Entity>): ProjectNames {
  const readable = [...entities].flatMap(([name, { read, relations }]) =>
    read === null ? [] : [{ name, read, relations }],
  );
  const setNames = uniqueNames(readable.map(({ name }) => name));
  const all = readable.map(({ name, read, relations }): SetNames => {
    const set = setNames.get(name)!;
    // A column hides a relation of its name.
    const related = [...relations].filter(([relation]) => !read.columns.has(relation));
    const taken = related.map(([relation]) => relation);
    const properties = uniqueNames([...read.columns.keys()], taken);
    return {
      endpoint: name,
      set,
      type: `${set}Record`,
      columns: new Map([...properties].map(([column, property]) => [property, column])),
      properties,
      relations: new Map(related.map(([relation, { endpoint }]) => [relation, endpoint])),
    };
  });
  return {
    sets: new Map(all.map((names) => [names.set, names])),
    endpoints: new Map(all.map((names) => [names.endpoint, names])),
  };
}

/** A name for each, none of them `taken`. Those that need no change keep theirs. */
function uniqueNames(names: readonly string[], taken: Iterable<string> = []): Map<string, string> {
  const used = new Set(taken);
  const kept = new Set(names.filter((name) => odataName(name) === name && !used.has(name)));
  for (const name of kept) used.add(name);
  return new Map(
    names.map((name) => {
      if (kept.has(name)) return [name, name];
      const clean = odataName(name);
      let unique = clean;
      for (let at = 2; used.has(unique); at++) unique = `${clean}_${at}`;
      used.add(unique);
      return [name, unique];
    }),
  );
}

/** The longest name of OData is 128 characters; a number may follow. */
const lengthMax = 120;

/** The name as OData may have it; others may have the same. */
export function odataName(name: string): string {
  const clean = name.replace(/[^\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}_]/gu, "_");
  const begun = /^[\p{L}\p{Nl}_]/u.test(clean) ? clean : `_${clean}`;
  return [...begun].slice(0, lengthMax).join("");
}
