/** How far PostgreSQL servers are, by places in the write-ahead log. */
import type { Replication, SendOne } from "../engine.ts";

/** What is configured as a replica may be the primary itself, which has everything. */
export const replication: Replication = {
  position: (send) => answer(send, "select pg_current_wal_insert_lsn()::text as answer"),
  hasReached: async (send, position) =>
    (await answer(
      send,
      `select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_insert_lsn() end
        >= $1::text::pg_lsn as answer`,
      position,
    )) === "true",
};

async function answer(
  send: SendOne,
  text: string,
  ...params: readonly string[]
): Promise<string | null> {
  const { rows } = await send({ text, params, reuse: true });
  const found = rows[0]?.["answer"] ?? null;
  return found === null ? null : String(found);
}
