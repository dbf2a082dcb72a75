/** The part of the generated client that is the same for every project, as its text. */

export const clientRuntime = `export interface ClientOptions {
  /** The address of the service, as "https://data.example.com". */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  /** A token, or a function that returns one that is still valid. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** In place of the global fetch. */
  readonly fetch?: typeof fetch | undefined;
}

export interface CallOptions<Header extends string> {
  readonly signal?: AbortSignal | undefined;
  readonly headers?: { readonly [Name in Header]?: string | undefined } | undefined;
}

/** The body of an answer that is an error. */
export interface ServiceError<Name extends string> {
  success: false;
  /** "Unexpected answer": it did not come from the service, but from a proxy before it. */
  error: Name | "Unexpected answer";
  message: string;
  /** Messages by field. */
  errors?: Record<string, string[]>;
  data?: unknown;
  /** Of a batch. */
  failed_step?: { index: number; id: string | null };
  /** Of a dry run. */
  dry_run?: true;
  timestamp: string;
}

/** An answer of the service. Where there was none, the promise is rejected as by fetch. */
export type Result<Body, ErrorName extends string> =
  | { readonly ok: true; readonly status: number; readonly body: Body; readonly response: Response }
  | {
      readonly ok: false;
      readonly status: number;
      readonly error: ServiceError<ErrorName>;
      readonly response: Response;
    };

interface Sent {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly query?: object | undefined;
  readonly body?: unknown;
  readonly upload?: object | undefined;
  /** Headers that the operation needs. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly options?: CallOptions<string> | undefined;
}

async function send(client: ClientOptions, sent: Sent): Promise<Response> {
  const { baseUrl, apiKey, token } = client;
  const { method, path, query, body, upload, options } = sent;
  const headers = new Headers(client.headers);
  if (apiKey !== undefined) headers.set("X-Api-Key", apiKey);
  if (token !== undefined)
    headers.set("Authorization", \`Bearer \${typeof token === "function" ? await token() : token}\`);
  for (const [name, value] of Object.entries({ ...sent.headers, ...options?.headers }))
    if (value !== undefined) headers.set(name, value);
  if (body !== undefined) headers.set("Content-Type", "application/json");
  const payload = upload ? formOf(upload) : body === undefined ? null : JSON.stringify(body);
  const parameters = new URLSearchParams(query ? [...parametersOf("", query)] : []).toString();
  const url = baseUrl.replace(/\\/+$/, "") + path + (parameters === "" ? "" : \`?\${parameters}\`);
  const signal = options?.signal ?? null;
  return (client.fetch ?? fetch)(url, { method, headers, body: payload, signal });
}

function formOf(upload: object): FormData {
  const form = new FormData();
  // The service reads texts before the file.
  const parts = Object.entries(upload).sort(([, a], [, b]) => typeof b === "string" ? 1 : typeof a === "string" ? -1 : 0);
  for (const [name, value] of parts) form.append(name, value as Blob);
  return form;
}

/** \`{where: {name: "a"}}\` becomes \`where[name]=a\`. */
function* parametersOf(name: string, value: unknown): Generator<[string, string]> {
  if (typeof value === "object" && value !== null)
    for (const [key, member] of Object.entries(value))
      yield* parametersOf(name === "" ? key : \`\${name}[\${key}]\`, member);
  else if (value !== undefined) yield [name, String(value ?? "")];
}

async function failed<ErrorName extends string>(response: Response): Promise<ServiceError<ErrorName>> {
  const text = await response.text();
  try {
    const body = JSON.parse(text) as ServiceError<ErrorName>;
    if (typeof body.error === "string" && typeof body.message === "string") return body;
  } catch {
    // Not of the service.
  }
  const message = \`HTTP \${response.status}: \${text.slice(0, 200)}\`;
  const timestamp = new Date().toISOString();
  return { success: false, error: "Unexpected answer", message, timestamp };
}

async function call<Body, ErrorName extends string>(
  client: ClientOptions,
  sent: Sent,
): Promise<Result<Body, ErrorName>> {
  const response = await send(client, sent);
  const { ok, status } = response;
  if (!ok) return { ok, status, error: await failed<ErrorName>(response), response };
  return { ok, status, body: (await response.json()) as Body, response };
}

/** The body is the response itself, so that a large file can be read as a stream. */
async function download<ErrorName extends string>(
  client: ClientOptions,
  sent: Sent,
): Promise<Result<Response, ErrorName>> {
  const response = await send(client, sent);
  const { ok, status } = response;
  if (!ok) return { ok, status, error: await failed<ErrorName>(response), response };
  return { ok, status, body: response, response };
}
`;
