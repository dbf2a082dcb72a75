/**
 * Opens services in the workerd that `workerd-install.ts` runs. Each service is a configuration with its own bindings.
 */
import { randomUUID } from "node:crypto";
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** Where the Worker of `workers/contract-worker.ts` answers. */
    workerdUrl?: string;
  }
}

export interface EdgeServiceOptions {
  readonly files: ReadonlyMap<string, string>;
  /** The bindings: a Hyperdrive binding is an object with its `connectionString`. */
  readonly env: Readonly<Record<string, unknown>>;
}

export async function openService({ files, env }: EdgeServiceOptions) {
  const url = inject("workerdUrl")!;
  const name = randomUUID();
  const bindings = { LOG_LEVEL: "error", ...env };
  await fetch(`${url}/${name}`, {
    method: "PUT",
    body: JSON.stringify({ files: [...files], bindings }),
  });
  return {
    ready: Promise.resolve(),
    fetch(request: Request): Promise<Response> {
      const { pathname, search } = new URL(request.url);
      const headers = new Headers(request.headers);
      headers.set("X-Installation", name);
      const { method, body } = request;
      const init = { method, headers, body, redirect: "manual", duplex: "half" };
      return fetch(`${url}${pathname}${search}`, init as RequestInit);
    },
    async close() {},
  };
}
