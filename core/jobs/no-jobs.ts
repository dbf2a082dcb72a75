/** Replaces the queue of jobs and its files if no endpoint exports or imports. */
import type { Files } from "../plans/files-port.ts";
import type { Queue } from "./queue.ts";

const refusal = () => new Error("No endpoint has export or import switched on");
const refuse = () => Promise.reject(refusal());

export const noQueue: Queue = {
  add: refuse,
  find: refuse,
  cancel: refuse,
  counts: refuse,
  close: async () => undefined,
};

export const noFiles: Files = {
  write: refuse,
  info: refuse,
  read: refuse,
  remove: refuse,
  list() {
    throw refusal();
  },
  close: async () => undefined,
};
