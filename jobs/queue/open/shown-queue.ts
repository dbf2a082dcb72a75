/** A queue that is kept on a server, as the board of jobs shows it. */
import type { BullmqServer, ServerQueue } from "../bullmq/bullmq-server.ts";

export interface ShownQueue {
  /** Rejects while the server is unreachable. */
  ready(): Promise<void>;
  /** After `ready`. Opens a connection, which stays until the process ends. */
  open(): Promise<ServerQueue<unknown>>;
}

export const shownQueue = (server: BullmqServer, name: string): ShownQueue => ({
  ready: () => server.ready(),
  async open() {
    // The library is large, and only loaded where it is used.
    const { openServerQueue } = await import("../bullmq/bullmq-server.ts");
    return openServerQueue<unknown>(server, name);
  },
});
