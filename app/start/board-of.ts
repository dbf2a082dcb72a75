/** The jobs board of a process: whether it has one, and over which queues. */
import type { BullmqServer } from "../../jobs/queue/bullmq/bullmq-server.ts";
import type { JobsBoard, ShowBoard } from "../http/jobs-board.ts";
import type { Settings } from "./env.ts";
import { hookQueueName } from "./queue-names.ts";

/** The servers of the queues; null: there is no such queue, or it is in this process. */
export interface BoardServers {
  readonly jobs: BullmqServer | null;
  readonly hooks: BullmqServer | null;
}

/**
 * A function that gives the board over the queues of the moment, the same one as long as they are the same; null without a server or
 * JOBS_BOARD_TOKEN.
 */
export function createBoards(
  settings: Settings,
  serversNow: () => BoardServers,
): () => JobsBoard | null {
  let known: { readonly servers: BoardServers; readonly board: JobsBoard | null } | null = null;
  return () => {
    const servers = serversNow();
    if (known?.servers.jobs !== servers.jobs || known.servers.hooks !== servers.hooks)
      known = { servers, board: boardOf(servers, settings) };
    return known.board;
  };
}

/** The board is loaded when it is first viewed, and once, because it keeps connections to the server. */
function boardOf(servers: BoardServers, settings: Settings): JobsBoard | null {
  const { queueName, jobsBoardToken: token } = settings;
  const server = servers.jobs ?? servers.hooks;
  if (token === null || server === null) return null;
  let opening: Promise<ShowBoard> | null = null;
  const open = async (basePath: string): Promise<ShowBoard> => {
    const { openBoard } = await import("./open-board.ts");
    return openBoard(server, {
      jobs: servers.jobs && queueName,
      hooks: servers.hooks && hookQueueName(settings),
      basePath,
    });
  };
  return { token, open: (basePath) => (opening ??= open(basePath)) };
}
