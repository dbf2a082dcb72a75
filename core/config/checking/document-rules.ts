/**
 * Collects formulas and totals from the files of all endpoints, because they are rules of the tables. A second
 * computation of the same column is a fault.
 */
import type { Catalog } from "../../plans/database-catalog.ts";
import {
  type DatabaseCascade,
  type DocumentTables,
  type HeaderTable,
  type HeaderTotal,
  type LinesTable,
  noDocuments,
} from "../../plans/document-tables.ts";
import type { DetailPlan } from "../../plans/composite-plan.ts";
import type { Entity } from "../../plans/entity.ts";
import type { ImportPlan } from "../../plans/import-plan.ts";
import type { WritePlan } from "../../plans/write-plan.ts";
import type { Computation } from "../../query/statement.ts";
import type { Column, Columns, Table } from "../../values/types/column.ts";
import { cascadesTo } from "./cascades.ts";
import type { Survey } from "../compiling/survey.ts";

interface Compiled {
  readonly survey: Survey;
  /** With what soft delete adds to it. */
  readonly entity: Entity;
}

/** While the files are read. */
interface Draft extends LinesTable {
  readonly computed: Computation[];
  readonly headers: DraftHeader[];
}

interface DraftHeader extends HeaderTable {
  readonly totals: HeaderTotal[];
}

/** Adds faults to the surveys. */
export async function documentTables(
  compiled: readonly Compiled[],
  catalog: Catalog,
): Promise<DocumentTables> {
  const lines = new Map<string, Draft>();
  for (const one of compiled)
    for (const [at, detail] of (one.entity.composite?.details ?? []).entries())
      if (detail.computed.length + detail.totals.length > 0)
        addDetail(lines, one, { detail, path: pathOf(one.survey, at) });
  if (lines.size === 0) return noDocuments;
  const documents = new Map<string, { lines: LinesTable; header: HeaderTable }[]>();
  for (const draft of lines.values())
    for (const header of draft.headers) {
      const { identity } = header.table;
      documents.set(identity, [...(documents.get(identity) ?? []), { lines: draft, header }]);
    }
  const tables = [...lines.values()].map(({ table }) => table);
  const cascades = await cascadesTo(tables, { catalog, effects: ["delete", "change"] });
  return { lines, documents, cascades: countingIn(cascades, lines) };
}

/** Without those that change only columns of lines of which no formula or total knows. */
function countingIn(
  cascades: DocumentTables["cascades"],
  lines: DocumentTables["lines"],
): DocumentTables["cascades"] {
  const counts = ({ effect, table, columns }: DatabaseCascade): boolean => {
    if (effect === "delete") return true;
    const changed = new Set(columns.map(({ name }) => name));
    const known = [
      ...countedIn(lines.get(table.identity)),
      ...(cascades.get(table.identity) ?? []).flatMap(({ referenced }) => referenced),
    ];
    return known.some(({ name }) => changed.has(name));
  };
  const some = [...cascades].map(([identity, all]) => [identity, all.filter(counts)] as const);
  return new Map(some.filter(([, all]) => all.length > 0));
}

/** The columns of lines that decide about formulas and totals. */
const countedIn = (lines: LinesTable | undefined): Column[] =>
  lines === undefined
    ? []
    : [
        ...lines.computed.flatMap(({ operands }) => operands),
        ...lines.headers.flatMap(({ foreignKey, totals }) => [
          foreignKey,
          ...totals.flatMap(({ outputs }) =>
            outputs.flatMap(({ column }) =>
              column?.derived?.kind === "formula" ? column.derived.operands : (column ?? []),
            ),
          ),
        ]),
      ];

/** The entity with the rules; bodies need not contain the results of formulas. */
export function withDocuments(entity: Entity, documents: DocumentTables): Entity {
  const { write, insert, importing, composite } = entity;
  const named = (table: Table): ReadonlySet<string> =>
    new Set(documents.lines.get(table.identity)?.computed.map(({ column }) => column.name));
  const filled = <Plan extends Pick<DetailPlan, "table" | "writable">>(plan: Plan): Plan => {
    const names = named(plan.table);
    if (names.size === 0) return plan;
    const columns = [...plan.writable].map(([name, column]) =>
      names.has(name)
        ? ([name, { ...column, hasDefault: true }] as const)
        : ([name, column] as const),
    );
    return { ...plan, writable: new Map(columns) };
  };
  const own = write && filled(write);
  return {
    ...entity,
    documents,
    write: own,
    insert: own ?? (insert && filled(insert)),
    importing: importing && own && importWith(importing, own, named(own.table)),
    composite: composite && {
      ...composite,
      details: composite.details.map(filled),
      writable: withoutTotals(
        composite.writable,
        documents.documents.get(write?.table.identity ?? ""),
      ),
    },
  };
}

/** The totals of all documents with this header, whichever endpoint has them. */
function withoutTotals(
  columns: Columns,
  documents: readonly { readonly header: HeaderTable }[] = [],
): Columns {
  const totals = documents.flatMap(({ header }) => header.totals.map(({ column }) => column.name));
  return new Map([...columns].filter(([name]) => !totals.includes(name)));
}

function importWith(plan: ImportPlan, write: WritePlan, names: ReadonlySet<string>): ImportPlan {
  const needed = plan.constraints.needed.filter(({ name }) => !names.has(name));
  return { ...plan, write, constraints: { ...plan.constraints, needed } };
}

const pathOf = ({ payload: { masterDetail } }: Survey, at: number): (string | number)[] =>
  Array.isArray(masterDetail) ? ["masterDetail", at, "calculation"] : ["calculation"];

function addDetail(
  lines: Map<string, Draft>,
  { survey, entity }: Compiled,
  { detail, path }: { detail: DetailPlan; path: (string | number)[] },
): void {
  const { table, key, computed, marking, foreignKey } = detail;
  const { write } = entity;
  const [headerKey] = write?.key ?? [];
  if (write === null || headerKey === undefined) return;
  const draft = lines.get(table.identity) ?? { table, key, computed: [], marking, headers: [] };
  lines.set(table.identity, draft);
  for (const one of computed) {
    const other = draft.computed.find(({ column }) => column.name === one.column.name);
    if (other === undefined) draft.computed.push(one);
    else if (other.formula.text.trim() !== one.formula.text.trim())
      survey.fault([...path, "detail", one.column.name], {
        expected: `the formula of another endpoint for the same column of ${table.name}: ${other.formula.text}`,
      });
  }
  const isSame = (other: DraftHeader): boolean =>
    other.table.identity === write.table.identity && other.foreignKey.name === foreignKey.name;
  let header = draft.headers.find(isSame);
  if (header === undefined) {
    const { audit } = write;
    header = {
      table: write.table,
      key: headerKey,
      audit,
      marking: entity.marking,
      foreignKey,
      totals: [],
    };
    draft.headers.push(header);
  }
  for (const total of detail.totals) {
    const taken = [...lines.values()].flatMap(({ headers }) =>
      headers.flatMap((other) =>
        other.table.identity === write.table.identity
          ? other.totals
              .filter(({ column }) => column.name === total.column.name)
              .map((one) => ({ one, other }))
          : [],
      ),
    );
    if (taken.length === 0) header.totals.push(total);
    else if (!taken.some(({ one, other }) => other === header && isSameTotal(one, total)))
      survey.fault([...path, "header", total.column.name], {
        expected: `the total of another endpoint for the same column of ${write.table.name}`,
      });
  }
}

const isSameTotal = (one: HeaderTotal, other: HeaderTotal): boolean =>
  one.function === other.function &&
  one.outputs[0]?.column?.name === other.outputs[0]?.column?.name;
