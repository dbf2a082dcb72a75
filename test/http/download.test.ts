/** The name of a downloaded file in its header: any name stays one header and one name. */
import { expect, test } from "vitest";
import { disposition } from "../../app/http/download.ts";

test.each([
  ["items-export-2026-11-21.xlsx", "attachment; filename=items-export-2026-11-21.xlsx"],
  ["two words.csv", `attachment; filename="two words.csv"; filename*=UTF-8''two%20words.csv`],
  ['a"b\\c.csv', `attachment; filename="a_b_c.csv"; filename*=UTF-8''a%22b%5Cc.csv`],
  ["größe.csv", `attachment; filename="gr__e.csv"; filename*=UTF-8''gr%C3%B6%C3%9Fe.csv`],
  [
    "x\r\nSet-Cookie: a=b",
    `attachment; filename="x__Set-Cookie: a=b"; filename*=UTF-8''x%0D%0ASet-Cookie%3A%20a%3Db`,
  ],
  [
    "it's (1)*.csv",
    `attachment; filename="it's (1)*.csv"; filename*=UTF-8''it%27s%20%281%29%2A.csv`,
  ],
  ["\ud800.csv", `attachment; filename="_.csv"; filename*=UTF-8''%EF%BF%BD.csv`],
])("the file %j is called %s", (name, header) => {
  expect(disposition("attachment", name)).toBe(header);
  expect(() => new Headers({ "Content-Disposition": header })).not.toThrow();
});
