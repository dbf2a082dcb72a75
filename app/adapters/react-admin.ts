/**
 * The data provider for react-admin: `import { dataProvider } from "rowgate/react-admin"`. Its types fit those of
 * ra-core, and nothing of react-admin is imported.
 */
import {
  type Endpoint,
  type Meta,
  openProjectClient,
  type ProjectClient,
  type ProviderOptions,
} from "./project-client.ts";
import { conditionOn, isOperator } from "./field-conditions.ts";
import { type FieldCondition, type Fields, keyConditions, type ShownRecord } from "./record-ids.ts";
import {
  createRecord,
  listRecords,
  manyRecords,
  oneRecord,
  removeRecord,
  removeRecords,
  type Resource,
  updateRecord,
  updateRecords,
} from "./records.ts";

export type { ProviderOptions } from "./project-client.ts";

type Id = string | number;

interface Params {
  readonly meta?: Meta | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface ListParams extends Params {
  readonly pagination?: { readonly page: number; readonly perPage: number } | undefined;
  readonly sort?: { readonly field: string; readonly order: "ASC" | "DESC" } | undefined;
  readonly filter?: Fields | undefined;
}

interface WriteParams {
  readonly meta?: Meta;
}

interface RecordParams {
  readonly id: Id;
  /** The record as the person saw it. */
  readonly previousData?: Fields;
}

interface IdsParams {
  readonly ids: readonly Id[];
}

interface ListResult {
  data: ShownRecord[];
  total?: number;
  pageInfo?: { hasNextPage: boolean; hasPreviousPage: boolean };
}

/**
 * Errors of the service are rejections with `status` and `body`, as those of react-admin's own HttpError; `body.errors`
 * has the messages of fields, which forms show beside them.
 */
export function dataProvider(options: ProviderOptions) {
  const project = openProjectClient(options, formErrors);
  return {
    /** react-admin then hands its signals on, and requests that nobody waits for are aborted. */
    supportAbortSignal: true,
    ...readsOf(project),
    ...writesOf(project),
  };
}

function readsOf(project: ProjectClient) {
  const on = (name: string, { meta, signal }: Params): Resource => ({
    project,
    name,
    meta,
    signal,
  });

  async function list(
    name: string,
    params: ListParams,
    more: readonly FieldCondition[],
  ): Promise<ListResult> {
    const { filter = {}, sort, pagination = { page: 1, perPage: 25 } } = params;
    const { page, perPage } = pagination;
    const endpoint = await project.endpointOf(name);
    const { q, ...others } = filter;
    const isColumn = endpoint.fields?.has("q") ?? false;
    const { data, total, hasNext } = await listRecords(on(name, params), {
      conditions: [...conditionsOf(isColumn ? filter : others, endpoint), ...more],
      sort: sort?.field ? [{ column: sort.field, direction: sort.order }] : [],
      search: isColumn ? undefined : q,
      offset: (page - 1) * perPage,
      size: perPage,
    });
    if (total !== undefined) return { data, total };
    return { data, pageInfo: { hasNextPage: hasNext, hasPreviousPage: page > 1 } };
  }

  return {
    getList: (resource: string, params: ListParams) => list(resource, params, []),
    getOne: async (resource: string, params: Params & { readonly id: Id }) => ({
      data: await oneRecord(on(resource, params), params.id),
    }),
    getMany: async (resource: string, params: Params & { readonly ids: readonly Id[] }) => ({
      data: await manyRecords(on(resource, params), params.ids),
    }),
    /** `target`: the column that holds the id of the other record, or a path; several have commas between them. */
    getManyReference: async (
      resource: string,
      params: ListParams & { readonly target: string; readonly id: Id },
    ) => {
      const target = { name: resource, key: params.target.split(",") };
      return list(resource, params, keyConditions(params.id, target));
    },
  };
}

function writesOf(project: ProjectClient) {
  /** A write expects the version that the person saw, unless `meta` names another. */
  const on = (name: string, meta?: Meta, seen?: Fields): Resource => {
    const version = project.asksVersions ? seen?.["_version"] : undefined;
    return { project, name, meta: { version, ...meta } };
  };

  return {
    create: async (resource: string, params: WriteParams & { readonly data: Fields }) => {
      const values = instantsIn(params.data, await project.endpointOf(resource));
      return { data: await createRecord(on(resource, params.meta), values) };
    },
    /** Sends what differs from `previousData`. */
    async update(resource: string, params: WriteParams & RecordParams & { readonly data: Fields }) {
      const { id, data, previousData = {}, meta } = params;
      const changed = Object.entries(data).filter(
        ([name, value]) => JSON.stringify(value) !== JSON.stringify(previousData[name]),
      );
      const resourceOf = on(resource, meta, { ...previousData, ...data });
      const values = instantsIn(Object.fromEntries(changed), await project.endpointOf(resource));
      return { data: await updateRecord(resourceOf, id, values) };
    },
    async updateMany(
      resource: string,
      params: WriteParams & IdsParams & { readonly data: Fields },
    ) {
      const values = instantsIn(params.data, await project.endpointOf(resource));
      await updateRecords(on(resource, params.meta), params.ids, values);
      return { data: [...params.ids] };
    },
    delete: async (resource: string, { id, previousData, meta }: WriteParams & RecordParams) => ({
      data: await removeRecord(on(resource, meta, previousData), id),
    }),
    async deleteMany(resource: string, { ids, meta }: WriteParams & IdsParams) {
      await removeRecords(on(resource, meta), ids);
      return { data: [...ids] };
    },
  };
}

/** Forms want one message for each field; react-admin shows `root.serverError` as a notification. */
function formErrors(body: Fields): Fields {
  const { errors, message } = body;
  if (!errors) return body;
  const fields = Object.entries(errors as Record<string, string[]>);
  const texts = fields.map(([name, messages]) => [name, messages.join("; ")]);
  return { ...body, errors: { ...Object.fromEntries(texts), root: { serverError: message } } };
}

/** Names that react-admin's own data providers give to operators. */
const otherNames: Readonly<Record<string, string>> = {
  neq: "ne",
  eq_any: "in",
  neq_any: "nin",
  q: "contains",
  inc: "ina",
  inc_any: "anya",
};

/**
 * `{status: "open", amount_gte: 5, customer: {name_contains: "ad"}}`: an operator stands behind the name of the field,
 * and nested members are paths. A list means one of its values, null an empty column.
 */
function conditionsOf(filter: Fields, endpoint: Endpoint, path = ""): FieldCondition[] {
  return Object.entries(filter).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const isValue = typeof value !== "object" || value === null || value instanceof Date;
    if (!isValue && !Array.isArray(value)) return conditionsOf(value, endpoint, `${path}${name}.`);
    const { field, operator: asked } = comparisonIn(path + name, endpoint);
    const operator = asked === "eq" && Array.isArray(value) ? "in" : asked;
    return [conditionOn({ field, operator, value: instantOf(value, field, endpoint) }, endpoint)];
  });
}

/** A column of the whole name comes before an operator at its end. */
function comparisonIn(name: string, { fields }: Endpoint): { field: string; operator: string } {
  const [, field = "", ending = ""] = /^(.+?)_((?:n?eq|inc)_any|[a-z]+)$/.exec(name) ?? [];
  const operator = otherNames[ending] ?? ending;
  if (fields?.has(name) || !isOperator(operator)) return { field: name, operator: "eq" };
  return { field, operator };
}

const instantsIn = (values: Fields, endpoint: Endpoint): Fields =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, instantOf(value, name, endpoint)]),
  );

/**
 * `DateTimeInput` shows timestamps in the time zone of the page, and gives them back without one, which the service
 * would read as UTC.
 */
function instantOf(value: unknown, field: string, endpoint: Endpoint): unknown {
  if (endpoint.fields?.get(field) !== "timestamp") return value;
  if (Array.isArray(value)) return value.map((one) => instantOf(one, field, endpoint));
  if (typeof value !== "string" || !localTime.test(value)) return value;
  const instant = new Date(value);
  return Number.isNaN(instant.getTime()) ? value : instant;
}

const localTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?$/;
