/** How often a request waits for a server: on a network, that decides how long it takes. */
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type Fixture, openFixture } from "../contract/harness.ts";
import { type Line, openLine } from "../servers/line.ts";

const item_id = "one";
const bodies = {
  first: { where: { key: "item_id", value: item_id } },
  create: { name: "new" },
  update: { item_id, name: "other" },
  adjust: { item_id, adjustments: [{ field: "stock", value: 1 }] },
} as const;
type Action = keyof typeof bodies;

type Turns = Readonly<Record<"items" | "kept" | "marked", number>>;

/** `turns`: of each action with one record, in a table without history, with it, and with soft delete besides. */
export function testRoundTrips(turns: Record<Action, Turns>): void {
  let fixture: Fixture;
  let line: Line;
  beforeAll(async () => {
    line = await openLine(
      new URL(inject("serverUrls")![inject("engine") as "postgres" | "mysql"]!),
    );
    const columns = { item_id: "key", name: "text(50)", stock: "integer" } as const;
    const action = { create: true, first: true, update: true, adjust: true };
    const adjustConfig = { fields: { stock: { type: "integer" } } };
    fixture = await openFixture({
      tables: [
        { name: "items", columns },
        { name: "kept", columns },
        { name: "marked", columns: { ...columns, is_deleted: "boolean" } },
      ],
      endpoints: {
        items: { tableName: "items", action, adjustConfig },
        kept: { tableName: "kept", action, adjustConfig, history: true },
        marked: { tableName: "marked", action, adjustConfig, history: true, softDelete: true },
      },
      project: { cache: { enabled: false } },
      serviceUrl(address) {
        const url = new URL(address);
        url.host = line.host;
        return url.href;
      },
    });
  });
  afterAll(async () => {
    await fixture?.close();
    line?.close();
  });

  test.each(
    Object.keys(bodies).flatMap((action) =>
      (["items", "kept", "marked"] as const).map((endpoint) => ({
        action: action as Action,
        endpoint,
      })),
    ),
  )("$action of $endpoint", async ({ action, endpoint }) => {
    const body = bodies[action];
    await fixture.post(`${endpoint}/create`, { item_id, name: "first", stock: 1 });
    const counted: number[] = [];
    // The first ones prepare their statements, and the service may ask something else meanwhile.
    for (let time = 0; time < 4; time++) {
      const before = line.turns;
      // An update that changes nothing is no change.
      const { status } = await fixture.post(`${endpoint}/${action}`, {
        ...body,
        ...("name" in body && { name: `${body.name} ${time}` }),
      });
      expect(status).toBeLessThan(300);
      counted.push(line.turns - before);
    }
    expect(Math.min(...counted)).toBe(turns[action][endpoint]);
  });
}
