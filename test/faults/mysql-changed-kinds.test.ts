import { type Form, testChangedKinds } from "./changed-kinds.ts";

const form = (type: string, shown: Form["shown"]): Form => ({
  change: `ALTER TABLE things MODIFY v ${type}`,
  shown,
});

testChangedKinds("mysql", [
  ["tinyint(1)", "1", form("tinyint(1)", true), form("int", 1)],
  ["decimal(10,2)", "12.5", form("decimal(10,2)", 12.5), form("varchar(20)", "12.50")],
  ["varchar(20)", "'7'", form("varchar(20)", "7"), form("int", 7)],
  [
    "date",
    "'2026-01-05'",
    form("date", "2026-01-05"),
    form("datetime", "2026-01-05T00:00:00.000Z"),
  ],
  [
    "datetime",
    "'2026-01-05 10:00:00'",
    form("datetime", "2026-01-05T10:00:00.000Z"),
    form("varchar(30)", "2026-01-05 10:00:00"),
  ],
]);
