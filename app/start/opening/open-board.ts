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
import { openedOnce } from "../../../core/values/opened-once.ts";
import type { HookData } from "../../../jobs/queue/bullmq/hook-worker.ts";
import type { JobData } from "../../../jobs/queue/bullmq/stored-job.ts";
import type { ShownQueue } from "../../../jobs/queue/open/shown-queue.ts";
import type { ShowBoard } from "../../http/jobs-board.ts";

/** Null: there is no such queue, or it is in this process. */
export interface BoardQueues {
  readonly jobs: ShownQueue | null;
  readonly hooks: ShownQueue | null;
}

/** Contacts the server only when the board is viewed, so it may be unreachable at start. `basePath`: the mount path. */
export function openBoard(queues: BoardQueues, basePath: string): ShowBoard {
  const app = openedOnce(() => openApp(queues, basePath));
  return async (request) => {
    await (queues.jobs ?? queues.hooks)!.ready();
    return (await app()).fetch(request);
  };
}

async function openApp({ jobs, hooks }: BoardQueues, basePath: string): Promise<Hono> {
  const adapters = await Promise.all([
    jobs?.open().then(jobsAdapter),
    hooks?.open().then(hooksAdapter),
  ]);
  const pages = new HonoAdapter(serveStatic);
  pages.setBasePath(basePath);
  createBullBoard({
    queues: adapters.filter((adapter) => adapter !== undefined),
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

type OpenedQueue = Awaited<ReturnType<ShownQueue["open"]>>;

function jobsAdapter(queue: OpenedQueue): BullMQAdapter {
  const adapter = adapterOf(queue, {
    readOnlyMode: true,
    allowRetries: false,
    description: "Exports and imports",
  });
  adapter.setFormatter("data", (data: JobData) => ({ ...data, request: parsed(data.request) }));
  adapter.setFormatter("returnValue", parsed);
  return adapter;
}

/** The board offers more than sending calls again; `app/http/jobs-board.ts` lets only that through. */
function hooksAdapter(queue: OpenedQueue): BullMQAdapter {
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
const adapterOf = (
  queue: OpenedQueue,
  options: ConstructorParameters<typeof BullMQAdapter>[1],
): BullMQAdapter => new BullMQAdapter(queue as unknown as Queue, options);

/** Parses a value that the queue stores as JSON text. */
const parsed = (text: unknown): unknown =>
  typeof text === "string" ? (JSON.parse(text) as unknown) : text;
