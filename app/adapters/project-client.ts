/**
 * Requests to the endpoints of one project, for the data providers of react-admin and Refine. It uses nothing but
 * `fetch`. What an endpoint has comes from its OpenAPI document, which pages of other origins may read as they may read
 * records; it is asked for once, and again with other credentials, because it shows what their caller may use.
 */
import type { Fields, Group, Keyed } from "./record-ids.ts";

type Given<T> = T | (() => T | Promise<T>);

export interface ProviderOptions {
  /** The address of the service, as "https://data.example.com". */
  readonly baseUrl: string;
  readonly project: string;
  /** An API key, or a function that returns one; like the next two, it is called before each request. */
  readonly apiKey?: Given<string | undefined> | undefined;
  /** A token, or a function that returns one that is still valid. */
  readonly token?: Given<string | undefined> | undefined;
  /** Sent with every request. */
  readonly headers?: Given<Readonly<Record<string, string>>> | undefined;
  /** The columns that tell records apart, by endpoint: for views and queries without a key. */
  readonly keys?: Readonly<Record<string, string | readonly string[]>> | undefined;
  /** Records have `_version`, and writes send it as If-Match: a change by someone else is not overwritten. */
  readonly versions?: boolean | undefined;
  /** In place of the global fetch. */
  readonly fetch?: typeof fetch | undefined;
}

/** What `meta` of a call may say. Other members are ignored. */
export interface Meta {
  readonly select?: readonly string[];
  readonly expand?: readonly string[] | Fields;
  /** As read takes it; added to the filters with AND. */
  readonly where?: Group;
  readonly search_by?: string;
  readonly count?: "exact" | "estimated" | "none";
  /** The version that a write expects, in place of the record's own. */
  readonly version?: string;
  /** Further headers, such as `X-Lock-Token`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What every call of a provider may have. */
export interface CallParams {
  readonly meta?: Meta | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Endpoint extends Keyed {
  /** Own columns with their types; null: unknown, because there is no such endpoint for the caller. */
  readonly fields: ReadonlyMap<string, string> | null;
  /** What the caller may do. */
  readonly actions: ReadonlySet<string>;
  /** Records that a bulk action takes in one request, at most; absent: the document does not say. */
  bulkRecordsOf(action: string): number | undefined;
}

/** An error answer: `status` and `body` are what react-admin reads, `statusCode` and `errors` what Refine reads. */
export class RefusedCall extends Error {
  readonly status: number;
  readonly statusCode: number;
  readonly body: Fields;
  /** Messages by field. */
  readonly errors: Record<string, string[]>;

  constructor(status: number, body: Fields, errors: Record<string, string[]> = {}) {
    super(String(body["message"]));
    this.name = "RefusedCall";
    this.status = status;
    this.statusCode = status;
    this.body = body;
    this.errors = errors;
  }
}

export interface ProjectClient {
  /** `https://data.example.com/api/shop` */
  readonly apiUrl: string;
  readonly asksVersions: boolean;
  /** A text that is another one when the caller is. */
  callerOfNow(): Promise<string>;
  endpointOf(name: string): Promise<Endpoint>;
  /** POSTs to an action; rejects with RefusedCall, or as fetch where no answer came. */
  ask(
    endpoint: Endpoint,
    action: string,
    sent: Sent,
  ): Promise<{ body: Fields; etag: string | null }>;
  /** Any request below `apiUrl`. */
  send(url: string, init: RequestInit, call: CallParams): Promise<Response>;
  /** An error as the service would answer it. */
  failure(status: number, body: Failure): RefusedCall;
}

interface Failure {
  readonly error: string;
  readonly message: string;
  readonly errors?: Record<string, string[]>;
}

interface Sent extends CallParams {
  readonly body: Fields;
  readonly ifMatch?: string | undefined;
}

/** `errorBody`: what becomes of the body of an error answer. */
export function openProjectClient(
  options: ProviderOptions,
  errorBody: (body: Fields) => Fields = (body) => body,
): ProjectClient {
  const apiUrl = `${options.baseUrl.replace(/\/+$/, "")}/api/${encodeURIComponent(options.project)}`;
  const known = new Map<string, Promise<Endpoint>>();
  /** Whose endpoints these are. */
  let caller = "";

  const failure = (status: number, body: Fields): RefusedCall =>
    new RefusedCall(status, errorBody(body), body["errors"] as Record<string, string[]>);

  async function headersOfNow(): Promise<Headers> {
    const headers = new Headers(await valueOf(options.headers));
    const [apiKey, token] = [await valueOf(options.apiKey), await valueOf(options.token)];
    if (apiKey) headers.set("X-Api-Key", apiKey);
    if (token) headers.set("Authorization", `Bearer ${token}`);
    return headers;
  }

  async function callerOfNow(): Promise<string> {
    const headers = await headersOfNow();
    return `${headers.get("X-Api-Key")} ${headers.get("Authorization")}`;
  }

  async function send(
    url: string,
    init: RequestInit,
    { meta, signal }: CallParams,
  ): Promise<Response> {
    const headers = await headersOfNow();
    for (const more of [new Headers(init.headers), new Headers(meta?.headers)])
      more.forEach((value, name) => headers.set(name, value));
    // Called as a function: browsers refuse a fetch that is called as a method of something else.
    const request = options.fetch ?? fetch;
    const response = await request(url, { ...init, headers, signal: signal ?? null });
    if (!response.ok) throw failure(response.status, await bodyOfError(response));
    return response;
  }

  async function describe(name: string): Promise<Endpoint> {
    const document = await send(`${apiUrl}/${encodeURIComponent(name)}/openapi.json`, {}, {}).then(
      (response) => response.json() as Promise<Fields>,
      (error: unknown) => {
        if (error instanceof RefusedCall && error.status === 404) return {} as Fields;
        throw error;
      },
    );
    const notes = ((document["tags"] ?? []) as Fields[])
      .map((tag) => tag["x-rowgate"] as Fields | undefined)
      .find((one) => one?.["endpoint"] === name);
    const start = `/${options.project}/${name}/`;
    const paths = Object.keys((document["paths"] ?? {}) as object);
    return {
      name,
      key: [options.keys?.[name] ?? notes?.["key"] ?? "id"].flat() as string[],
      fields: notes ? typesOf(notes["fields"] as Fields) : null,
      actions: new Set(paths.flatMap((path) => path.split(start).slice(1))),
      bulkRecordsOf: (action) =>
        recordsOf(document, document["paths"]?.[`/api/${options.project}/${name}/${action}`]),
    };
  }

  return {
    apiUrl,
    asksVersions: options.versions ?? false,
    callerOfNow,
    send,
    failure: (status, body) => failure(status, { success: false, ...body }),
    async endpointOf(name) {
      const now = await callerOfNow();
      if (now !== caller) known.clear();
      caller = now;
      const described = known.get(name) ?? describe(name);
      known.set(name, described);
      // Without a document, the request itself is sent, and its error says what the caller lacks.
      const forget = () => void known.delete(name);
      described.then(({ fields }) => fields ?? forget(), forget);
      return described;
    },
    async ask({ name }, action, { body, ifMatch, ...call }) {
      const headers = {
        "Content-Type": "application/json",
        ...(ifMatch && { "If-Match": ifMatch }),
      };
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      const response = await send(`${apiUrl}/${encodeURIComponent(name)}/${action}`, init, call);
      return { body: (await response.json()) as Fields, etag: response.headers.get("ETag") };
    },
  };
}

const typesOf = (fields: Fields): ReadonlyMap<string, string> =>
  new Map(Object.entries(fields).map(([name, { type }]) => [name, type]));

/** The longest list of records that the body of an operation can have. */
function recordsOf(document: Fields, operation: Fields | undefined): number | undefined {
  const schema = operation?.["post"]?.requestBody?.content?.["application/json"]?.schema;
  const named = document["components"]?.schemas?.[String(schema?.$ref).split("/").at(-1)!];
  const body = (named ?? schema) as Fields | undefined;
  const forms = [body, ...((body?.["anyOf"] ?? []) as Fields[])];
  const lists = forms.map((form) => form?.["properties"]?.data ?? form?.["properties"]?.keys);
  return lists.find((list) => list?.maxItems !== undefined)?.maxItems;
}

async function valueOf<T>(given: Given<T>): Promise<T> {
  return typeof given === "function" ? (given as () => T | Promise<T>)() : given;
}

async function bodyOfError(response: Response): Promise<Fields> {
  const text = await response.text();
  try {
    const body = JSON.parse(text) as Fields;
    if (typeof body["message"] === "string") return body;
  } catch {
    // It came from a proxy before the service.
  }
  const message = `HTTP ${response.status}: ${text.slice(0, 200)}`;
  return { success: false, error: "Unexpected answer", message };
}
