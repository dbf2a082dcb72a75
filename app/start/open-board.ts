/**
 * The jobs board: bull-board over the queue that the service adds to, read-only. Its pages are files of a package,
 * served over node-server on every runtime with files.
 */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { createBullBoard } from "@bull-board/api";
import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";
import { HonoAdapter } from "@bull-board/hono";
import { serveStatic } from "@hono/node-server/serve-static";
import type { Queue } from "bullmq";
import { Hono } from "hono";
import type { JobData } from "../../jobs/queue/bullmq/stored-job.ts";
import {
  type BullmqServer,
  openServerQueue,
  type ServerQueue,
} from "../../jobs/queue/bullmq/bullmq-server.ts";
import type { ShowBoard } from "../http/jobs-board.ts";

/** Which queue the board shows, and where. */
export interface BoardOptions {
  readonly queueName: string;
  /** Where the board is mounted. */
  readonly basePath: string;
}

/** The server is contacted only when the board is viewed, so it may be unreachable at start. */
export function openBoard(server: BullmqServer, { queueName, basePath }: BoardOptions): ShowBoard {
  let opening: Promise<Hono> | null = null;
  return async (request) => {
    await server.ready();
    opening ??= openServerQueue<JobData>(server, queueName)
      .then((queue) => appOver(queue, basePath))
      .catch((error: unknown) => {
        opening = null;
        throw error;
      });
    return (await opening).fetch(request);
  };
}

function appOver(queue: ServerQueue<JobData>, basePath: string): Hono {
  // The types of the board only know BullMQ over Redis, but the board works with any backend.
  const adapter = new BullMQAdapter(queue as unknown as Queue, {
    readOnlyMode: true,
    allowRetries: false,
    description: "Exports and imports",
  });
  adapter.setFormatter("data", (data: JobData) => ({ ...data, request: parsed(data.request) }));
  adapter.setFormatter("returnValue", parsed);
  const pages = new HonoAdapter(serveStatic);
  pages.setBasePath(basePath);
  createBullBoard({
    queues: [adapter],
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

/** Parses a value that the queue stores as JSON text. */
function parsed(text: unknown): unknown {
  return typeof text === "string" ? (JSON.parse(text) as unknown) : text;
}
