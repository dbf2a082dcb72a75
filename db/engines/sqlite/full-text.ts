/**
 * Full-text search of SQLite: tables of FTS5 that index the rows of another table, which triggers keep up to date. One
 * has the words as they are; for English, a second one has their stems, in which single words are looked up.
 */
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
import { quoted } from "../../statements/quoted.ts";
import { type Connection, rowsFor } from "../engine.ts";

export async function findTextIndex(
  connection: Connection,
  table: Table,
  { columns, language }: TextIndexWish,
): Promise<TextIndexAnswer> {
  const names = columns.map(({ name }) => name);
  const own = names.find((name) => /^(rank|rowid)$/i.test(name));
  if (own !== undefined)
    return { expected: `columns that SQLite takes into an index: ${own} is a name of its own` };
  const [found] = await rowsFor(connection, tableQuery, [table.schema ?? "main", table.name]);
  if (found === undefined || Number(found["wr"]) === 1)
    return { expected: "a table with rowids: this one is declared WITHOUT ROWID" };
  const schema = `${quoted(table.schema ?? "main")}.sqlite_schema`;
  const virtual = await rowsFor(connection, virtualQuery(schema));
  const triggers = await rowsFor(connection, triggersQuery(schema), [table.name]);
  const number = rowNumber(table);
  const known = virtual
    .map(({ name, sql: text }) => readDefinition(String(name), String(text)))
    .filter(({ content }) => content.toLowerCase() === table.name.toLowerCase());
  const indexes = known.filter(
    (index) =>
      sameNames(index.columns, names) &&
      isRowNumber(index.rowNumber, number) &&
      writes.every((write) =>
        triggers.some(({ sql: trigger }) => isKeptBy(String(trigger), write, index.name)),
      ),
  );
  const exact = indexes.find(({ isStemmed }) => !isStemmed);
  const stemmed = language === "english" ? indexes.find(({ isStemmed }) => isStemmed) : exact;
  if (exact !== undefined && stemmed !== undefined)
    return { index: textIndexOf(columns, { exact: exact.name, stemmed: stemmed.name, number }) };
  const taken = [...known, ...triggers].map(({ name }) => String(name).toLowerCase());
  const missing = [
    ...(exact === undefined ? ["simple"] : []),
    ...(stemmed === undefined && language === "english" ? [language] : []),
  ];
  return {
    statements: missing.flatMap((one) => creation(table, { names, language: one, number, taken })),
  };
}

export const fullText: FullText = {
  key: (search) =>
    partsOf(search)
      .map(({ place, isNegated }) => place[isNegated ? 1 : 0])
      .join(""),
  values: (search) => partsOf(search).map(({ query }) => query),
  matches: (printed) =>
    sql.join(
      partsOf(printed.search).map(({ place, isNegated }, at) => {
        const table = indexNamed(printed, place);
        const rows = sql`(select rowid from ${table} where ${table} match ${printed.values[at]!})`;
        return sql`${rowOf(printed)} ${sql.raw(isNegated ? "not in" : "in")} ${rows}`;
      }),
      sql` and `,
    ),
  rank: {
    values: (search) => wanted(search).map(({ query }) => query),
    // The limit keeps the inner query from being run once for each row.
    print: (printed) =>
      sql`(0 - ${sql.join(
        wanted(printed.search).map(({ place }, at) => {
          const table = indexNamed(printed, place);
          const ranks = sql`(select rowid as place, rank as score from ${table} where ${table} match ${printed.values[at]!} limit -1)`;
          return sql`(select score from ${ranks} as ranks where ranks.place = ${rowOf(printed)})`;
        }),
        sql` - `,
      )})`,
  },
};

type Place = "exact" | "stemmed";

interface Part {
  readonly place: Place;
  readonly isNegated: boolean;
  readonly query: string;
}

/** At most four: what all must be in one of the tables, and what none may be. */
function partsOf({ index: { parts }, terms }: TextSearch): readonly Part[] {
  const placeOf = ({ words, isPrefix }: TextTerm): Place =>
    parts["exact"] !== parts["stemmed"] &&
    words.length === 1 &&
    !isPrefix &&
    !words[0]!.includes("_")
      ? "stemmed"
      : "exact";
  return [false, true].flatMap((isNegated) =>
    (["stemmed", "exact"] as const).flatMap((place): Part[] => {
      const own = terms.filter((term) => term.isNegated === isNegated && placeOf(term) === place);
      const query = own.map(queryOf).join(isNegated ? " OR " : " AND ");
      return own.length === 0 ? [] : [{ place, isNegated, query }];
    }),
  );
}

const wanted = (search: TextSearch): readonly Part[] =>
  partsOf(search).filter(({ isNegated }) => !isNegated);

/** A string of FTS5; the tokenizer splits it as it split the rows. */
const queryOf = ({ words, isPrefix }: TextTerm): string =>
  `"${words.join(" ")}"${isPrefix ? " *" : ""}`;

const indexNamed = ({ search: { index } }: PrintedSearch, place: Place): SQL =>
  sql`${sql.identifier(String(index.parts[place]))}`;

const rowOf = ({ search: { index }, qualifier }: PrintedSearch): SQL =>
  sql`${qualifier}${sql.identifier(String(index.parts["number"]))}`;

const writes = ["insert", "update", "delete"] as const;

const sameNames = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length &&
  left.every((name) => right.some((other) => other.toLowerCase() === name.toLowerCase()));

/** Any of the names of the number, or the column that is it. */
const isRowNumber = (name: string, number: string): boolean =>
  [number.toLowerCase(), "rowid", "oid", "_rowid_", ""].includes(name.toLowerCase());

/** Whether the trigger runs on such writes, and writes to the index. */
function isKeptBy(trigger: string, write: string, index: string): boolean {
  const [head = "", body = ""] = trigger.split(/\bbegin\b/i);
  return (
    new RegExp(String.raw`\b${write}\b[\s\S]*\bon\b`, "i").test(head) &&
    // Another index may have a longer name.
    new RegExp(String.raw`(?<![\w$])${RegExp.escape(index)}(?![\w$])`, "i").test(body)
  );
}

interface Definition {
  readonly name: string;
  readonly columns: readonly string[];
  readonly content: string;
  readonly rowNumber: string;
  readonly isStemmed: boolean;
}

/** The arguments of `using fts5 (…)`: columns, and options as `content='goods'`. */
function readDefinition(name: string, text: string): Definition {
  const written = /\busing\s+fts5\s*\(([\s\S]*)\)/i.exec(text)?.[1] ?? "";
  const args = written.match(/(?:'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|[^,])+/g) ?? [];
  const options = new Map<string, string>();
  const columns: string[] = [];
  for (const arg of args) {
    const option = /^\s*(\w+)\s*=\s*([\s\S]*?)\s*$/.exec(arg);
    if (option) options.set(option[1]!.toLowerCase(), bare(option[2]!));
    // A column that is not indexed has a word behind its name.
    else columns.push(bare(arg.trim()));
  }
  return {
    name,
    columns,
    content: options.get("content") ?? "",
    rowNumber: options.get("content_rowid") ?? "",
    isStemmed: /\bporter\b/i.test(options.get("tokenize") ?? ""),
  };
}

const bare = (text: string): string => {
  const [first = ""] = text;
  const last = first === "[" ? "]" : first;
  if (!`'"\`[`.includes(first) || first === "" || !text.endsWith(last)) return text;
  return text.slice(1, -1).replaceAll(last + last, last);
};

/** The name under which a statement finds the number of a row. */
function rowNumber(table: Table): string {
  const [key, ...others] = table.primaryKey;
  const column = key === undefined ? undefined : table.columns.get(key);
  if (others.length === 0 && column?.generated === "identity") return column.name;
  const taken = new Set([...table.columns.keys()].map((name) => name.toLowerCase()));
  return ["rowid", "_rowid_", "oid"].find((name) => !taken.has(name)) ?? "rowid";
}

interface Wanted {
  readonly names: readonly string[];
  readonly language: string;
  readonly number: string;
  /** Names, in small letters, of the table's triggers and indexes. */
  readonly taken: readonly string[];
}

/** Of one index; instead of what has its name, as where one of its triggers is missing. */
function creation(table: Table, { names, language, number, taken }: Wanted): string[] {
  const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
  const named = (name: string): string => quoted(name);
  const name = [table.name, ...names, "fulltext", language].join("_");
  const index = named(name);
  const stemmer = language === "english" ? "porter " : "";
  const listed = names.map(named).join(", ");
  const options = `content=${literal(table.name)}, content_rowid=${literal(number)}, tokenize='${stemmer}unicode61 remove_diacritics 0'`;
  const values = (row: string): string =>
    [number, ...names].map((column) => `${row}.${named(column)}`).join(", ");
  const added = `  insert into ${index} (rowid, ${listed}) values (${values("new")});`;
  const removed = `  insert into ${index} (${index}, rowid, ${listed}) values ('delete', ${values("old")});`;
  const changed = (table.columns.has(number) ? [number, ...names] : names).map(named).join(", ");
  const triggers = [
    { name: `${name}_insert`, event: "insert", steps: [added] },
    { name: `${name}_delete`, event: "delete", steps: [removed] },
    { name: `${name}_update`, event: `update of ${changed}`, steps: [removed, added] },
  ];
  const isTaken = (one: string): boolean => taken.includes(one.toLowerCase());
  return [
    ...triggers
      .filter((trigger) => isTaken(trigger.name))
      .map((trigger) => `drop trigger if exists ${named(trigger.name)}`),
    ...(isTaken(name) ? [`drop table if exists ${index}`] : []),
    `create virtual table ${index} using fts5 (${listed}, ${options})`,
    ...triggers.map((trigger) =>
      [
        `create trigger ${named(trigger.name)} after ${trigger.event} on ${named(table.name)} begin`,
        ...trigger.steps,
        "end",
      ].join("\n"),
    ),
    `insert into ${index} (${index}) values ('rebuild')`,
  ];
}

const tableQuery = "select wr from pragma_table_list where schema = ? and name = ? collate nocase";

const virtualQuery = (schema: string): string =>
  `select name, sql from ${schema} where type = 'table' and sql like 'create virtual table%' and sql like '%fts5%' order by name`;

const triggersQuery = (schema: string): string =>
  `select name, sql from ${schema} where type = 'trigger' and tbl_name = ? collate nocase`;
