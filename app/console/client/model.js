/** Projects and entities for the caller, from the index at `/` and the OpenAPI documents of single endpoints. */
import { ApiError, ask } from "./api.js";
import { locale } from "./words.js";

/** @import { Entity, EntityNotes, Field, FieldNote, Relation, Schema } from "./types.d.ts" */
/** `lines_of`: the endpoint of the documents whose lines its records are. @typedef {{ name: string, path: string, actions: string[], console?: import("./types.d.ts").MenuNote, lines_of?: string, takes_params?: true }} Endpoint */
/** @typedef {{ name: string, status: string, endpoints: Endpoint[], dashboard?: { title: string, path: string } }} Project */
/** @typedef {{ projects: Project[], signIn: boolean, version: string | null, links: Record<string, string> }} Index */

/** By their paths. @type {Map<string, Promise<Entity | null>>} */
const entities = new Map();

/** To be called when the caller changed. */
export const forget = () => entities.clear();

/** Sorts names as people do: 2 before 10, accented letters beside the plain ones. */
const order = new Intl.Collator(locale, { numeric: true });

/** Of the last index. @type {Project[]} */
let known = [];

/** Whether the caller can use an action, according to the last index. @param {string} project @param {string} endpoint @param {string} action */
export const mayUse = (project, endpoint, action) =>
  endpointNamed(project, endpoint)?.actions.includes(action) ?? false;

/** @param {string} project @param {string} endpoint */
const endpointNamed = (project, endpoint) =>
  known.find(({ name }) => name === project)?.endpoints.find(({ name }) => name === endpoint);

/** What people call an endpoint. @param {string} project @param {string} endpoint */
export const titleOfEndpoint = (project, endpoint) =>
  endpointNamed(project, endpoint)?.console?.label ?? wordsOf(endpoint);

/** @param {Endpoint} endpoint */
const nameIn = ({ name, console: note }) => note?.label ?? wordsOf(name);

/** An endpoint as menus show it, with those of its lines below it. @typedef {{ endpoint: Endpoint, title: string, lines: Endpoint[] }} MenuEntry */

/** Those without a group first. @param {Project} project @returns {{ group: string, entries: MenuEntry[] }[]} */
export function menuOf({ endpoints }) {
  const shown = endpoints.filter((one) => !one.console?.hidden && isListed(one));
  const names = new Set(shown.map(({ name }) => name));
  const isLine = (/** @type {Endpoint} */ { lines_of = "" }) => names.has(lines_of);
  const groups = Map.groupBy(
    // Lines of lines would have no place.
    shown.filter((one) => !isLine(one) || shown.some(({ lines_of }) => lines_of === one.name)),
    (one) => one.console?.group ?? "",
  );
  return [...groups]
    .toSorted(([a], [b]) => order.compare(a, b))
    .map(([group, all]) => ({
      group,
      entries: all.map((endpoint) => ({
        endpoint,
        title: nameIn(endpoint),
        lines: shown.filter(({ lines_of }) => lines_of === endpoint.name),
      })),
    }));
}

/** Whether the console can show it. @param {Endpoint} endpoint */
const isListed = ({ actions }) =>
  ["read", "datatables", "create", "create-composite", "import-upload"].some((one) =>
    actions.includes(one),
  );

/** @returns {Promise<Index>} */
export async function loadIndex() {
  const { body } = await ask("./", { quiet: true });
  known = /** @type {Project[]} */ (body.projects).map((one) => ({
    ...one,
    endpoints: one.endpoints.toSorted((a, b) => order.compare(nameIn(a), nameIn(b))),
  }));
  return {
    projects: known,
    signIn: body.sign_in !== undefined,
    version: body.version ?? null,
    links: body.links,
  };
}

/** The ways to sign in: from the first document of a visible project that has some, otherwise from the whole document. @returns {Promise<any[]>} */
export async function loadSignIns() {
  const { projects } = await loadIndex();
  const shown = projects.flatMap(({ name, endpoints: [first] }) =>
    first ? [documentPath(name, first.name)] : [],
  );
  for (const path of [...shown, "openapi.json"]) {
    const { body } = await ask(path, { quiet: true });
    const schemes = Object.values(body.components?.securitySchemes ?? {});
    if (schemes.length > 0) return schemes;
  }
  return [];
}

/** @param {string} project @param {string} endpoint */
const documentPath = (project, endpoint) =>
  `api/${encodeURIComponent(project)}/${encodeURIComponent(endpoint)}/openapi.json`;

/**
 * Asked for once. Null: there is no such endpoint for the caller.
 * @param {string} project @param {string} endpoint @returns {Promise<Entity | null>}
 */
export function loadEntity(project, endpoint) {
  const path = documentPath(project, endpoint);
  const loading = entities.get(path) ?? describedAt(path);
  entities.set(path, loading);
  loading.catch(() => entities.delete(path));
  return loading;
}

/** @param {string} path @returns {Promise<Entity | null>} */
async function describedAt(path) {
  try {
    const { body } = await ask(path, { quiet: true });
    /** @type {EntityNotes | undefined} */
    const notes = body.tags?.[0]?.["x-rowgate"];
    return notes ? entityOf(body, notes) : null;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/** @param {any} described @param {EntityNotes} notes @returns {Entity} */
function entityOf(described, notes) {
  const { project, endpoint, key } = notes;
  const start = `/api/${project}/${endpoint}/`;
  const operations = Object.entries(described.paths).filter(([path]) => path.startsWith(start));
  const actions = new Set(operations.map(([path]) => path.slice(start.length)));

  /** @param {Schema | undefined} schema @returns {Schema} */
  const deref = (schema) => {
    const name = schema?.$ref?.split("/").at(-1);
    return name === undefined ? (schema ?? {}) : deref(described.components.schemas[name]);
  };
  /** @param {string} action @returns {any} */
  const operation = (action) => described.paths[start + action]?.post;
  /** @param {string} action */
  const body = (action) => {
    const schema = operation(action)?.requestBody?.content["application/json"]?.schema;
    return schema ? withoutOptions(deref(schema), deref) : null;
  };
  /** Names of the own fields of the records that an action answers, without related records and versions. @param {string} action */
  const answered = (action) => {
    const responses = operation(action)?.responses ?? {};
    const schema = responses[200]?.content?.["application/json"]?.schema;
    const names = schema ? namesIn(deref(schema).properties?.["data"], deref) : [];
    return names.filter((name) => Object.hasOwn(notes.fields, name));
  };
  const shown = answered("first");
  const read = answered("read");
  const listed = actions.has("datatables") ? answered("datatables") : read;
  const all = Object.keys(notes.fields);
  const fields = fieldsOf(notes.fields);
  const relations = new Map(
    Object.entries(notes.relations ?? {}).map(([name, note]) => [name, { ...note, name }]),
  );
  const own = listed.length > 0 ? listed : all;
  const names = namesOf(relations.values(), fields, own);
  for (const { field } of names) fields.set(field.name, field);
  const {
    label,
    columns: first = [],
    order: terms = [],
    paths = {},
    steps = {},
    views = [],
  } = notes.console ?? {};
  const more = Object.keys(paths).filter((name) => !fields.has(name));
  for (const name of more)
    fields.set(name, { ...fieldOf(name, paths[name] ?? { type: "text" }), isPath: true });
  const columns = [...withNames(own, names), ...more];
  /** A key gives its place to the name of the record. @param {string} name */
  const shownAs = (name) =>
    names.find(({ place, isReplaced }) => isReplaced && place === name)?.field.name ?? name;
  return {
    project,
    endpoint,
    title: label ?? wordsOf(endpoint),
    path: `api/${project}/${endpoint}`,
    actions,
    key,
    fields,
    columns,
    firstColumns: first.map(shownAs).filter((name) => columns.includes(name)),
    firstOrder: terms
      .map((term) => ({ field: term.replace(/^-/, ""), isDown: term.startsWith("-") }))
      .filter(({ field }) => columns.includes(field)),
    views: views.map(({ columns: shown, ...view }) => ({
      ...view,
      ...(shown && { columns: shown.map(shownAs) }),
    })),
    listed: own,
    read,
    shown: shown.length > 0 ? shown : all,
    titleField: notes.titleField ?? null,
    relations,
    referencedBy: notes.referencedBy ?? [],
    status: notes.status ?? null,
    steps: new Map(Object.entries(steps)),
    deletedField: notes.deletedField ?? null,
    adjust: notes.adjust ? { ...notes.adjust, fields: adjustable(body("adjust"), deref) } : null,
    lines: (notes.lines ?? []).map((lines) => ({ ...lines, fields: fieldsOf(lines.fields) })),
    isLive: notes.live ?? false,
    body,
    deref,
  };
}

/**
 * What names related records in a list: a field for each relation to one. `place`: the column whose place it takes, or
 * that it stands after.
 * @param {Iterable<Relation>} relations @param {Map<string, Field>} fields @param {string[]} listed
 * @returns {{ field: Field, place: string, isReplaced: boolean }[]}
 */
function namesOf(relations, fields, listed) {
  const replaced = new Set();
  return [...relations].flatMap((relation) => {
    const { name, many, titleField, columns, label: given } = relation;
    const own = Object.keys(columns);
    const place = listed.findLast((one) => own.includes(one));
    if (many || titleField === undefined || place === undefined) return [];
    if (fields.has(`${name}.${titleField}`)) return [];
    if (!own.every((one) => listed.includes(one))) return [];
    const isReplaced = own.length === 1 && !replaced.has(place);
    if (isReplaced) replaced.add(place);
    const label = given ?? (isReplaced ? fields.get(place)?.label : undefined);
    const field = fieldOf(`${name}.${titleField}`, {
      type: "text",
      label:
        label !== undefined && label !== wordsOf(place)
          ? label
          : wordsOf(isReplaced ? withoutId(place) : name),
    });
    return [{ field: { ...field, relation: { ...relation, titleField } }, place, isReplaced }];
  });
}

/** @param {string[]} listed @param {ReturnType<typeof namesOf>} names */
const withNames = (listed, names) =>
  listed.flatMap((column) => {
    const here = names.filter(({ place }) => place === column);
    const paths = here.map(({ field }) => field.name);
    return here.some(({ isReplaced }) => isReplaced) ? paths : [column, ...paths];
  });

/** Most bodies can also have the form `{data, options}`. @param {Schema} schema @param {(one: Schema) => Schema} deref */
function withoutOptions(schema, deref) {
  const branches = (schema.anyOf ?? []).map(deref);
  return branches.find((one) => one.properties && !one.properties["options"]) ?? schema;
}

/** @param {Schema | undefined} schema @param {(one: Schema | undefined) => Schema} deref @returns {string[]} */
function namesIn(schema, deref) {
  const known = deref(schema);
  const [first] = known.anyOf ?? [];
  if (first) return namesIn(first, deref);
  if (known.items) return namesIn(known.items, deref);
  return Object.keys(known.properties ?? {});
}

/** @param {Schema | null} schema @param {(one: Schema | undefined) => Schema} deref @returns {string[]} */
function adjustable(schema, deref) {
  const item = deref(deref(schema?.properties?.["adjustments"]).items);
  const branches = item.anyOf ? item.anyOf.map(deref) : [item];
  return branches.flatMap(({ properties }) => {
    const { const: only, enum: names } = deref(properties?.["field"]);
    return /** @type {string[]} */ (names ?? (only === undefined ? [] : [only]));
  });
}

/** @param {Record<string, FieldNote>} notes @returns {Map<string, Field>} */
const fieldsOf = (notes) =>
  new Map(Object.entries(notes).map(([name, note]) => [name, fieldOf(name, note)]));

/** @param {string} name @param {FieldNote} note @returns {Field} */
export const fieldOf = (name, note) => ({
  ...note,
  name,
  label: note.label ?? wordsOf(note.references ? withoutId(name) : name),
});

/** What is known of a field, or a text of this name. @param {ReadonlyMap<string, Field>} fields @param {string} name */
export const fieldNamed = (fields, name) => fields.get(name) ?? fieldOf(name, { type: "text" });

/** @param {string} name */
const withoutId = (name) => name.replace(/_?id$/i, "") || name;

/** `stock-receipts` or `supplierName` as people write it. @param {string} name */
export function wordsOf(name) {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/[-_.]+/g, " ")
    .trim()
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Whether records of an endpoint can be opened. @param {string} project @param {string} endpoint */
export const mayOpen = (project, endpoint) =>
  ["first", "read-composite"].some((action) => mayUse(project, endpoint, action));
