/**
 * Indexes that would speed up requests: searches, the order of drop-downs, references, lines, and sorts by time. The
 * database's planner is asked about the statements that requests send. No advice is given for those that an index
 * serves.
 */
import { compileProject } from "../config/compile-project.ts";
import type { ProjectConfig } from "../config/reading/read-config.ts";
import type { Entity } from "../plans/entity.ts";
import type { Catalog } from "../plans/database-catalog.ts";
import type { Db } from "../plans/db-port.ts";
import type { IndexWish } from "../plans/index-wish.ts";
import { labelMatch } from "../lists/lookup-filter.ts";
import { textMatches } from "../grid/text-match.ts";
import { orderedBy } from "../lists/order.ts";
import {
  type Condition,
  type Count,
  equals,
  type Select,
  type Sort,
  sourceOf,
  selectFrom,
} from "../query/statement.ts";
import type { Column, Table } from "../values/types/column.ts";
import { columnTypes } from "../values/types/column-types.ts";
import { tableNameOf } from "./file-names.ts";
import { AppError } from "../values/errors.ts";
import type { Scalar } from "../values/scalar.ts";

export interface Advice {
  /** Of an endpoint over the table. */
  readonly file: string;
  readonly table: string;
  readonly column: string;
  readonly message: string;
  /** SQL to run, in this order; empty = no index of this database would help. */
  readonly statements: readonly string[];
}

const noIndex = "no index of this database serves that";

/** A request, and the index that it would want. */
interface Request {
  readonly wish: IndexWish;
  readonly statement: Select | Count;
  /** What happens without it: `drop-downs search name, and each search reads the whole table`. */
  readonly message: string;
  /** The advice if no index of the database would help. */
  readonly otherwise?: string;
  /** Where it searches for parts of texts: the columns that a full-text index could have instead. */
  readonly texts?: readonly Column[];
}

/** Tables with fewer rows are read quickly enough as a whole. */
export const smallTableRows = 10_000;

/** Rejects as the database does when it does not answer. */
export async function adviceFor(
  config: ProjectConfig,
  db: Db,
  catalog: Catalog,
): Promise<Advice[]> {
  const found = new Map<string, Advice>();
  const large = new Map<string, Promise<boolean | null>>();
  const { entities } = await compileProject(config, catalog);
  for (const { name, document, payload } of config.endpoints) {
    const entity = entities.get(name);
    const own = payload.tableName === undefined ? null : await catalog.table(payload.tableName);
    if (entity === undefined || own?.kind !== "table") continue;
    const requests = [...requestsOf(entity, own), ...(await relatedRequests(entity, catalog))];
    for (const request of requests) {
      const { table, column, others = [], use } = request.wish;
      const names = [column, ...others].map(({ name }) => name);
      const key = keyOf(table, use, names);
      if (found.has(key)) continue;
      const isLarge = large.get(table.identity) ?? answered(db.isLarger(table, smallTableRows));
      large.set(table.identity, isLarge);
      if ((await isLarge) !== true || (await isServed(request, db))) continue;
      const hasWords = (entity.grid?.fullText ?? entity.read?.fullText ?? null) !== null;
      const own = adviceOf(document.file, request, db);
      // People can search for words already, and nothing else would help.
      if (request.texts !== undefined && hasWords && own.statements.length === 0) continue;
      const advice = hasWords ? own : { ...own, message: own.message + orWords(request) };
      const isTold = advice.statements.length > 0 && isAmong([...found.values()], advice);
      if (isTold) continue;
      found.set(key, advice);
      // An index for texts within the texts of several columns serves searches in each of them.
      if (use === "contains" && advice.statements.length > 0)
        for (const name of names)
          for (const served of [use, "begins"] as const)
            found.set(keyOf(table, served, [name]), advice);
    }
  }
  return [...new Set(found.values())];
}

const keyOf = (table: Table, use: IndexWish["use"], names: readonly string[]): string =>
  JSON.stringify([table.identity, use, ...names]);

/** True without a plan: what the database cannot tell gets no advice. */
async function isServed({ wish, statement }: Request, db: Db): Promise<boolean> {
  const plan = await answered(db.plan(statement));
  return plan === null || !(wish.use === "sorts" ? plan.sortsAll : plan.readsAll);
}

/** Null where the database refuses a statement, as for a foreign table whose server is away. */
const answered = <T>(asked: Promise<T>): Promise<T | null> =>
  asked.catch((error: unknown) => {
    if (error instanceof AppError) throw error;
    return null;
  });

/** One index may serve several requests. */
const isAmong = (told: readonly Advice[], { statements }: Advice): boolean =>
  told.some((one) => one.statements.join() === statements.join());

function adviceOf(file: string, { wish, message, otherwise = noIndex }: Request, db: Db): Advice {
  const statements = db.indexFor(wish) ?? [];
  return {
    file,
    table: wish.table.name,
    column: wish.column.name,
    message: statements.length > 0 ? message : `${message}; ${otherwise}`,
    statements,
  };
}

/** How the endpoint's file lets people search for words in a full-text index instead. */
function orWords({ texts = [] }: Request): string {
  if (texts.length === 0) return "";
  const setting = JSON.stringify({ fulltext: { columns: texts.map(({ name }) => name) } });
  return `; "search": ${setting} in the file would find words through an index`;
}

function requestsOf(entity: Entity, table: Table): Request[] {
  return [
    ...gridRequests(entity, table),
    ...lookupRequests(entity, table),
    ...referenceRequests(table),
    ...detailRequests(entity),
    ...timeRequests(entity, table),
  ];
}

/** Of three letters, which every index of trigrams can use. */
const searched = "abc";

/** Only if the grid shows the table itself. Searches in numbers and dates compare their text, which has no index. */
function gridRequests({ grid, enabled }: Entity, table: Table): Request[] {
  if (grid === null || !enabled.has("datatables")) return [];
  const { source } = grid;
  if (source.kind !== "table" || source.name !== table.name) return [];
  const [column, ...others] = [...grid.columns.values()].filter(
    ({ name, type }) =>
      (grid.searched?.has(name) ?? true) && columnTypes[type].hasText && table.columns.has(name),
  );
  if (column === undefined) return [];
  const names = [column, ...others].map(({ name }) => name).join(", ");
  const areTexts = [column, ...others].every(({ type }) => type === "text");
  const members = [column, ...others].map((each) => textMatches(each, "contains", searched));
  return [
    {
      wish: { table, column, others, use: "contains", order: [] },
      statement: { kind: "count", source, where: { kind: "or", members } },
      message: `grids search in ${names}, and each search reads the whole table`,
      otherwise: areTexts
        ? "no index of this database finds a text within a text"
        : "an index serves only texts: name them in datatablesWhere, without numbers and dates",
      texts: [column, ...others].filter(isPlainText),
    },
  ];
}

const isPlainText = ({ type, labels }: Column): boolean => type === "text" && labels === null;

/** Only where the label is a column of the table itself. */
function lookupRequests({ lookup, enabled }: Entity, table: Table): Request[] {
  if (lookup === null || !enabled.has("lookup")) return [];
  const { text, id, source } = lookup;
  if (text === null || table.columns.get(text.name) === undefined) return [];
  if (text.type !== "text" || source.kind !== "table" || source.name !== table.name) return [];
  const own = [...new Set([text, id])].map((column): Sort => ({ column, direction: "asc" }));
  const sort = orderedBy(own, lookup);
  const requests: Request[] = [
    {
      wish: { table, column: text, use: "sorts", order: sort },
      statement: page(source, [id, text], sort),
      message: `drop-downs are sorted by ${text.name}, and each list sorts the whole table`,
    },
  ];
  if (lookup.ignoresAccents) return requests;
  const use = lookup.matchesPrefix ? "begins" : "contains";
  const where = labelMatch(searched, lookup);
  return [
    {
      wish: { table, column: text, use, order: sort },
      statement: { kind: "count", source, where },
      message: `drop-downs search in ${text.name}, and each search reads the whole table`,
      ...(use === "contains" && { otherwise: orPrefix, texts: [text].filter(isPlainText) }),
    },
    ...requests,
  ];
}

const orPrefix =
  'no index of this database finds a text within a text, but "match": "prefix" in fieldNameLookup could use one';

function referenceRequests(table: Table): Request[] {
  return table.foreignKeys.flatMap(({ columns, referencedTable }) => {
    const column = table.columns.get(columns[0]!);
    if (column === undefined || columns.length !== 1) return [];
    const message = `${column.name} refers to ${referencedTable}, and finding the rows of one of its records reads the whole table`;
    return equalsRequest(table, column, message);
  });
}

function detailRequests({ composite }: Entity): Request[] {
  return (composite?.details ?? []).flatMap(({ table, foreignKey }) =>
    equalsRequest(
      table,
      foreignKey,
      `${foreignKey.name} joins ${table.name} to its header, and reading a document reads the whole table`,
    ),
  );
}

/** The records that each relation to many finds. */
async function relatedRequests({ relations }: Entity, catalog: Catalog): Promise<Request[]> {
  const many = [...relations.values()].filter(({ isMany }) => isMany);
  const found = many.map(async ({ name, steps: [step] }): Promise<Request[]> => {
    const { source, on } = step!;
    const [{ right } = { right: null }, ...others] = on;
    if (source.kind !== "table" || right === null || others.length > 0) return [];
    const table = await catalog.table(tableNameOf(source));
    const column = table?.kind === "table" ? table.columns.get(right.name) : undefined;
    if (!table || !column) return [];
    const message = `the relation ${name} finds records by ${column.name}, and each search reads the whole table`;
    return equalsRequest(table, column, message);
  });
  return (await Promise.all(found)).flat();
}

function equalsRequest(table: Table, column: Column, message: string): Request[] {
  const value = samples[column.type];
  if (value === undefined) return [];
  const where: Condition = equals(column, value);
  const statement: Count = { kind: "count", source: sourceOf(table), where };
  return [{ wish: { table, column, use: "equals", order: [] }, statement, message }];
}

const samples: Readonly<Partial<Record<Column["type"], Scalar>>> = {
  text: searched,
  integer: 1n,
  decimal: "1",
  uuid: "6f1c1a3e-0c5d-4a3f-9d2e-000000000001",
};

/** What people sort lists by most: when something happened. */
function timeRequests({ read }: Entity, table: Table): Request[] {
  if (read === null || read.source.kind !== "table" || read.source.name !== table.name) return [];
  return [...read.columns.values()].flatMap((column): Request[] => {
    if (column.type !== "timestamp" && column.type !== "date") return [];
    const sort = orderedBy([{ column, direction: "desc" }], read);
    return [
      {
        wish: { table, column, use: "sorts", order: sort },
        statement: page(read.source, [column], sort),
        message: `lists with the last ${column.name} first are likely, and each of their pages sorts the whole table`,
      },
    ];
  });
}

const page = (source: Select["source"], columns: readonly Column[], sort: Select["sort"]): Select =>
  selectFrom(source, { columns, sort, limit: 26 });
