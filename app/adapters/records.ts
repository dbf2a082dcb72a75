/** What data providers do with records: lists of any length, records by their ids, and writes of one or of many. */
import type { CallParams, Endpoint, ProjectClient, RefusedCall } from "./project-client.ts";
import {
  type FieldCondition,
  conditionOnIds,
  type Fields,
  idOf,
  keyConditions,
  keyOfId,
  type ShownRecord,
} from "./record-ids.ts";

/** What the functions work on: an endpoint, with what the call says besides. */
export interface Resource extends CallParams {
  readonly project: ProjectClient;
  readonly name: string;
}

export interface ListQuery {
  readonly conditions: readonly FieldCondition[];
  readonly sort: readonly { readonly column: string; readonly direction: "ASC" | "DESC" }[];
  readonly search?: string | undefined;
  readonly offset: number;
  /** Infinity: all records. */
  readonly size: number;
}

export interface ListedRecords {
  readonly data: ShownRecord[];
  /** Absent when nothing was counted. */
  readonly total?: number;
  readonly hasNext: boolean;
}

/** Limits of the service: records of a page and of a list without pages, values of IN, conditions of a request. */
const pageRows = 100;
const listRows = 5000;
const idsMax = 1000;
const conditionsMax = 100;
/** `limits.bulkRecords` where neither project.json nor the document says anything else. */
const bulkRecords = 1000;
/** Single requests that run at the same time in place of one for many records. */
const concurrent = 6;

/** Records from `offset` on. More than one answer can hold come in parts; a write between two of them may shift them. */
export async function listRecords(on: Resource, query: ListQuery): Promise<ListedRecords> {
  const { offset, size } = query;
  const endpoint = await on.project.endpointOf(on.name);
  const request = listRequest(on, endpoint, query);
  const read = async (page: Fields): Promise<Fields> =>
    (await on.project.ask(endpoint, "read", { ...on, body: { ...request, ...page } })).body;
  const data: Fields[] = [];
  if (offset === 0 && size > pageRows) {
    const limit = Math.min(size + 1, listRows);
    const { data: rows } = await read({ limit });
    data.push(...rows.slice(0, size).map((row: Fields) => shown(on, endpoint, { record: row })));
    if (rows.length < limit) return { data, total: rows.length, hasNext: false };
  }
  let total: number | undefined;
  let hasNext: boolean;
  do {
    const at = offset + data.length;
    const per_page = Math.min(size, pageRows);
    const page = Math.floor(at / per_page) + 1;
    const count = total === undefined ? (on.meta?.count ?? "exact") : "none";
    const { data: rows, pagination } = await read({ page, per_page, count });
    const rest = rows.slice(at - (page - 1) * per_page) as Fields[];
    const room = size - data.length;
    data.push(...rest.slice(0, room).map((record) => shown(on, endpoint, { record })));
    total ??= pagination.total_records;
    hasNext = pagination.has_next || rest.length > room;
  } while (hasNext && data.length < size);
  return { data, hasNext, ...(total !== undefined && { total }) };
}

/** Rejects with the answer's error, or with 404 where there is no such record. */
export async function oneRecord(on: Resource, id: unknown): Promise<ShownRecord> {
  const record = await findRecord(on, await on.project.endpointOf(on.name), id);
  if (record) return record;
  const message = `No record of ${on.name} has the id ${String(id)}`;
  throw on.project.failure(404, { error: "Not found", message });
}

/** Records that read hides by its default scope are asked for one by one. Ids without a record are left out. */
export async function manyRecords(on: Resource, ids: readonly unknown[]): Promise<ShownRecord[]> {
  const endpoint = await on.project.endpointOf(on.name);
  const { key, actions } = endpoint;
  const found = new Map<string, Fields>();
  const room = key.length === 1 ? idsMax : Math.floor(conditionsMax / key.length);
  if (actions.has("read") || !actions.has("first"))
    for (const part of partsOf(ids, room)) {
      const where = { conditions: [conditionOnIds(part, endpoint)] };
      const body = { ...recordRequest(on, endpoint), where, limit: part.length };
      const answer = await on.project.ask(endpoint, "read", { ...on, body });
      for (const record of answer.body["data"] as Fields[]) {
        const one = shown(on, endpoint, { record });
        found.set(String(one["id"]), one);
      }
    }
  const missing = actions.has("first") ? ids.filter((id) => !found.has(String(id))) : [];
  const others = await each(missing, (id) => findRecord(on, endpoint, id));
  for (const one of others) if (one) found.set(String(one["id"]), one);
  return [...found.values()];
}

export async function createRecord(on: Resource, values: Fields): Promise<ShownRecord> {
  const endpoint = await on.project.endpointOf(on.name);
  const sent = { ...on, body: ownFields(values, endpoint) };
  const { body, etag } = await on.project.ask(endpoint, "create", sent);
  return shown(on, endpoint, { record: body["data"], etag });
}

/** `values`: the fields that change. */
export async function updateRecord(
  on: Resource,
  id: unknown,
  values: Fields,
): Promise<ShownRecord> {
  const endpoint = await on.project.endpointOf(on.name);
  const sent = { ...on, body: changeOf(on, endpoint, { id, values }), ifMatch: on.meta?.version };
  const { body, etag } = await on.project.ask(endpoint, "update", sent);
  return shown(on, endpoint, { record: body["data"], etag });
}

/** The record as it was. */
export async function removeRecord(on: Resource, id: unknown): Promise<ShownRecord> {
  const endpoint = await on.project.endpointOf(on.name);
  const where = keyConditions(id, endpoint).map(({ key, value }) => ({ key, value }));
  const sent = { ...on, body: { where }, ifMatch: on.meta?.version };
  const { body } = await on.project.ask(endpoint, "delete", sent);
  return { ...body["data"].deleted_items[0], id };
}

export const createRecords = (on: Resource, items: readonly Fields[]): Promise<ShownRecord[]> =>
  inBulk(on, items, {
    action: "bulk-create",
    body: (part, endpoint) => ({ data: part.map((values) => ownFields(values, endpoint)) }),
    single: (values) => createRecord(on, values),
  });

export const updateRecords = (
  on: Resource,
  ids: readonly unknown[],
  values: Fields,
): Promise<ShownRecord[]> =>
  inBulk(on, ids, {
    action: "bulk-update",
    body: (part, endpoint) => ({ data: part.map((id) => changeOf(on, endpoint, { id, values })) }),
    single: (id) => updateRecord(on, id, values),
  });

export const removeRecords = (on: Resource, ids: readonly unknown[]): Promise<ShownRecord[]> =>
  inBulk(on, ids, {
    action: "bulk-delete",
    body: (part, endpoint) => ({ keys: part.map((id) => keyOfId(id, endpoint)) }),
    single: (id) => removeRecord(on, id),
  });

interface Bulk<T> {
  readonly action: string;
  body(part: readonly T[], endpoint: Endpoint): Fields;
  single(item: T): Promise<Fields>;
}

/** One request for as many records as it takes where the endpoint has the action, else one for each. */
async function inBulk<T>(on: Resource, items: readonly T[], work: Bulk<T>): Promise<Fields[]> {
  const endpoint = await on.project.endpointOf(on.name);
  if (!endpoint.actions.has(work.action)) return each(items, work.single);
  const records: Fields[] = [];
  const most = Math.min(endpoint.bulkRecordsOf(work.action) ?? bulkRecords, bulkRecords);
  for (const part of partsOf(items, most)) {
    const sent = { ...on, body: work.body(part, endpoint) };
    const { body } = await on.project.ask(endpoint, work.action, sent);
    const etags = (body["etags"] ?? []) as (string | null)[];
    const rows = body["data"] as Fields[];
    records.push(...rows.map((record, at) => shown(on, endpoint, { record, etag: etags[at] })));
  }
  return records;
}

/** Waits for all, then rejects with the first failure, whose message says how many there were. */
async function each<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: PromiseSettledResult<R>[] = [];
  for (const part of partsOf(items, concurrent))
    results.push(...(await Promise.allSettled(part.map(work))));
  const failures = results.filter((result) => result.status === "rejected");
  const [first] = failures;
  if (!first)
    return results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const error = first.reason as RefusedCall;
  if (items.length > 1)
    error.message = `${failures.length} of ${items.length} failed: ${error.message}`;
  throw error;
}

function partsOf<T>(items: readonly T[], length: number): T[][] {
  const starts = Array.from({ length: Math.ceil(items.length / length) }, (_, at) => at * length);
  return starts.map((start) => items.slice(start, start + length));
}

/** Null: there is no such record. */
async function findRecord(on: Resource, endpoint: Endpoint, id: unknown): Promise<Fields | null> {
  const request = recordRequest(on, endpoint);
  const conditions = keyConditions(id, endpoint);
  const isRead = endpoint.actions.has("read") && !endpoint.actions.has("first");
  const body = isRead
    ? { ...request, where: { conditions }, limit: 1 }
    : { ...request, where: conditions.map(({ key, value }) => ({ key, value })) };
  const answer = await on.project.ask(endpoint, isRead ? "read" : "first", { ...on, body });
  const [record] = [answer.body["data"]].flat() as (Fields | null)[];
  return record ? shown(on, endpoint, { record }) : null;
}

const shown = (
  { project }: Resource,
  endpoint: Endpoint,
  { record, etag }: { record: Fields; etag?: string | null | undefined },
): Fields => ({
  ...record,
  id: idOf(record, endpoint),
  ...(project.asksVersions && etag && { _version: etag }),
});

/** What a record is asked for with; the key must be among its columns. */
function recordRequest({ project, meta = {} }: Resource, { key }: Endpoint): Fields {
  const { select, expand } = meta;
  return {
    ...(select && { select: [...new Set([...select, ...(select.includes("*") ? [] : key)])] }),
    ...(expand && { expand }),
    ...(project.asksVersions && { versions: true }),
  };
}

function listRequest(on: Resource, endpoint: Endpoint, query: ListQuery): Fields {
  const { where, search_by } = on.meta ?? {};
  const conditions = [...query.conditions, ...(where ? [where] : [])];
  const sort_columns = query.sort.flatMap(({ column, direction }) =>
    (column === "id" ? endpoint.key : [column]).map((one) => ({ column: one, direction })),
  );
  return {
    ...recordRequest(on, endpoint),
    ...(query.search && { search_value: query.search }),
    ...(search_by && { search_by }),
    ...(conditions.length > 0 && { where: { logic: "AND", conditions } }),
    ...(sort_columns.length > 0 && { sort_columns }),
  };
}

/** The body of an update. Throws a RefusedCall where the key would change. */
function changeOf(
  { project }: Resource,
  endpoint: Endpoint,
  { id, values }: { id: unknown; values: Fields },
): Fields {
  const key = keyOfId(id, endpoint);
  const { id: _, ...others } = ownFields(values, endpoint);
  const known: Fields = { ...key, id };
  const asked: Fields = { ...others, id: values["id"] };
  const moved = Object.keys(known).filter(
    (name) => asked[name] !== undefined && String(asked[name]) !== String(known[name]),
  );
  if (moved.length === 0) return { ...others, ...key };
  const errors = Object.fromEntries(moved.map((column) => [column, ["cannot be changed"]]));
  const message = `The key of a record cannot be changed (${moved.join(", ")})`;
  throw project.failure(400, { error: "Validation failed", message, errors });
}

/** Without what records have beside their columns: the id, the version, and related records. */
function ownFields(values: Fields, { fields }: Endpoint): Fields {
  const isOwn = ([name, value]: [string, unknown]): boolean => {
    if (fields?.has(name)) return true;
    if (name === "id" || name === "_version" || value === undefined) return false;
    return fields === null || typeof value !== "object";
  };
  return Object.fromEntries(Object.entries(values).filter(isOwn));
}
