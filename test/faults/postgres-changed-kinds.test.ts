import { type Form, testChangedKinds } from "./changed-kinds.ts";

/** `using` converts the value. */
const form = (type: string, using: string, shown: Form["shown"]): Form => ({
  change: `ALTER TABLE things ALTER COLUMN v TYPE ${type} USING ${using}`,
  shown,
});

testChangedKinds("postgres", [
  [
    "boolean",
    "true",
    form("boolean", "v = 5", true),
    form("integer", "CASE WHEN v THEN 5 ELSE 0 END", 5),
  ],
  [
    "numeric(10,2)",
    "12.5",
    form("numeric(10,2)", "left(v, 5)::numeric", 12.5),
    form("text", "v || ' kg'", "12.50 kg"),
  ],
  ["text", "'7'", form("text", "v::text", "7"), form("integer", "v::integer", 7)],
  [
    "date",
    "'2026-01-05'",
    form("date", "v::date", "2026-01-05"),
    form("timestamp", "v + interval '10 hours'", "2026-01-05T10:00:00.000Z"),
  ],
]);
