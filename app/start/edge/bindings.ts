/** What a Worker is given beside the request, in the words of the service. Read by `app/start/edge/cloudflare.ts`. */

/** Bindings by name: variables and secrets are texts; a Hyperdrive binding has the address of its database. */
export type Bindings = Readonly<Record<string, unknown>>;

/** What goes on after the answer is handed to this, or the runtime ends it. */
export interface Lasting {
  waitUntil(work: Promise<unknown>): void;
}

export interface BoundEnvironment {
  /** As `app/start/env.ts` and project.json read it. */
  readonly env: Readonly<Record<string, string>>;
  /** Addresses that come from Hyperdrive: they say nothing of the server behind it, which is shared by the transaction. */
  readonly pooled: ReadonlySet<string>;
}

/** What is neither a text nor a database is left out. */
export function environmentOf(bindings: Bindings): BoundEnvironment {
  const env: Record<string, string> = {};
  const pooled = new Set<string>();
  for (const [name, value] of Object.entries(bindings)) {
    const address = addressIn(value);
    if (address !== null) pooled.add(address);
    const text = typeof value === "string" ? value : address;
    if (text !== null) env[name] = text;
  }
  return { env, pooled };
}

function addressIn(binding: unknown): string | null {
  if (typeof binding !== "object" || binding === null) return null;
  const { connectionString } = binding as { connectionString?: unknown };
  return typeof connectionString === "string" ? connectionString : null;
}
