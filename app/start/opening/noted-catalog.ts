/** A catalog that records what the database said of its tables, to find out later whether they have changed. */
import { hash } from "node:crypto";
import type { Catalog } from "../../../core/plans/database-catalog.ts";

export interface NotedCatalog {
  readonly catalog: Catalog;
  /** A text that is equal for equal tables and queries, independent of the order of the questions. */
  shape(): string;
}

/** Records the answers of `catalog` about tables and queries. */
export function noted(catalog: Catalog): NotedCatalog {
  const answers = new Map<string, string>();

  async function note<Answer>(question: unknown, asked: Promise<Answer>): Promise<Answer> {
    const key = textOf(question);
    try {
      const answer = await asked;
      answers.set(key, textOf(answer));
      return answer;
    } catch (error) {
      answers.set(key, String(error));
      throw error;
    }
  }

  const asked = catalog.together();
  const notes: Catalog = {
    ...catalog,
    together: () => notes,
    table: (name) => note(["table", name], asked.table(name)),
    referencesTo: ({ schema, name }) =>
      note(["referencesTo", schema, name], asked.referencesTo({ schema, name })),
    query: (text) => note(["query", text], catalog.query(text)),
    parameterQuery: (texts, parameters) =>
      note(["parameterQuery", texts, parameters], catalog.parameterQuery(texts, parameters)),
    routines: (name) => note(["routines", name], asked.routines(name)),
  };
  return {
    catalog: notes,
    shape() {
      const sorted = [...answers].toSorted(([a], [b]) => (a < b ? -1 : 1));
      return hash("sha256", JSON.stringify(sorted));
    },
  };
}

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_name, one: unknown) => {
    if (one instanceof Map || one instanceof Set) return [...one];
    return typeof one === "bigint" ? String(one) : one;
  }) ?? "";
