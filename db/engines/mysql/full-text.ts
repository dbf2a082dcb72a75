/**
 * Full-text search of MySQL and MariaDB: a FULLTEXT index of InnoDB in boolean mode. It holds neither short words nor,
 * perhaps, stop words, and some servers find no phrase with them: such words, and phrases, are compared with the text
 * of the rows that the other words find.
 */
import { quoted, quotedTable } from "../../statements/quoted.ts";
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Table } from "../../../core/values/types/column.ts";
import {
  type TextIndexAnswer,
  textIndexOf,
  type TextIndexWish,
  type TextSearch,
  type TextTerm,
} from "../../../core/values/types/text-index.ts";
import type { FullText, PrintedSearch } from "../../statements/dialect.ts";
import { indexName } from "../advised-index.ts";
import { type Connection, rowsFor } from "../engine.ts";

export async function findTextIndex(
  connection: Connection,
  table: Table,
  { columns }: TextIndexWish,
): Promise<TextIndexAnswer> {
  const place = [table.schema, table.name];
  const [facts] = await rowsFor(connection, tableQuery, place);
  if (String(facts?.["engine"]).toLowerCase() !== "innodb")
    return { expected: "a table of the storage engine InnoDB" };
  const names = columns.map(({ name }) => name);
  const collations = (await rowsFor(connection, columnsQuery, place))
    .filter(({ name }) => names.includes(String(name)))
    .map(({ collation }) => String(collation));
  // The index compares as they do.
  if (new Set(collations).size > 1 || collations.some((name) => !/_ci$/i.test(name)))
    return {
      expected: `columns of one collation that ignores case, such as utf8mb4_unicode_ci; they have ${[...new Set(collations)].join(" and ")}`,
    };
  const indexes = Map.groupBy(await rowsFor(connection, indexesQuery, place), ({ name }) =>
    String(name),
  );
  const isWanted = (parts: readonly { column_name?: unknown }[]): boolean =>
    parts.length === names.length &&
    parts.every((part) => names.includes(String(part.column_name)));
  const lengths = { shortest: Number(facts!["shortest"]), longest: Number(facts!["longest"]) };
  if ([...indexes.values()].some(isWanted)) return { index: textIndexOf(columns, lengths) };
  const name = indexName({ table, column: columns[0]!, others: columns.slice(1) }, "fulltext");
  const listed = names.map((column) => quoted(column, "`")).join(", ");
  return {
    statements: [
      "set session innodb_ft_enable_stopword = off",
      `create fulltext index ${name} on ${quotedTable(table, "`")} (${listed})`,
    ],
  };
}

export const fullText: FullText = {
  key: (search) => {
    const { found, excluded, met, missed } = partsOf(search);
    return `${found === "" ? "" : "f"}${excluded === "" ? "" : "x"}${met.length},${missed.length}`;
  },
  values(search) {
    const { found, excluded, met, missed } = partsOf(search);
    const patterns = [...met, ...missed].flatMap((pattern) =>
      search.index.columns.map(() => pattern),
    );
    return [...[found, excluded].filter((text) => text !== ""), ...patterns];
  },
  matches(printed) {
    const { found, excluded, met } = partsOf(printed.search);
    const values = [...printed.values];
    const against = (): SQL => againstIndex(printed, values.shift()!);
    const conditions: SQL[] = [];
    if (found !== "") conditions.push(against());
    if (excluded !== "") conditions.push(sql`not ${against()}`);
    const { columns } = printed.search.index;
    for (let at = 0; values.length > 0; at++) {
      const tests = columns.map(
        (column) => sql`coalesce(${printed.name(column)}, '') regexp ${values.shift()!}`,
      );
      const test = sql`(${sql.join(tests, sql` or `)})`;
      conditions.push(at < met.length ? test : sql`not ${test}`);
    }
    return sql.join(conditions, sql` and `);
  },
  rank: {
    values: (search) => [partsOf(search).found].filter((text) => text !== ""),
    // A number alone would be the number of a column.
    print: (printed) =>
      printed.values.length === 0 ? sql`(0 + 0)` : againstIndex(printed, printed.values[0]!),
  },
};

/** The columns in any order are those of the index. */
const againstIndex = ({ search: { index }, name }: PrintedSearch, value: SQL): SQL =>
  sql`match (${sql.join(index.columns.map(name), sql`, `)}) against (${value} in boolean mode)`;

interface Parts {
  /** For the index: words that all occur, and words of which none does. */
  readonly found: string;
  readonly excluded: string;
  /** Patterns of the text: those that it meets, and those that it does not. */
  readonly met: readonly string[];
  readonly missed: readonly string[];
}

function partsOf({ index, terms }: TextSearch): Parts {
  const isWhole = (term: TextTerm): boolean =>
    term.words.length === 1 && indexed(term, index).length === 1;
  const [negated, wanted] = [true, false].map((is) => terms.filter((one) => one.isNegated === is));
  return {
    found: [...new Set(wanted!.flatMap((term) => indexed(term, index)))]
      .map((word) => `+${word}`)
      .join(" "),
    excluded: negated!
      .filter(isWhole)
      .flatMap((term) => indexed(term, index))
      .join(" "),
    met: wanted!.filter((term) => !isWhole(term)).map(patternOf),
    missed: negated!.filter((term) => !isWhole(term)).map(patternOf),
  };
}

/** The words of the term that the index is sure to hold, as boolean mode takes them. */
function indexed(
  { words, isPrefix }: TextTerm,
  { parts: { shortest, longest } }: TextSearch["index"],
): string[] {
  // To the server an underscore is a letter; the text may have another character there.
  if (words.some((word) => word.includes("_"))) return [];
  return words.flatMap((word, at) => {
    const isOpen = isPrefix && at === words.length - 1;
    const letters = [...word].length;
    const isStop = stopWords.some((stop) =>
      isOpen ? stop.startsWith(word.toLowerCase()) : stop === word.toLowerCase(),
    );
    if (letters < Number(shortest) || letters > Number(longest) || isStop) return [];
    return [isOpen ? `${word}*` : word];
  });
}

/** Words behind one another, with anything but letters and digits between them. */
function patternOf({ words, isPrefix }: TextTerm): string {
  const parts = words.flatMap((word) => word.split("_").filter((part) => part !== ""));
  const end = isPrefix ? "" : String.raw`(?![\p{L}\p{N}\p{M}])`;
  return String.raw`(?i)(?<![\p{L}\p{N}\p{M}])${parts.join(String.raw`[^\p{L}\p{N}\p{M}]+`)}${end}`;
}

/** The server's own list, which an index has or not, depending on the session that made it. */
const stopWords =
  "a about an are as at be by com de en for from how i in is it la of on or that the this to was what when where who will with und the www".split(
    " ",
  );

const tableQuery = `
  select ENGINE as engine, @@innodb_ft_min_token_size as shortest, @@innodb_ft_max_token_size as longest
  from information_schema.TABLES where TABLE_SCHEMA = coalesce(?, database()) and TABLE_NAME = ?`;

const columnsQuery = `
  select COLUMN_NAME as name, COLLATION_NAME as collation from information_schema.COLUMNS
  where TABLE_SCHEMA = coalesce(?, database()) and TABLE_NAME = ?`;

const indexesQuery = `
  select INDEX_NAME as name, COLUMN_NAME as column_name from information_schema.STATISTICS
  where TABLE_SCHEMA = coalesce(?, database()) and TABLE_NAME = ? and INDEX_TYPE = 'FULLTEXT'`;
