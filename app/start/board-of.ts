/** The jobs board of a process: whether it has one, and over which queues. */
import type { BullmqServer } from "../../jobs/queue/bullmq/bullmq-server.ts";
import type { JobsBoard } from "../http/jobs-board.ts";
import type { Settings } from "./env.ts";
import { hookQueueName } from "./queue-names.ts";

/** The servers of the queues; null: there is no such queue, or it is in this process. */
export interface BoardServers {
  readonly jobs: BullmqServer | null;
  readonly hooks: BullmqServer | null;
}

/** Null without a server or JOBS_BOARD_TOKEN. The board is loaded when it is first viewed. */
export function boardOf(servers: BoardServers, settings: Settings): JobsBoard | null {
  const { queueName, jobsBoardToken: token } = settings;
  const server = servers.jobs ?? servers.hooks;
  if (token === null || server === null) return null;
  return {
    token,
    async open(basePath) {
      const { openBoard } = await import("./open-board.ts");
      return openBoard(server, {
        jobs: servers.jobs && queueName,
        hooks: servers.hooks && hookQueueName(settings),
        basePath,
      });
    },
  };
}
