/**
 * The data provider for react-admin: `import { dataProvider } from "rowgate/react-admin"`. Its types fit those of
 * ra-core, and nothing of react-admin is imported.
 */
import {
  type Endpoint,
  type Meta,
  openProjectClient,
  type ProviderOptions,
} from "./project-client.ts";
import { conditionOn, isOperator } from "./field-conditions.ts";
import { type FieldCondition, type Fields, keyOfId } from "./record-ids.ts";
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

interface ListResult {
  data: Fields[];
  total?: number;
  pageInfo?: { hasNextPage: boolean; hasPreviousPage: boolean };
}

/**
 * Errors of the service are rejections with `status` and `body`, as those of react-admin's own HttpError; `body.errors`
 * has the messages of fields, which forms show beside them.
 */
export function dataProvider(options: ProviderOptions) {
  const project = openProjectClient(options, formErrors);
  const on = (name: string, { meta, signal }: Params): Resource => ({
    project,
    name,
    meta,
    signal,
  });
  /** A write expects the version that the person saw. */
  const expecting = (
    name: string,
    { meta, seen }: { meta?: Meta | undefined; seen: Fields | undefined },
  ) =>
    on(name, { meta: { ...(project.asksVersions && { version: seen?.["_version"] }), ...meta } });

  async function list(
    name: string,
    params: ListParams,
    more: readonly FieldCondition[],
  ): Promise<ListResult> {
    const { page, perPage } = params.pagination ?? { page: 1, perPage: 25 };
    const { field, order } = params.sort ?? { field: "", order: "ASC" };
    const { q, ...filter } = params.filter ?? {};
    const endpoint = await project.endpointOf(name);
    const searches = q !== undefined && !endpoint.fields?.has("q");
    const all = searches || q === undefined ? filter : { q, ...filter };
    const { data, total, hasNext } = await listRecords(on(name, params), {
      conditions: [...conditionsOf(all, endpoint), ...more],
      sort: field ? [{ column: field, direction: order }] : [],
      search: searches ? String(q ?? "") : undefined,
      offset: (page - 1) * perPage,
      size: perPage,
    });
    if (total !== undefined) return { data, total };
    return { data, pageInfo: { hasNextPage: hasNext, hasPreviousPage: page > 1 } };
  }

  return {
    /** react-admin then hands its signals on, and requests that nobody waits for are aborted. */
    supportAbortSignal: true,
    getList: (resource: string, params: ListParams) => list(resource, params, []),
    getOne: async (resource: string, params: Params & { readonly id: Id }) => ({
      data: await oneRecord(on(resource, params), params.id),
    }),
    getMany: async (resource: string, params: Params & { readonly ids: readonly Id[] }) => ({
      data: await manyRecords(on(resource, params), params.ids),
    }),
    /** `target`: the columns, separated by commas, that hold the key of the other record; a path is a column too. */
    getManyReference: (
      resource: string,
      params: ListParams & { readonly target: string; readonly id: Id },
    ) => {
      const key = params.target.split(",");
      const values = Object.entries(keyOfId(params.id, { name: resource, key }));
      return list(
        resource,
        params,
        values.map(([column, value]) => ({ key: column, operator: "=", value })),
      );
    },
    create: async (resource: string, params: { readonly data: Fields; readonly meta?: Meta }) => ({
      data: await createRecord(on(resource, params), params.data),
    }),
    /** Sends what differs from `previousData`. */
    update: async (
      resource: string,
      params: {
        readonly id: Id;
        readonly data: Fields;
        readonly previousData?: Fields;
        readonly meta?: Meta;
      },
    ) => {
      const { id, data, previousData = {}, meta } = params;
      const changed = Object.entries(data).filter(
        ([name, value]) => JSON.stringify(value) !== JSON.stringify(previousData[name]),
      );
      const seen = { ...previousData, ...data };
      return {
        data: await updateRecord(
          expecting(resource, { meta, seen }),
          id,
          Object.fromEntries(changed),
        ),
      };
    },
    updateMany: async (
      resource: string,
      params: { readonly ids: readonly Id[]; readonly data: Fields; readonly meta?: Meta },
    ) => {
      await updateRecords(on(resource, params), params.ids, params.data);
      return { data: [...params.ids] };
    },
    delete: async (
      resource: string,
      params: { readonly id: Id; readonly previousData?: Fields; readonly meta?: Meta },
    ) => {
      const { id, previousData: seen, meta } = params;
      return { data: await removeRecord(expecting(resource, { meta, seen }), id) };
    },
    deleteMany: async (
      resource: string,
      params: { readonly ids: readonly Id[]; readonly meta?: Meta },
    ) => {
      await removeRecords(on(resource, params), params.ids);
      return { data: [...params.ids] };
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
    const isNested = typeof value === "object" && value !== null && !Array.isArray(value);
    if (isNested) return conditionsOf(value, endpoint, `${path}${name}.`);
    const { field, operator } = comparisonIn(path + name, endpoint);
    const isList = operator === "eq" && Array.isArray(value);
    return [conditionOn({ field, operator: isList ? "in" : operator, value }, endpoint)];
  });
}

/** A column of the whole name comes before an operator at its end. */
function comparisonIn(name: string, { fields }: Endpoint): { field: string; operator: string } {
  const [, field = "", ending = ""] = /^(.+?)_((?:n?eq|inc)_any|[a-z]+)$/.exec(name) ?? [];
  const operator = otherNames[ending] ?? ending;
  if (fields?.has(name) || !isOperator(operator)) return { field: name, operator: "eq" };
  return { field, operator };
}
