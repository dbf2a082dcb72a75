/** Ends the process: with a signal, or with an error. */
import { setTimeout as pause } from "node:timers/promises";

export type StopWith = (stop: () => Promise<void>) => void;

let stop = async (): Promise<void> => {};
let isListening = false;

/**
 * From now on, signals end the process: at once until there is something to stop. As the first process of a container,
 * it would never hear of a signal that came before it listened.
 */
export function listenForStops(): StopWith {
  if (!isListening)
    for (const signal of ["SIGTERM", "SIGINT"] as const)
      process.once(signal, () => void stop().then(() => process.exit(0), exitWith));
  isListening = true;
  return (given) => (stop = given);
}

/** Writes the error and ends the process, after a short pause so that the output is written. */
export async function exitWith(error: unknown): Promise<never> {
  const isExpected =
    error instanceof Error && (error.constructor === Error || error.name === "ConfigError");
  process.stderr.write(
    `${isExpected ? (error as Error).message : String((error as Error)?.stack ?? error)}\n`,
  );
  await pause(10);
  process.exit(1);
}
