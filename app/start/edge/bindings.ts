/** Translates the bindings of a Worker into the service's settings. */

/** Bindings by name: variables and secrets are texts; a Hyperdrive binding has the address of its database. */
export type Bindings = Readonly<Record<string, unknown>>;

/** Keeps work running after the answer; without it the runtime would end it. */
export interface Lasting {
  waitUntil(work: Promise<unknown>): void;
}

export interface BoundEnvironment {
  /** Environment variables for `app/start/settings/env.ts` and project.json. */
  readonly env: Readonly<Record<string, string>>;
  /** Addresses from Hyperdrive. They do not identify the server behind it, and sessions are shared per transaction. */
  readonly pooled: ReadonlySet<string>;
}

/** Bindings that are neither texts nor databases are left out. */
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
