/** The setting `datatables` of an endpoint: its compiled form, and refusals with position and remedy. */
import { describe, expect, test } from "vitest";
import { compileProject } from "../../core/config/compile-project.ts";
import { readConfig } from "../../core/config/reading/read-config.ts";
import { column } from "../values/column.ts";
import { catalog, filesOf, load } from "./shop.ts";

const base = { action: { datatables: true }, tableName: "products", hiddenFields: ["secret"] };

describe("datatables", () => {
  test("the fields of the lists become columns of the grid, each once", async () => {
    const datatables = {
      searchPanes: ["sku", "is_active", "sku"],
      searchBuilder: ["price"],
      columnControl: ["created_at"],
    };
    const { entities, faults } = await load(filesOf({ "products.json": { ...base, datatables } }));
    expect(faults).toEqual([]);
    const grid = [...entities.values()][0]!.grid!;
    const names = (columns: readonly { name: string }[]) => columns.map(({ name }) => name);
    expect(names(grid.paneColumns)).toEqual(["sku", "is_active"]);
    expect(names(grid.builderColumns)).toEqual(["price"]);
    expect(names(grid.listColumns)).toEqual(["created_at"]);
    expect(grid).toMatchObject({ rowId: [], clampsLength: false, showsErrorsInline: false });
  });

  test.each([
    ["an unknown pane", { searchPanes: ["sku", "prise"] }, "searchPanes[1]", 'mean "price"?'],
    ["a hidden pane", { searchPanes: ["secret"] }, "searchPanes[0]", "what the grid shows"],
    ["an unknown list of criteria", { searchBuilder: ["skuu"] }, "searchBuilder[0]", '"sku"?'],
    ["a hidden list of criteria", { searchBuilder: ["secret"] }, "searchBuilder[0]", "shows"],
    ["an unknown list of a column", { columnControl: ["skuu"] }, "columnControl[0]", '"sku"?'],
    ["a hidden list of a column", { columnControl: ["secret"] }, "columnControl[0]", "shows"],
    ["another way with lengths", { length: "cut" }, "length", "clamp"],
    ["another way with errors", { errorMode: "200" }, "errorMode", "inline"],
    ["a row id that is a name", { rowId: "sku" }, "rowId", "true or false"],
    ["a list that is a name", { searchPanes: "sku" }, "searchPanes", "a list"],
    ["an unknown property", { searchPane: ["sku"] }, "searchPane", '"searchPanes"?'],
  ])("an endpoint's file is refused for %s", async (_, datatables, place, hint) => {
    const { faults } = await load(filesOf({ "products.json": { ...base, datatables } }));
    expect(faults).toHaveLength(1);
    expect(JSON.stringify(faults[0])).toContain(`datatables.${place}`);
    expect(JSON.stringify(faults[0])?.replaceAll('\\"', '"')).toContain(hint);
  });

  test("a row id is refused where the grid does not show the key", async () => {
    const datatables = { rowId: true };
    const hiddenFields = ["product_id"];
    const file = { ...base, hiddenFields, datatables };
    const { faults } = await load(filesOf({ "products.json": file }));
    expect(faults).toMatchObject([{ path: "datatables.rowId" }]);
  });
});

describe("names with dots", () => {
  /** Compiles a grid whose query returns these columns. */
  async function compiled(names: readonly string[], action: object = { datatables: true }) {
    const file = { ...base, action, hiddenFields: [], datatablesQuery: "select 1" };
    const { projects } = readConfig(filesOf({ "products.json": file }), {});
    const query = async () => names.map((name) => column("text", { name }));
    return compileProject(projects[0]!, { ...catalog, query });
  }

  test("they are paths in the rows of the grid", async () => {
    const { entities, faults } = await compiled(["product_id", "a.b", "a.c.d"]);
    expect(faults).toEqual([]);
    expect([...entities.get("products")!.grid!.nestedNames]).toEqual([
      ["a.b", ["a", "b"]],
      ["a.c.d", ["a", "c", "d"]],
    ]);
  });

  test.each([
    ["a field beside one within it", ["a", "a.b"], "the column a.b beside a"],
    ["a nested field beside one within it", ["a.b.c", "a.b"], "the column a.b.c beside a.b"],
    ["a prototype's name", ["a.__proto__.b"], "the column a.__proto__.b"],
  ])("%s is refused", async (_, names, found) => {
    const { faults } = await compiled(names);
    expect(faults).toMatchObject([{ path: "datatablesQuery", found }]);
  });

  test("they are no fault where the grid is off", async () => {
    expect((await compiled(["a", "a.b"], { read: true })).faults).toEqual([]);
  });
});
