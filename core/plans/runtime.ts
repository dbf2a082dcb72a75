/** What every part of the service needs of the process it runs in. One frozen value, which is passed whole. */
import type { Clock, NewId } from "../values/clock.ts";
import type { AnsweredTable } from "./export-plan.ts";
import type { Log } from "./log-port.ts";

export interface Hashing {
  update(bytes: Uint8Array): void;
  /** To be called once, at the end. */
  hex(): string;
}

export interface Runtime {
  readonly now: Clock;
  readonly newId: NewId;
  /** SHA-256 as hexadecimal text. */
  readonly digest: (text: string) => string;
  /** The same of bytes that come piece by piece. */
  readonly hashing: () => Hashing;
  readonly log: Log;
  /** The text of a csv file. */
  readonly csvOf: (table: AnsweredTable) => string;
  /** The path at which the service is mounted, as `/rows`; empty at the root. */
  readonly basePath: string;
}
