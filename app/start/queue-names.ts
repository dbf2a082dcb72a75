/** The names of the queues on the server of jobs, for all programs that open them. */
import type { Settings } from "./env.ts";

/** Names of job queues contain no slash, so the two cannot collide. */
export const hookQueueName = ({ queueName }: Pick<Settings, "queueName">): string =>
  `${queueName}/hooks`;
