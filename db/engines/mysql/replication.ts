/** How far MySQL and MariaDB servers are, by the identifiers of their transactions (GTIDs). */
import type { Replication, SendOne } from "../engine.ts";
import { isMariaDb } from "./catalog.ts";

/** Without a binary log or without GTIDs the server says nothing, and nothing is replicated that could be told. */
export const replication: Replication = {
  async position(send) {
    const found = (await isMaria(send))
      ? await text(send, "select @@global.gtid_current_pos as answer")
      : await text(send, "select @@global.gtid_executed as answer");
    return found === "" ? null : found.replace(/\s/g, "");
  },
  async hasReached(send, position) {
    if (!(await isMaria(send)))
      return (
        (await text(send, "select gtid_subset(?, @@global.gtid_executed) as answer", position)) ===
        "1"
      );
    // What the replica writes itself counts in the same sequence, in its current position.
    const reached = placesIn(await text(send, "select @@global.gtid_slave_pos as answer"));
    return [...placesIn(position)].every(
      ([domain, place]) => place <= (reached.get(domain) ?? -1n),
    );
  },
};

const isMaria = async (send: SendOne): Promise<boolean> =>
  isMariaDb(await text(send, "select version() as answer"));

async function text(send: SendOne, sql: string, ...params: readonly string[]): Promise<string> {
  const { rows } = await send({ text: sql, params, reuse: true });
  return String(rows[0]?.["answer"] ?? "");
}

/** Of `domain-server-sequence,…`: the last sequence number of each domain. */
const placesIn = (position: string): ReadonlyMap<string, bigint> =>
  new Map(
    position
      .split(",")
      .filter((one) => one !== "")
      .map((one) => {
        const [domain, , sequence] = one.trim().split("-") as [string, string, string];
        return [domain, BigInt(sequence)] as const;
      }),
  );
