/**
 * The jobs board: bull-board over the queue of jobs, read-only, and over that of non-blocking hook calls, where calls
 * that were given up can be sent again. Its pages are files of a package, served over node-server on every runtime with
 * files.
 */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { createBullBoard } from "@bull-board/api";
import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";
import { HonoAdapter } from "@bull-board/hono";
import { serveStatic } from "@hono/node-server/serve-static";
import type { Queue } from "bullmq";
import { Hono } from "hono";
import type { HookData } from "../../jobs/queue/bullmq/hook-worker.ts";
import type { JobData } from "../../jobs/queue/bullmq/stored-job.ts";
import {
  type BullmqServer,
  openServerQueue,
  type ServerQueue,
} from "../../jobs/queue/bullmq/bullmq-server.ts";
import type { ShowBoard } from "../http/jobs-board.ts";

/** Which queues the board shows, and where. */
export interface BoardOptions {
  /** Null: no endpoint exports or imports. */
  readonly jobs: string | null;
  /** Null: no endpoint has a non-blocking hook. */
  readonly hooks: string | null;
  /** Where the board is mounted. */
  readonly basePath: string;
}

/** The server is contacted only when the board is viewed, so it may be unreachable at start. */
export function openBoard(server: BullmqServer, options: BoardOptions): ShowBoard {
  let opening: Promise<Hono> | null = null;
  return async (request) => {
    await server.ready();
    opening ??= openApp(server, options).catch((error: unknown) => {
      opening = null;
      throw error;
    });
    return (await opening).fetch(request);
  };
}

async function openApp(
  server: BullmqServer,
  { jobs, hooks, basePath }: BoardOptions,
): Promise<Hono> {
  const adapters = await Promise.all([
    jobs !== null && openServerQueue<JobData>(server, jobs).then(jobsAdapter),
    hooks !== null && openServerQueue<HookData>(server, hooks).then(hooksAdapter),
  ]);
  const pages = new HonoAdapter(serveStatic);
  pages.setBasePath(basePath);
  createBullBoard({
    queues: adapters.filter((adapter) => adapter !== false),
    serverAdapter: pages,
    options: {
      uiBasePath: dirname(fileURLToPath(import.meta.resolve("@bull-board/ui/package.json"))),
      uiConfig: { boardTitle: "Rowgate jobs" },
    },
  });
  const app = new Hono();
  app.route(basePath, pages.registerPlugin());
  return app;
}

function jobsAdapter(queue: ServerQueue<JobData>): BullMQAdapter {
  const adapter = adapterOf(queue, {
    readOnlyMode: true,
    allowRetries: false,
    description: "Exports and imports",
  });
  adapter.setFormatter("data", (data: JobData) => ({ ...data, request: parsed(data.request) }));
  adapter.setFormatter("returnValue", parsed);
  return adapter;
}

/** The board offers more than sending calls again; what `app/http/jobs-board.ts` lets through is that alone. */
function hooksAdapter(queue: ServerQueue<HookData>): BullMQAdapter {
  const adapter = adapterOf(queue, {
    readOnlyMode: false,
    allowRetries: true,
    description:
      "Calls of non-blocking hooks; those that failed were given up and can be sent again",
  });
  adapter.setFormatter("data", ({ call }: HookData) => parsed(call));
  return adapter;
}

/** The types of the board only know BullMQ over Redis, but the board works with any backend. */
const adapterOf = <Data>(
  queue: ServerQueue<Data>,
  options: ConstructorParameters<typeof BullMQAdapter>[1],
): BullMQAdapter => new BullMQAdapter(queue as unknown as Queue, options);

/** Parses a value that the queue stores as JSON text. */
function parsed(text: unknown): unknown {
  return typeof text === "string" ? (JSON.parse(text) as unknown) : text;
}
