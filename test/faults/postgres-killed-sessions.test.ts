import { testKilledSessions } from "./killed-sessions.ts";

testKilledSessions("postgres", async (session) => {
  await session.run(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
  );
});
