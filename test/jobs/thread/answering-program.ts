/** The thread of `answering-threads.test.ts`: answers with its number, or does what it is asked to do instead. */
import { parentPort, threadId } from "node:worker_threads";

export type Question = "number" | "number, later" | "throw" | "exit" | "nothing" | "fill memory";

parentPort!.on("message", (question: Question) => {
  if (question === "throw") throw new Error("thrown in the thread");
  if (question === "exit") process.exit(0);
  if (question === "number") parentPort!.postMessage(threadId);
  if (question === "number, later") setTimeout(() => parentPort!.postMessage(threadId), 200);
  if (question !== "fill memory") return;
  const part = Array.from({ length: 1_000_000 }, (_, at) => at + 0.5);
  for (const held = [part]; ; held.push(part.slice()));
});
