/** Row-level security of the database, which learns the caller through `database.claimsSetting`. */
import { afterAll, describe, expect, inject, test } from "vitest";
import { openSession } from "../servers/session.ts";
import { openFixture } from "./harness.ts";
import { dropRole, openPolicies, policyCases } from "./policies.ts";

const engine = inject("engine");

describe.skipIf(engine !== "postgres")(
  "policies of PostgreSQL, which alone of the three databases has them",
  () => {
    afterAll(async () => {
      const session = await openSession("postgres", inject("serverUrls")!.postgres!);
      await session.run(dropRole);
      await session.close();
    });
    policyCases(openPolicies);
  },
);

test.skipIf(engine === "postgres")(
  "claimsSetting is a fault on a database without such policies",
  async () => {
    const opening = openFixture({
      tables: [{ name: "notes", columns: { note_id: "key" } }],
      endpoints: { notes: { tableName: "notes", action: { read: true }, access: { "*": "*" } } },
      project: {
        database: { claimsSetting: "request.jwt.claims" },
        auth: { anonymous: { roles: ["guest"] } },
      },
    });
    await expect(opening).rejects.toThrow(
      /database\.claimsSetting\n.*found claims for rules of the database, which has no such rules/,
    );
  },
);
