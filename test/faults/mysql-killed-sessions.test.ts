import { testKilledSessions } from "./killed-sessions.ts";

testKilledSessions("mysql", async (session) => {
  const others = await session.run(
    "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()",
  );
  // A session that has already ended counts as killed.
  for (const { id } of others) await session.run(`KILL ${Number(id)}`).catch(() => {});
});
