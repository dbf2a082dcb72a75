/** How far PostgreSQL servers are, by places in the write-ahead log. */
import type { Replication, SendOne } from "../engine.ts";

/** The moment of its start tells a server from all others. */
const started = "extract(epoch from pg_postmaster_start_time())::text";

/**
 * What is configured as a replica may be the primary itself, which has everything. Any other server that does not follow
 * one has a log of its own, whose places say nothing.
 */
export const replication: Replication = {
  position: (send) =>
    answer(send, `select pg_current_wal_insert_lsn()::text || ' ' || ${started} as answer`),
  hasReached: async (send, position) =>
    (await answer(
      send,
      `select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() >= split_part($1::text, ' ', 1)::pg_lsn
        else ${started} = split_part($1::text, ' ', 2) end as answer`,
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
