/**
 * A Worker that holds many installations of the service, so that one workerd serves all contract tests. `PUT /<name>`
 * brings a configuration and its bindings as JSON; that installation answers requests with `X-Installation: <name>`.
 */
import { createWorker, type Worker } from "../../../app/start/edge/cloudflare.ts";

interface Installed {
  readonly worker: Worker;
  readonly bindings: Readonly<Record<string, unknown>>;
}

const installations = new Map<string, Installed>();

export default {
  async fetch(request: Request, _bindings: unknown, lasting: Parameters<Worker["fetch"]>[2]) {
    const name = request.headers.get("X-Installation");
    if (name !== null) {
      const { worker, bindings } = installations.get(name)!;
      return worker.fetch(request, bindings, lasting);
    }
    const { files, bindings } = (await request.json()) as {
      files: [string, string][];
      bindings: Record<string, unknown>;
    };
    const worker = createWorker({
      files: new Map(files),
      components: new Map(),
      openProtocol: () => import("../../../app/mcp/protocol.ts"),
    });
    installations.set(new URL(request.url).pathname.slice(1), { worker, bindings });
    return new Response(null, { status: 204 });
  },
};
