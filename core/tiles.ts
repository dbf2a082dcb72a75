/**
 * The tiles of a dashboard: what the answer to a tile's request has, and whether it can be drawn as the tile wants. The
 * grammar of the action reads the request, as it reads those of clients; nothing asks the database.
 */
import { labelledIn, messagesIn } from "./calls/wording.ts";
import type { Routes } from "./dispatch.ts";
import type { FiguresRequest } from "./lists/aggregate-request.ts";
import type { Caller } from "./plans/caller.ts";
import type { Dashboard, Tile } from "./plans/dashboard.ts";
import type { Entity } from "./plans/entity.ts";
import { selectedBy } from "./query/select.ts";
import { closest } from "./values/closest.ts";
import { AppError } from "./values/errors.ts";
import { scaleOf } from "./values/types/arithmetic.ts";
import type { Column } from "./values/types/column.ts";
import type { Output } from "./query/statement.ts";

/** A column of the answer to a tile's request. */
export interface TileColumn {
  readonly name: string;
  /** Null: it has none but its name. */
  readonly label: string | null;
  readonly type: Column["type"];
  /** Digits behind the point, of an average those of its column; null: any number. */
  readonly scale: number | null;
  /** A group is along the axis, or divides what is drawn; a value is drawn. */
  readonly role: "group" | "value" | "other";
  /** The span of time, the part of a date or the width of the bin by which values are grouped; null: none. */
  readonly by: string | null;
}

/** Where a tile does not fit its endpoint: a member of the tile, what is expected there, and what was found. */
export interface TileFault {
  readonly path: readonly (string | number)[];
  readonly expected: string;
  /** Absent: the value that the file has there. */
  readonly found?: string;
  /** The name that was probably meant. */
  readonly near?: string | null;
}

export type JudgedTile =
  | { readonly columns: readonly TileColumn[] }
  | { readonly faults: readonly TileFault[] };

/** A tile that a caller may see, with what the answer to its request has. */
export interface ShownTile {
  readonly tile: Tile;
  readonly columns: readonly TileColumn[];
}

/** The dashboard with its texts in that language. */
export function dashboardIn(language: string, dashboard: Dashboard, routes: Routes): Dashboard {
  const texts = messagesIn(routes).get(language)?.dashboard;
  if (texts === undefined) return dashboard;
  const worded = (text: string): string => texts.get(text) ?? text;
  const tiles = dashboard.tiles.map((tile) => ({
    ...tile,
    title: worded(tile.title),
    labels: Object.fromEntries(
      Object.entries(tile.labels).map(([name, label]) => [name, worded(label)]),
    ),
  }));
  return { title: worded(dashboard.title), tiles };
}

/** Those whose request the caller may send, and whose columns the caller may all see. */
export const tilesFor = (
  { tiles }: Dashboard,
  routes: Routes,
  { caller, language }: { readonly caller: Caller; readonly language: string },
): readonly ShownTile[] =>
  tiles.flatMap((tile) => {
    const bound = routes.endpoints.get(tile.endpoint)?.get(tile.action);
    const entity = bound?.mayUse(caller) ? bound.viewFor(caller) : null;
    const judged = entity && judge(tile, routes, labelledIn(language, entity));
    return judged && "columns" in judged ? [{ tile, columns: judged.columns }] : [];
  });

/** The tile for callers who may use all that there is. */
export function judgeTile(tile: Tile, routes: Routes): JudgedTile {
  const { endpoint, action } = tile;
  // The fault of that endpoint is told by itself.
  if (routes.leftOut.has(endpoint)) return { columns: [] };
  const actions = routes.endpoints.get(endpoint);
  if (!actions)
    return only({
      path: ["endpoint"],
      expected: "an endpoint of the project",
      near: closest(endpoint, routes.endpoints.keys()),
    });
  const entity = actions.get(action)?.entity;
  return entity
    ? judge(tile, routes, entity)
    : only({ path: ["action"], expected: `an action that is switched on for ${endpoint}` });
}

const only = (fault: TileFault): JudgedTile => ({ faults: [fault] });

/** `entity`: as the caller sees it. */
function judge(tile: Tile, routes: Routes, entity: Entity): JudgedTile {
  const { action } = routes.endpoints.get(tile.endpoint)!.get(tile.action)!;
  const bound = action.bind(entity);
  if (bound === null) return only({ path: ["action"], expected: "an action that works here" });
  try {
    const sent = { method: "POST", body: tile.body } as const;
    const { body, grammar } = bound.read(sent);
    const input = grammar.read(body);
    const columns =
      tile.action === "aggregate"
        ? columnsOfFigures(input as FiguresRequest, tile, entity)
        : columnsOfRecords(tile, entity);
    const faults = faultsOf(tile, columns);
    return faults.length > 0 ? { faults } : { columns };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return only({
      path: ["body"],
      expected: `a body that ${tile.action} takes`,
      found: `one that it refuses: ${error.message}`,
    });
  }
}

function columnsOfFigures(
  { statement: { outputs } }: FiguresRequest,
  tile: Tile,
  entity: Entity,
): TileColumn[] {
  return outputs.map(({ alias, function: name, result, column }) => ({
    ...described(alias, result, { tile, entity }),
    // An average has as many digits as the database computes; people compare it with the values of the column.
    ...(name === "avg" && column && { scale: scaleOf(column) }),
    role: name === null ? "group" : "value",
    by: name === null ? spanOf(column) : null,
  }));
}

function spanOf(column: Output["column"]): string | null {
  if (column?.derived?.kind !== "bucket") return null;
  const { bucket } = column.derived;
  if (bucket.kind === "span") return bucket.unit;
  return bucket.kind === "part" ? bucket.part : bucket.width;
}

function columnsOfRecords(tile: Tile, entity: Entity): TileColumn[] {
  const { columns: own, named } = entity.read!;
  const { select } = tile.body;
  const names = Array.isArray(select) && select.length > 0 ? (select as string[]) : [...own.keys()];
  const columns = new Set(names.flatMap((name) => selectedBy(name, named) ?? []));
  return [...columns].map((column) => ({
    ...described(column.name, column, { tile, entity }),
    role: column.name === tile.x ? "group" : tile.y?.includes(column.name) ? "value" : "other",
    by: null,
  }));
}

const described = (
  name: string,
  { type, scale }: Column,
  { tile, entity }: { readonly tile: Tile; readonly entity: Entity },
): Pick<TileColumn, "name" | "label" | "type" | "scale"> => ({
  name,
  label: (Object.hasOwn(tile.labels, name) ? tile.labels[name] : entity.labels.get(name)) ?? null,
  type,
  scale,
});

/** What the tile cannot show of the answer. */
function faultsOf(tile: Tile, columns: readonly TileColumn[]): TileFault[] {
  const names = columns.map(({ name }) => name);
  const unknown = (name: string, path: TileFault["path"]): TileFault[] =>
    names.includes(name)
      ? []
      : [{ path, expected: "a column of the answer", near: closest(name, names) }];
  const { x, y, show, action } = tile;
  const labelled = Object.keys(tile.labels).flatMap((name) => unknown(name, ["labels", name]));
  const isDrawn = show === "line" || show === "bar";
  if (action === "aggregate" || !isDrawn)
    return [
      ...labelled,
      ...(["x", "y"] as const).flatMap((path) =>
        tile[path] === undefined
          ? []
          : [{ path: [path], expected: `no ${path}, which only a line or bars of read take` }],
      ),
      ...(action === "aggregate" ? faultsOfFigures(show, columns) : faultsOfRecords(show)),
    ];
  if (x === undefined || y === undefined)
    return [
      ...labelled,
      {
        path: [x === undefined ? "x" : "y"],
        expected: "a column along the axis as x, and columns of numbers as y",
      },
    ];
  return [
    ...labelled,
    ...unknown(x, ["x"]),
    ...y.flatMap((name, at) => [
      ...unknown(name, ["y", at]),
      ...notANumber(
        columns.filter((one) => one.name === name),
        ["y", at],
      ),
    ]),
  ];
}

function faultsOfFigures(show: Tile["show"], columns: readonly TileColumn[]): TileFault[] {
  const groups = columns.filter(({ role }) => role === "group");
  const values = columns.filter(({ role }) => role === "value");
  const refused = (expected: string): TileFault[] => [{ path: ["show"], expected }];
  if (show === "table") return [];
  if (show === "number") return groups.length > 0 ? refused("line, bar or table for groups") : [];
  if (groups.length === 0) return refused("number or table where nothing is grouped");
  if (groups.length > 2) return refused("table for more than two groups");
  if (groups.length === 2 && values.length > 1)
    return refused("table for several operations of two groups");
  return notANumber(values, ["show"]);
}

const faultsOfRecords = (show: Tile["show"]): TileFault[] =>
  show === "number"
    ? [{ path: ["show"], expected: "line, bar or table for records; aggregate answers numbers" }]
    : [];

const numbers: readonly Column["type"][] = ["integer", "decimal", "float"];

const notANumber = (columns: readonly TileColumn[], path: TileFault["path"]): TileFault[] =>
  columns
    .filter(({ type }) => !numbers.includes(type))
    .map(({ name, type }) => ({ path, expected: `numbers to draw; ${name} is a ${type}` }));
