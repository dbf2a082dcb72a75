/** The full-text index that an endpoint's `search.fulltext` asks for. The database has it, or the start ends. */
import type { TextIndex } from "../../values/types/text-index.ts";
import type { Column, Columns, Table } from "../../values/types/column.ts";
import { columnTypes } from "../../values/types/column-types.ts";
import type { Reading } from "./plans.ts";
import type { FoundQuery, Survey } from "./survey.ts";

/** What is searched: the index where the table itself is read, else null. */
export interface TextIndexes {
  /** By read and lookup. */
  readonly ofReads: TextIndex | null;
  readonly ofGrid: TextIndex | null;
}

interface Sources {
  readonly table: Table | null;
  /** The columns of the table that answers show. */
  readonly shown: Columns;
  readonly reading: Reading | null;
  /** The grid's own. */
  readonly query: FoundQuery | null | undefined;
}

/** Adds a fault if no action reads the table, or the table has no such index. */
export async function textIndexesFor(survey: Survey, sources: Sources): Promise<TextIndexes> {
  const { reading, query } = sources;
  const index = await textIndexFor(survey, sources);
  return {
    ofReads: reading?.property === "tableName" ? index : null,
    ofGrid: query === undefined ? index : null,
  };
}

async function textIndexFor(
  survey: Survey,
  { table, shown, reading, query }: Sources,
): Promise<TextIndex | null> {
  const asked = survey.payload.search?.fulltext;
  if (asked === undefined) return null;
  const path = ["search", "fulltext"];
  const isRead = reading?.property === "tableName" || query === undefined;
  if (table?.kind !== "table" || !isRead) {
    // A table that is not found has a fault of its own.
    if (table !== null || survey.payload.tableName === undefined)
      survey.fault(path, {
        found: table?.kind === "table" ? "other sources" : "no table",
        expected:
          "a tableName that read, lookup or datatables read: only tables have such an index",
      });
    return null;
  }
  const columns = asked.columns.flatMap((name, at) => {
    const place = [...path, "columns", at];
    if (!table.columns.has(name) && name.includes(".")) {
      survey.fault(place, {
        found: JSON.stringify(name),
        expected: "a column of the table itself: its index holds nothing of related records",
      });
      return [];
    }
    const column = survey.column(name, table.columns, place, `the table ${table.name}`);
    const expected = column && unfitness(column, shown, asked.columns.indexOf(name) < at);
    if (expected !== null) survey.fault(place, { found: JSON.stringify(name), expected });
    return column === null || expected !== null ? [] : column;
  });
  if (columns.length < asked.columns.length) return null;
  const answer = await survey.textIndex(table, { columns, language: asked.language });
  if ("index" in answer) return answer.index;
  if ("expected" in answer) survey.fault(path, { expected: answer.expected });
  else
    survey.fault(path, {
      found: `a table ${table.name} without it`,
      expected: `a full-text index on ${asked.columns.join(", ")}`,
      hint: `create it with these statements:\n\n${answer.statements.map((text) => `${text};`).join("\n")}\n`,
    });
  return null;
}

function unfitness(column: Column, shown: Columns, isTwice: boolean): string | null {
  if (isTwice) return "each column once";
  if (!columnTypes[column.type].isText || column.labels !== null) return "a column of texts";
  return shown.has(column.name) ? null : "a column that answers show";
}
