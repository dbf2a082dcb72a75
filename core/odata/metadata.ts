/** `$metadata`: the sets that a caller has, their types and relations, as CSDL in XML. */
import { PathColumns } from "../query/paths.ts";
import type { SeenSet } from "./bound-sets.ts";
import { edmTypeOf } from "./edm.ts";
import { namesAt } from "./places.ts";
import type { ProjectNames, SetNames } from "./set-names.ts";

const namespace = "rowgate";
const container = "Container";
const capabilities = "Org.OData.Capabilities.V1";

/** Functions that `$filter` takes; Power Query sends no others. */
const filterFunctions = ["contains", "startswith", "endswith", "tolower", "toupper"];

export function metadataOf(seen: readonly SeenSet[], project: ProjectNames): string {
  const known = new Map(seen.map((one) => [one.names.endpoint, one.names]));
  const types = seen.map((one) => entityType(one, known, project));
  const sets = seen.map((one) => entitySet(one, known));
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">',
    `<edmx:Reference Uri="https://oasis-tcs.github.io/odata-vocabularies/vocabularies/${capabilities}.xml"><edmx:Include Namespace="${capabilities}"/></edmx:Reference>`,
    "<edmx:DataServices>",
    `<Schema Namespace="${namespace}" xmlns="http://docs.oasis-open.org/odata/ns/edm">`,
    ...types,
    `<EntityContainer Name="${container}">`,
    ...sets,
    annotation(
      "FilterFunctions",
      `<Collection>${filterFunctions.map((name) => `<String>${name}</String>`).join("")}</Collection>`,
    ),
    annotation("BatchSupported", "", ' Bool="false"'),
    "</EntityContainer>",
    "</Schema>",
    "</edmx:DataServices>",
    "</edmx:Edmx>",
    "",
  ].join("\n");
}

const annotation = (term: string, content: string, value = ""): string =>
  `<Annotation Term="${capabilities}.${term}"${value}>${content}</Annotation>`;

/** By endpoint: the sets that the caller has. */
type Known = ReadonlyMap<string, SetNames>;

function entityType({ names, views }: SeenSet, known: Known, project: ProjectNames): string {
  const plans = views.map(({ read }) => read!);
  const { key } = plans[0]!;
  const isShown = (name: string): boolean => plans.every(({ columns }) => columns.has(name));
  const isKeyed = key.length > 0 && key.every(({ name }) => isShown(name));
  const keyNames = new Set(isKeyed ? key.map(({ name }) => name) : []);
  const refs = [...keyNames].map(
    (name) => `<PropertyRef${attribute("Name", names.properties.get(name)!)}/>`,
  );
  const seen = new Map(
    plans.flatMap(({ named: columns }) => namesAt({ project, names, columns, key }).properties),
  );
  const properties = [...seen].map(([property, column]) => {
    const { name, facets } = edmTypeOf(column);
    const isNullable = !keyNames.has(column.name) && (column.nullable || !isShown(column.name));
    const given = {
      Name: property,
      Type: name,
      ...(!isNullable && { Nullable: "false" }),
      ...facets,
    };
    const attributes = Object.entries(given).map(([facet, value]) => attribute(facet, value));
    return `<Property${attributes.join("")}/>`;
  });
  return [
    `<EntityType${attribute("Name", names.type)}>`,
    ...(isKeyed ? [`<Key>${refs.join("")}</Key>`] : []),
    ...properties,
    ...relationsOf({ names, views }, known).map(navigation),
    "</EntityType>",
  ].join("\n");
}

interface Relation {
  readonly name: string;
  readonly target: SetNames;
  readonly isMany: boolean;
  /** Properties here and there that are equal; of relations to one. */
  readonly on: readonly (readonly [own: string, other: string])[];
}

function relationsOf({ names, views }: Pick<SeenSet, "names" | "views">, known: Known): Relation[] {
  const columns = views.map(({ read }) => read!.named).filter((one) => one instanceof PathColumns);
  return [...names.relations].flatMap(([name, endpoint]): Relation[] => {
    const relation = columns.map((one) => one.relation(name)).find((one) => one !== undefined);
    const target = known.get(endpoint);
    if (relation === undefined || target === undefined) return [];
    const { isMany, steps, key } = relation;
    // Only keys can be referenced.
    const pairs = isMany ? [] : steps[0]!.on;
    const isKey =
      pairs.length === key.length &&
      pairs.every(({ right }) => key.some((one) => one.name === right.name));
    const on = (isKey ? pairs : []).map(
      ({ left, right }) =>
        [names.properties.get(left.name)!, target.properties.get(right.name)!] as const,
    );
    return [{ name, target, isMany, on }];
  });
}

function navigation({ name, target, isMany, on }: Relation): string {
  const type = `${namespace}.${target.type}`;
  const constraints = on.map(
    ([own, other]) =>
      `<ReferentialConstraint${attribute("Property", own)}${attribute("ReferencedProperty", other)}/>`,
  );
  const begin = `<NavigationProperty${attribute("Name", name)}${attribute("Type", isMany ? `Collection(${type})` : type)}`;
  return constraints.length === 0
    ? `${begin}/>`
    : `${begin}>${constraints.join("")}</NavigationProperty>`;
}

function entitySet({ names, views, hasList }: SeenSet, known: Known): string {
  const bindings = relationsOf({ names, views }, known).map(
    ({ name, target }) =>
      `<NavigationPropertyBinding${attribute("Path", name)}${attribute("Target", target.set)}/>`,
  );
  const restricted = hasList ? [] : [onlyByKey];
  const begin = `<EntitySet${attribute("Name", names.set)}${attribute("EntityType", `${namespace}.${names.type}`)}`;
  const inside = [...bindings, ...restricted].join("");
  return inside === "" ? `${begin}/>` : `${begin}>${inside}</EntitySet>`;
}

const onlyByKey = annotation(
  "ReadRestrictions",
  `<Record><PropertyValue Property="Readable" Bool="false"/><PropertyValue Property="ReadByKeyRestrictions"><Record><PropertyValue Property="Readable" Bool="true"/></Record></PropertyValue></Record>`,
);

const attribute = (name: string, value: string): string => ` ${name}="${escapedXml(value)}"`;

const escapedXml = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
