/**
 * The board of the jobs: bull-board over the queue that the service adds to, for reading alone. Its pages are files of a package, served over
 * node-server on every runtime that has files.
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

/** The server is asked when somebody looks, so that it may come and go. */
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
  // The board's types know BullMQ over Redis alone; the board itself does not mind.
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

/** What stands in the queue as JSON in a text. */
function parsed(text: unknown): unknown {
  return typeof text === "string" ? (JSON.parse(text) as unknown) : text;
}
