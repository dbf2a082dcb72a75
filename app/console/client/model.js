/** Projects and entities for the caller, from the index at `/` and the OpenAPI documents of single endpoints. */
import { ApiError, ask } from "./api.js";

/** @typedef {import("./types.d.ts").Entity} Entity */
/** @typedef {import("./types.d.ts").EntityNotes} EntityNotes */
/** @typedef {import("./types.d.ts").FieldNote} FieldNote */
/** @typedef {import("./types.d.ts").Field} Field */
/** @typedef {import("./types.d.ts").Schema} Schema */
/** @typedef {{ name: string, status: string, endpoints: { name: string, path: string, actions: string[] }[], dashboard?: { title: string, path: string } }} Project */
/** @typedef {{ projects: Project[], signIn: boolean, version: string | null, links: Record<string, string> }} Index */

/** By their paths. @type {Map<string, Promise<Entity | null>>} */
const entities = new Map();

/** To be called when the caller changed. */
export const forget = () => entities.clear();

/** Sorts names as people do: 2 before 10, accented letters beside the plain ones. */
const order = new Intl.Collator(document.documentElement.lang, { numeric: true });

/** Of the last index. @type {Project[]} */
let known = [];

/** Whether the caller can use an action, according to the last index. @param {string} project @param {string} endpoint @param {string} action */
export const mayUse = (project, endpoint, action) =>
  known
    .find(({ name }) => name === project)
    ?.endpoints.find(({ name }) => name === endpoint)
    ?.actions.includes(action) ?? false;

/** @returns {Promise<Index>} */
export async function loadIndex() {
  const { body } = await ask("./", { quiet: true });
  known = /** @type {Project[]} */ (body.projects).map((one) => ({
    ...one,
    endpoints: one.endpoints.toSorted((a, b) => order.compare(wordsOf(a.name), wordsOf(b.name))),
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
  return {
    project,
    endpoint,
    title: wordsOf(endpoint),
    path: `api/${project}/${endpoint}`,
    actions,
    key,
    fields: fieldsOf(notes.fields),
    columns: listed.length > 0 ? listed : all,
    read,
    shown: shown.length > 0 ? shown : all,
    relations: notes.relations ?? {},
    referencedBy: notes.referencedBy ?? [],
    status: notes.status ?? null,
    deletedField: notes.deletedField ?? null,
    adjust: notes.adjust ? { ...notes.adjust, fields: adjustable(body("adjust"), deref) } : null,
    lines: (notes.lines ?? []).map((lines) => ({
      ...lines,
      fields: fieldsOf(lines.fields),
    })),
    body,
    deref,
  };
}

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
  label: note.label ?? wordsOf(note.references ? name.replace(/_?id$/i, "") || name : name),
});

/** `stock-receipts` or `supplierName` as people write it. @param {string} name */
export function wordsOf(name) {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/[-_.]+/g, " ")
    .trim()
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The field that names a record to people. @param {Entity} entity */
export function titleField(entity) {
  const texts = entity.shown.filter(
    (name) => entity.fields.get(name)?.type === "text" && !entity.key.includes(name),
  );
  const free = texts.filter((name) => !entity.fields.get(name)?.references);
  return free.find((name) => /(^|_)(name|title|number|label)$/i.test(name)) ?? free[0] ?? null;
}
