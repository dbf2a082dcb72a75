/**
 * The providers for Refine: `import { dataProvider, liveProvider, auditLogProvider } from "rowgate/refine"`. Their types
 * fit those of `@refinedev/core`, and nothing of Refine is imported.
 */
import { type ToldChange, openChangeStream } from "./change-stream.ts";
import { conditionOn } from "./field-conditions.ts";
import { openProjectClient, type ProviderOptions } from "./project-client.ts";
import { type FieldCondition, type Fields, idOf, type Keyed, keyOfId } from "./record-ids.ts";
import {
  createRecord,
  createRecords,
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

// oxlint-disable-next-line no-explicit-any -- what callers say of their records is their own business
type Any = any;

/** Refine's `meta` has members of its own beside ours. */
interface Params {
  readonly resource: string;
  readonly meta?: Any;
}

interface Filter {
  readonly operator: string;
  readonly field?: string;
  readonly value: Any;
}

interface Sorter {
  readonly field: string;
  readonly order: "asc" | "desc";
}

interface ListParams extends Params {
  readonly pagination?: {
    readonly currentPage?: number;
    readonly pageSize?: number;
    readonly mode?: "client" | "server" | "off";
  };
  readonly sorters?: readonly Sorter[];
  readonly filters?: readonly Filter[];
}

interface CustomParams {
  readonly url: string;
  readonly method: string;
  readonly sorters?: readonly Sorter[];
  readonly filters?: readonly Filter[];
  readonly payload?: Any;
  readonly query?: Any;
  readonly headers?: object;
  readonly meta?: Any;
}

/** Errors of the service are rejections with `statusCode`, `message` and `errors`, as Refine's HttpError. */
export function dataProvider(options: ProviderOptions) {
  const project = openProjectClient(options);
  const on = ({ resource, meta }: Params): Resource => ({
    project,
    name: resource,
    meta,
    signal: meta?.queryContext?.signal,
  });
  /** A write expects the version in its values, unless `meta` names another. */
  const expecting = ({ resource, meta }: Params, values: Fields = {}): Resource => {
    const version = project.asksVersions ? values["_version"] : undefined;
    return on({ resource, meta: { version, ...meta } });
  };

  return {
    getApiUrl: () => project.apiUrl,
    async getList(params: ListParams) {
      const { pagination = {}, sorters = [], filters = [] } = params;
      const { currentPage = 1, pageSize = 10, mode = "server" } = pagination;
      const endpoint = await project.endpointOf(params.resource);
      const isSearch = ({ field }: Filter) => field === "q" && !endpoint.fields?.has("q");
      const search = filters.find(isSearch)?.value;
      const [offset, size] =
        mode === "server" ? [(currentPage - 1) * pageSize, pageSize] : [0, Infinity];
      const { data, total, hasNext } = await listRecords(on(params), {
        conditions: conditionsOf(
          filters.filter((one) => !isSearch(one)),
          endpoint,
        ),
        sort: sorters.map(sortColumn),
        search: search === undefined || search === null ? undefined : String(search),
        offset,
        size,
      });
      // Without a count, what is known to be there.
      return { data, total: total ?? offset + data.length + (hasNext ? 1 : 0) };
    },
    getOne: async (params: Params & { readonly id: Id }) => ({
      data: await oneRecord(on(params), params.id),
    }),
    getMany: async (params: Params & { readonly ids: readonly Id[] }) => ({
      data: await manyRecords(on(params), params.ids),
    }),
    create: async (params: Params & { readonly variables: Any }) => ({
      data: await createRecord(on(params), params.variables),
    }),
    createMany: async (params: Params & { readonly variables: readonly Any[] }) => ({
      data: await createRecords(on(params), params.variables),
    }),
    update: async (params: Params & { readonly id: Id; readonly variables: Any }) => ({
      data: await updateRecord(expecting(params, params.variables), params.id, params.variables),
    }),
    updateMany: async (
      params: Params & { readonly ids: readonly Id[]; readonly variables: Any },
    ) => ({ data: await updateRecords(on(params), params.ids, params.variables) }),
    deleteOne: async (params: Params & { readonly id: Id; readonly variables?: Any }) => ({
      data: await removeRecord(expecting(params, params.variables), params.id),
    }),
    deleteMany: async (params: Params & { readonly ids: readonly Id[] }) => ({
      data: await removeRecords(on(params), params.ids),
    }),
    /** `url`: an action, such as `orders/aggregate`, or its whole address. `data` is the whole answer. */
    async custom({ url, method, ...params }: CustomParams) {
      const { sorters = [], filters = [], payload, query = {}, headers = {}, meta } = params;
      const address = new URL(url, `${project.apiUrl}/`);
      if (!address.href.startsWith(`${project.apiUrl}/`))
        throw new Error(
          `${address.href} is not below ${project.apiUrl}, whose credentials it would get`,
        );
      for (const [name, value] of parametersOf("", query)) address.searchParams.append(name, value);
      const body = {
        ...(sorters.length > 0 && { sort_columns: sorters.map(sortColumn) }),
        ...(filters.length > 0 && { where: { conditions: conditionsOf(filters) } }),
        ...payload,
      };
      const init =
        method === "get"
          ? { method, headers: { ...headers } }
          : {
              method,
              headers: { "Content-Type": "application/json", ...headers },
              body: JSON.stringify(body),
            };
      const response = await project.send(address.href, init, on({ resource: "", meta }));
      const isJson = response.headers.get("Content-Type")?.includes("json") ?? false;
      return { data: (isJson ? await response.json() : await response.text()) as Any };
    },
  };
}

interface SubscribeParams {
  readonly channel: string;
  readonly types: readonly string[];
  readonly params?: Any;
  readonly callback: (event: Any) => void;
}

/** Tells of changes in endpoints with `live`, by whoever they were made. All subscriptions share one stream. */
export function liveProvider(options: ProviderOptions) {
  const project = openProjectClient(options);
  const listen = openChangeStream(project);
  return {
    /** Returns what `unsubscribe` takes. */
    subscribe({ channel, types, params, callback }: SubscribeParams): () => void {
      const resource = String(params?.resource ?? channel.replace(/^resources\//, ""));
      const wanted = new Set<string>([params?.ids ?? params?.id ?? []].flat().map(String));
      let isOpen = true;
      const tell = async (change: ToldChange | null): Promise<void> => {
        const ids = change?.keys ? idsOf(change.keys, await project.endpointOf(resource)) : null;
        const isMeant = change === null || types.includes("*") || types.includes(change.type);
        const isWanted = !ids || wanted.size === 0 || ids.some((id) => wanted.has(String(id)));
        if (!isOpen || !isMeant || !isWanted) return;
        const date = change === null ? new Date() : new Date(change.at);
        const payload = ids ? { ids } : {};
        callback({ channel, type: change?.type ?? "updated", payload, date });
      };
      const end = listen({ endpoint: resource, hear: (change) => void tell(change).catch(ignore) });
      return () => {
        isOpen = false;
        end();
      };
    },
    unsubscribe: (subscription: Any): void => subscription?.(),
  };
}

/** Null: the records have no key that the page knows. */
function idsOf(keys: readonly Fields[], endpoint: Keyed): (string | number)[] | null {
  try {
    return keys.map((key) => idOf(key, endpoint));
  } catch {
    return null;
  }
}

/** The endpoint could not be asked for; the next change asks again. */
const ignore = (): void => undefined;

interface LogParams extends Params {
  readonly action?: string;
  readonly author?: Any;
}

/**
 * The history of endpoints with `history`. `get`: of the record whose id is `meta.id`, else of all records; 100 entries,
 * the newest first, or those of `meta.page` and `meta.per_page`.
 */
export function auditLogProvider(options: ProviderOptions) {
  const project = openProjectClient(options);
  return {
    async get({ resource, action, author, meta }: LogParams) {
      const endpoint = await project.endpointOf(resource);
      const by = author?.id ?? author?.name;
      const conditions = Object.entries({ action, by }).flatMap(([key, value]) =>
        value === undefined ? [] : [{ key, operator: "=", value }],
      );
      const { id, page = 1, per_page = 100 } = meta ?? {};
      const { body } = await project.ask(endpoint, "history", {
        body: {
          ...(id !== undefined && keyOfId(id, endpoint)),
          ...(conditions.length > 0 && { where: { conditions } }),
          page,
          per_page,
        },
        meta,
      });
      return (body["data"] as Fields[]).map((entry) => logEntry(entry, endpoint));
    },
    /** The service itself records every write, with what was really stored. */
    create: async (_entry: Any): Promise<undefined> => undefined,
    update: async (_change: Any): Promise<never> => {
      throw project.failure(405, {
        error: "Method not allowed",
        message: "The history of a record cannot be changed",
      });
    },
  };
}

function logEntry(entry: Fields, endpoint: Keyed): Any {
  const values = (side: "from" | "to"): Fields =>
    Object.fromEntries(
      Object.entries(entry["changes"] as Fields).map(([name, change]) => [name, change[side]]),
    );
  const { change_id: id, at: createdAt, by, action, key, reason, request_id } = entry;
  const [recordId] = (key && idsOf([key], endpoint)) ?? [];
  return {
    id,
    createdAt,
    ...(by !== null && { author: { id: by, name: by } }),
    resource: endpoint.name,
    action,
    data: values("to"),
    previousData: values("from"),
    meta: { ...(recordId !== undefined && { id: recordId }), reason, request_id },
  };
}

const sortColumn = ({ field, order }: Sorter) => ({
  column: field,
  direction: order === "desc" ? ("DESC" as const) : ("ASC" as const),
});

/** A filter without a value is one that a form has emptied. */
function conditionsOf(filters: readonly Filter[], endpoint: Keyed = unkeyed): FieldCondition[] {
  return filters.flatMap(({ field, operator, value }): FieldCondition[] => {
    if (value === undefined || (value === "" && partOfText.test(operator))) return [];
    if (field !== undefined) return [conditionOn({ field, operator, value }, endpoint)];
    const conditions = conditionsOf(value, endpoint);
    return conditions.length > 0 ? [{ logic: operator === "or" ? "OR" : "AND", conditions }] : [];
  });
}

/** Emptied inputs give these an empty text. It is in every text, but not in fields without a value. */
const partOfText = /^n?(contains|startswith|endswith)s?$/;

/** Filters of a custom request name its own columns. */
const unkeyed: Keyed = { name: "", key: ["id"] };

/** `{where: {name: "a"}}` becomes `where[name]=a`. */
function* parametersOf(name: string, value: unknown): Generator<[string, string]> {
  if (typeof value === "object" && value !== null)
    for (const [key, member] of Object.entries(value))
      yield* parametersOf(name === "" ? key : `${name}[${key}]`, member);
  else if (value !== undefined) yield [name, String(value ?? "")];
}
