/** read with count: exact, estimated by the planner, or none; and has_next in each case. */
import { beforeAll, describe, expect, test } from "vitest";
import { check, column, where } from "./cases.ts";
import { openShop } from "./shop.ts";

const shop = openShop();
const rowsMax = 250;

const read = (body: object, endpoint = "kinds") =>
  shop.post(endpoint, "read", { select: ["kind_id"], ...body });

beforeAll(async () => {
  const rows = Array.from({ length: rowsMax }, (_, index) => `('k${1000 + index}', ${index})`);
  await shop.fixture.sql(`insert into kinds (kind_id, whole) values ${rows.join(", ")}`);
  const analyze = { postgres: "analyze kinds", mysql: "analyze table kinds", sqlite: "analyze" };
  await shop.fixture.sql(analyze[shop.fixture.engine]);
});

describe("count none", () => {
  const pages: [name: string, body: object, rows: number, pagination: object][] = [
    [
      "read without a count gives the first page",
      { page: 1, per_page: 100 },
      100,
      { current_page: 1, per_page: 100, has_next: true, has_previous: false },
    ],
    [
      "read without a count gives the last page",
      { page: 3, per_page: 100 },
      50,
      { current_page: 3, per_page: 100, has_next: false, has_previous: true },
    ],
    [
      "read without a count knows that a full page is the last one",
      { page: 5, per_page: 50 },
      50,
      { current_page: 5, per_page: 50, has_next: false, has_previous: true },
    ],
    [
      "read without a count gives an empty page behind the last",
      { page: 99 },
      0,
      { current_page: 99, per_page: 10, has_next: false, has_previous: true },
    ],
  ];
  test.each(pages)("%s", async (_name, body, rows, pagination) => {
    const answer = await read({ ...body, count: "none" });
    expect(answer.body.pagination).toEqual(pagination);
    expect(answer.body.count).toBe(rows);
    expect(answer.body.data).toEqual((await read(body)).body.data);
  });
});

describe("count estimated", () => {
  const mode = () => (shop.fixture.engine === "sqlite" ? "exact" : "estimated");

  test("read with an estimate says how it counted", async () => {
    const { pagination } = (await read({ page: 1, count: "estimated" })).body;
    expect(pagination).toEqual({
      current_page: 1,
      per_page: 10,
      total_records: rowsMax,
      total_pages: rowsMax / 10,
      has_next: true,
      has_previous: false,
      count_mode: mode(),
    });
  });

  test("read with an estimate knows a small table that the database has not looked at", async () => {
    const body = { page: 1, per_page: 1, select: ["item_id"] };
    const { pagination: exact } = (await read(body, "items")).body;
    const { pagination } = (await read({ ...body, count: "estimated" }, "items")).body;
    expect(pagination).toEqual({ ...exact, count_mode: mode() });
  });

  test("read with an estimate shows the rows that it shows with a count", async () => {
    const body = { page: 2, per_page: 7, ...where("whole", ">", 20) };
    const answer = await read({ ...body, count: "estimated" });
    expect(answer.body.data).toEqual((await read(body)).body.data);
    expect(answer.body.count).toBe(7);
  });

  test("read with an estimate knows the total on the last page", async () => {
    const answer = await read({ page: 3, per_page: 100, count: "estimated" });
    expect(answer.body.pagination).toEqual({
      current_page: 3,
      per_page: 100,
      total_records: rowsMax,
      total_pages: 3,
      has_next: false,
      has_previous: true,
      count_mode: "exact",
    });
  });

  const filters: [string, object][] = [
    ["that matches one row", where("whole", "=", 7)],
    ["that matches nothing", where("whole", "=", -7)],
    ["that no planner understands", where("kind_id", "LIKE", "%9%")],
    ["that matches nearly all", where("whole", "!=", 7)],
    ["of missing values", where("note", "IS NOT NULL")],
    ["of no values", where("whole", "IN", [])],
  ];
  test.each(filters)(
    "read with an estimate never contradicts its rows, with a where %s",
    async (_name, filter) => {
      const whole = column(await read({ limit: 5000, ...filter }), "kind_id");
      for (const page of [1, 2, 9, 500]) {
        const { data, pagination } = (await read({ page, count: "estimated", ...filter })).body;
        const seen = (page - 1) * 10 + data.length;
        expect(data).toHaveLength(Math.min(10, Math.max(0, whole.length - (page - 1) * 10)));
        expect(pagination.has_next).toBe(seen < whole.length);
        expect(pagination.has_next).toBe(pagination.total_pages > page);
        if (data.length > 0) expect(pagination.total_records).toBeGreaterThanOrEqual(seen);
        else expect(pagination.total_records).toBeLessThanOrEqual(seen);
      }
    },
  );

  const sources = ["by-view", "by-query", "scope-flat", "scope-operator"];
  test.each(sources)("read estimates within the source and scope of %s", async (endpoint) => {
    const body = { page: 1, select: ["item_id"] };
    const { data, pagination } = (await read({ ...body, count: "estimated" }, endpoint)).body;
    expect(pagination).toMatchObject({
      total_records: data.length,
      has_next: false,
      count_mode: "exact",
    });
  });
});

describe("the mode", () => {
  test("read counts exactly when count is missing, null or exact", async () => {
    for (const count of [undefined, null, "exact"]) {
      const answer = await read({ page: 1, per_page: 100, count });
      expect(answer.body.pagination).toEqual({
        current_page: 1,
        per_page: 100,
        total_records: rowsMax,
        total_pages: 3,
        has_next: true,
        has_previous: false,
      });
    }
  });

  test("read takes count without page, where it has no effect", async () => {
    for (const count of ["exact", "estimated", "none"]) {
      const answer = await read({ limit: 3, count });
      expect(Object.keys(answer.body).sort()).toEqual(["count", "data", "success", "timestamp"]);
    }
  });

  test("read refuses another count", async () => {
    const values = ["", "all", "EXACT", "Estimated", true, false, 0, 1, [], ["none"], {}];
    for (const count of values) {
      for (const body of [{ page: 1 }, { limit: 1 }, { cursor: true }]) {
        check(await read({ ...body, count }), {
          status: 400,
          error: "Invalid parameter",
          message: "count must be exact, estimated or none",
        });
      }
    }
  });
});
