/**
 * Where names of a request are looked up: the records of a set, or of a relation. A path of OData becomes the name that
 * requests of the service have for it. Names that the caller may not use are unknown, as those that do not exist.
 */
import { type FoundRelation, PathColumns } from "../query/paths.ts";
import { closest } from "../values/closest.ts";
import { type AppError, invalidField } from "../values/errors.ts";
import type { Column, Columns } from "../values/types/column.ts";
import type { Key } from "../values/types/key.ts";
import type { ProjectNames, SetNames } from "./set-names.ts";

export interface ODataPlace {
  readonly project: ProjectNames;
  readonly names: SetNames;
  /** What the caller may name of the records. */
  readonly columns: Columns;
  /** The columns that identify the records, whether the caller sees them or not; empty: no such are known. */
  readonly key: Key;
}

export type FoundName =
  | { readonly kind: "column"; readonly key: string; readonly column: Column }
  | {
      readonly kind: "relation";
      readonly key: string;
      readonly relation: FoundRelation;
      /** Of the related records. */
      readonly place: ODataPlace;
    };

/** What the path leads to. Rejects with Invalid field. `option`: the query option, for messages. */
export function foundAt(
  { segments }: { readonly segments: readonly string[] },
  place: ODataPlace,
  option: string,
): FoundName {
  const { project, columns } = place;
  let { names } = place;
  let prefix = "";
  for (const [at, segment] of segments.entries()) {
    const isLast = at === segments.length - 1;
    const column = isLast ? columnNamed(segment, { names, prefix, columns }) : undefined;
    if (column !== undefined) return { kind: "column", key: column.name, column };
    const key = `${prefix}${segment}`;
    const relation = relationNamed(key, segment, names, columns);
    const next = relation && project.endpoints.get(names.relations.get(segment)!);
    if (!relation || !next) throw unknownProperty(segments.slice(0, at + 1), place, option);
    if (isLast)
      return {
        kind: "relation",
        key,
        relation,
        place: { project, names: next, columns: relation.columns, key: relation.key },
      };
    if (relation.isMany) throw isMany(segment, option);
    names = next;
    prefix = `${key}.`;
  }
  throw unknownProperty(segments, place, option);
}

const isMany = (segment: string, option: string): AppError =>
  invalidField(
    `"${segment.slice(0, 100)}" in ${option} leads to many records; use any or all in $filter`,
  );

function columnNamed(
  property: string,
  { names, prefix, columns }: { names: SetNames; prefix: string; columns: Columns },
): Column | undefined {
  const name = names.columns.get(property);
  return name === undefined ? undefined : columns.get(`${prefix}${name}`);
}

function relationNamed(
  key: string,
  name: string,
  { relations }: SetNames,
  columns: Columns,
): FoundRelation | undefined {
  return relations.has(name) && columns instanceof PathColumns ? columns.relation(key) : undefined;
}

/** The properties and relations of the records that the caller may name. */
export function namesAt({ names, columns }: ODataPlace): {
  readonly properties: readonly (readonly [property: string, column: Column])[];
  readonly relations: readonly string[];
} {
  const properties = [...names.columns].flatMap(([property, name]) => {
    const column = columns.get(name);
    return column === undefined || column.via !== undefined ? [] : [[property, column] as const];
  });
  const related = columns instanceof PathColumns ? columns.relationNames() : [];
  return { properties, relations: related.filter((name) => names.relations.has(name)) };
}

function unknownProperty(segments: readonly string[], place: ODataPlace, option: string): AppError {
  const path = segments.join("/").slice(0, 100);
  const { properties, relations } = namesAt(place);
  const known = [...properties.map(([property]) => property), ...relations];
  const near = segments.length === 1 ? closest(segments[0]!, known) : null;
  return invalidField(
    `Unknown property "${path}" in ${option}${near === null ? "" : `; did you mean "${near}"?`}`,
  );
}
