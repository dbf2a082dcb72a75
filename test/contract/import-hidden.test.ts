/** The preview of an import tells no caller of columns that are hidden from him. */
import { expect, test } from "vitest";
import { apiKey, by } from "./api-keys.ts";
import { openFixture, openForTests } from "./harness.ts";
import { importerOf } from "./imports.ts";

const fixture = openForTests(async () => {
  const things = {
    action: { import: true },
    access: { clerk: "*", chief: "*" },
    hiddenFields: { clerk: ["secret_id"] },
  };
  return openFixture({
    tables: [
      { name: "secrets", columns: { secret_id: "key" } },
      ...["numbered", "referring"].map((name) => ({
        name,
        columns: {
          id: "key" as const,
          number: "text(40)" as const,
          name: "text(20)" as const,
          secret_id: {
            type: "text(36)" as const,
            references: { table: "secrets", column: "secret_id" },
          },
        },
      })),
    ],
    project: { auth: { apiKeys: [apiKey("clerk"), apiKey("chief")] } },
    endpoints: {
      numbered: {
        ...things,
        tableName: "numbered",
        numbers: { number: { format: "{secret_id}/{seq:3}" } },
      },
      referring: {
        ...things,
        tableName: "referring",
        fieldValidation: { secret_id: { type: "string", default: "nowhere" } },
      },
    },
  });
});

test.each([
  [
    "numbered",
    "secret_id: is required for the number of the record",
    "another field: is required for the number of the record",
  ],
  [
    "referring",
    'secret_id: there is no record "nowhere" to refer to',
    "another field: there is no record to refer to",
  ],
])("of %s names a column only to those who see it", async (place, told, untold) => {
  const messages = async (id: string): Promise<unknown> => {
    const { previewed } = importerOf({
      post: (path, body) => fixture.post(path, body, by(id)),
      request: (path, init) =>
        fixture.request(path, {
          ...init,
          headers: { ...Object.fromEntries(new Headers(init?.headers)), ...by(id) },
        }),
    });
    const file = new Uint8Array(Buffer.from("name\na\n"));
    return (await previewed(place, file, { name: "rows.csv" })).body.errors[0].messages;
  };
  expect(await messages("chief")).toContain(told);
  expect(await messages("clerk")).toEqual([untold]);
});
