/**
 * Table, rows and endpoints for the tests of the grid's extensions: rows with nulls, empty texts, pattern characters
 * and quotes, and an endpoint per setting of `datatables`. Every answer has passed `checkEnvelope`.
 */
import { checkEnvelope } from "./cases.ts";
import { bracketed } from "./form-text.ts";
import {
  openFixture,
  openForTests,
  type Answer,
  type Fixture,
  type FixtureOptions,
} from "./harness.ts";

/** In the order of the key. */
export const parts = [
  part("p1", "Anvil", "heavy", "a", 5, 10.5, "2026-01-10", "2026-01-10T08:00:00.000Z", true),
  part("p2", "bolt & nut", "", "a", 12, 0.25, "2026-02-10", "2026-01-10T23:59:59.999Z", false),
  part("p3", "Çelik 100%", null, "b", 9, 7, "2026-03-10", "2026-01-11T00:00:00.000Z", true),
  part("p4", "snake_case", "HEAVY load", null, null, null, null, null, null),
  part("p5", "back\\slash", "light", "", 0, -3, "2026-03-10", "2026-03-10T12:30:00.000Z", false),
  part("p6", 'o\'brien "x"', "a<b", "B", 100, 7, "2026-04-01", "2026-04-01T08:00:00.000Z", true),
] as const;

export const ids: readonly string[] = parts.map(({ part_id }) => part_id);

function part(
  part_id: string,
  name: string,
  note: string | null,
  grade: string | null,
  qty: number | null,
  price: number | null,
  made: string | null,
  seen: string | null,
  ready: boolean | null,
) {
  const opens = seen?.slice(11, 19) ?? null;
  return { part_id, name, note, grade, qty, price, made, seen, opens, ready };
}

const nestedQuery = `select part_id, name as "part.name", grade as "part.kind.grade", qty from parts`;

export const shelfOptions: FixtureOptions = {
  tables: [
    {
      name: "parts",
      columns: {
        part_id: "key",
        name: "text(40)",
        note: "text(40)",
        grade: "text(10)",
        qty: "integer",
        price: "decimal(10,2)",
        made: "date",
        seen: "timestamp",
        opens: "time",
        ready: "boolean",
        token: "uuid",
        extra: "json",
        secret: "text(40)",
      },
    },
  ],
  endpoints: {
    parts: { ...over(), action: { create: true, read: true } },
    shelf: over(),
    panes: over({ searchPanes: ["grade", "qty", "ready"] }),
    lists: over({ searchBuilder: ["grade", "price"], columnControl: ["grade", "made"] }),
    labels: over(inEachList(["name", "note"])),
    words: over({ search: "words" }),
    clamped: over({ rowId: true, length: "clamp" }),
    inline: over({ errorMode: "inline", searchPanes: ["grade"] }),
    nested: {
      ...over({ rowId: true, searchPanes: ["part.kind.grade"] }),
      datatablesQuery: nestedQuery,
    },
  },
  project: { cache: { enabled: false } },
};

/** The lists of all three extensions with the same fields. */
function inEachList(fields: readonly string[]): object {
  return { searchPanes: fields, searchBuilder: fields, columnControl: fields };
}

function over(datatables?: object): object {
  return {
    tableName: "parts",
    primaryKey: "part_id",
    action: { datatables: true },
    hiddenFields: ["secret"],
    ...(datatables && { datatables }),
  };
}

/** A fresh fixture with the rows in it. */
export async function openShelf(options: Partial<FixtureOptions> = {}): Promise<Fixture> {
  const fixture = await openFixture({ ...shelfOptions, ...options });
  for (const row of parts) {
    const { status, body } = await fixture.post("parts/create", row);
    if (status !== 201) throw new Error(JSON.stringify(body));
  }
  return fixture;
}

export type Ask = (endpoint: string, body: object) => Promise<Answer>;

/** How a body is sent. */
export interface Ways {
  readonly JSON: Ask;
  readonly "a form": Ask;
}

/** The ways of the library, over a shelf that lives as long as the test file. */
export function shelfOfFile(): { ways: Ways; ask: Ask; fixture: Fixture } {
  const fixture = openForTests(openShelf);
  const checked = async (asking: Promise<Answer>): Promise<Answer> => {
    const answer = await asking;
    checkEnvelope(answer);
    return answer;
  };
  const ask: Ask = (endpoint, body) => checked(fixture.post(`${endpoint}/datatables`, body));
  const form: Ask = (endpoint, body) =>
    checked(
      fixture.request(`/api/test/${endpoint}/datatables`, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: bracketed(body),
      }),
    );
  return { ask, ways: { JSON: ask, "a form": form }, fixture };
}

/** The keys of the page's rows. */
export const idsOf = ({ body }: Answer): string[] =>
  body.data.map((row: { part_id: string }) => row.part_id);
