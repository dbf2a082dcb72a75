/** Sends texts to a connection of an engine, as the tests of engines do. */
import type { Connection, RawResult } from "../../db/engines/engine.ts";
import type { RawRow } from "../../db/statements/dialect.ts";

/** Rejects where the connection throws. */
export const send = async (
  connection: Connection,
  text: string,
  params: readonly unknown[] = [],
  reuse = false,
): Promise<RawResult> => connection.send({ text, params, reuse });

export const streamed = (
  connection: Connection,
  text: string,
  batchRows: number,
): AsyncIterable<RawRow[]> => connection.stream({ text, params: [], reuse: false, batchRows });

/** What the work rejects with; undefined: it resolves. */
export const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );
