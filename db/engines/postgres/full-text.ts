/**
 * Full-text search of PostgreSQL: a tsvector of the columns' words as they are, and of their stems in the language,
 * which have another weight. Phrases are looked up among the words, single words among both: then stop words, which
 * have no stem, are found too. The vector is that of an index over an expression, or a generated column with an index.
 */
import { quoted, quotedTable } from "../../statements/quoted.ts";
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column, Table } from "../../../core/values/types/column.ts";
import {
  type TextIndexAnswer,
  textIndexOf,
  type TextIndexWish,
  type TextSearch,
  type TextTerm,
} from "../../../core/values/types/text-index.ts";
import type { FullText } from "../../statements/dialect.ts";
import { indexName } from "../advised-index.ts";
import { type Connection, rowsFor } from "../engine.ts";
import type { Folding } from "./like.ts";

type Parts = TextSearch["index"]["parts"];

/**
 * `folding`: as in `dialect.ts`. A tsvector is in the small letters of the database's collation; where this one knows
 * only ASCII, as C does, the texts are folded before.
 */
export async function findTextIndex(
  connection: Connection,
  table: Table,
  { columns, language }: TextIndexWish,
  folding: Folding | null,
): Promise<TextIndexAnswer> {
  const [known] = await rowsFor(connection, languageQuery, [language]);
  if (known === undefined)
    return {
      expected: `a language of this server: it has no text search configuration ${language}`,
    };
  const parts: Parts = {
    language,
    ...(folding !== null && !folding.isCommon && { folding: folding.collation }),
  };
  const vector = vectorText(columns, parts);
  const wanted = comparableText(vector);
  const place = quotedTable(table, '"');
  const rows = await rowsFor(connection, indexesQuery, [place]);
  const found = rows.filter(({ expression }) => comparableText(String(expression)) === wanted);
  const stored = found.find(({ column }) => column !== null);
  if (stored !== undefined)
    return { index: textIndexOf(columns, { ...parts, column: String(stored["column"]) }) };
  if (found.length > 0) return { index: textIndexOf(columns, parts) };
  const wish = { table, column: columns[0]!, others: columns.slice(1) };
  const name = indexName(wish, `fulltext_${language}`);
  const isTaken = (await rowsFor(connection, nameQuery, [place, name])).length > 0;
  const named = quotedTable({ ...table, name }, '"');
  return {
    statements: [
      // With another expression, or left invalid when its creation was interrupted.
      ...(isTaken ? [`drop index concurrently if exists ${named}`] : []),
      `create index concurrently ${name} on ${place} using gin ((${vector}))`,
    ],
  };
}

export const fullText: FullText = {
  key: ({ index, terms }) => terms.map((term) => formOf(term, index.parts)).join(""),
  values: (search) => search.terms.map((term) => valueOf(search, term)),
  matches: (printed) => {
    const { search, values } = printed;
    return sql`${vectorOf(search, printed.name)} @@ (${queryOf(search, values)})`;
  },
  rank: {
    values: (search) => wanted(search).map((term) => valueOf(search, term)),
    print({ search, values, name }) {
      const positive = { ...search, terms: wanted(search) };
      const score = sql`${vectorOf(search, name)}, ${queryOf(positive, values)}`;
      return sql`ts_rank('{0.1, 0.1, 0.1, 0.1}', ${score})`;
    },
  },
};

const wanted = ({ terms }: TextSearch): readonly TextTerm[] =>
  terms.filter(({ isNegated }) => !isNegated);

/** `w`: one word, in any inflection. `p`: words as they are, the last of which may be the beginning of one. */
type Form = "w" | "p" | "W" | "P";

function formOf({ words, isPrefix, isNegated }: TextTerm, { language }: Parts): Form {
  const isWord = words.length === 1 && !words[0]!.includes("_") && !isPrefix;
  const form = isWord && language !== "simple" ? "w" : "p";
  return isNegated ? (form.toUpperCase() as Form) : form;
}

/** The text of a tsquery, but for a word in any inflection. The parser takes an underscore as a blank. */
function valueOf({ index: { parts } }: TextSearch, term: TextTerm): string {
  if (formOf(term, parts).toLowerCase() === "w") return term.words[0]!;
  const words = term.words.flatMap((word) => word.split("_").filter((part) => part !== ""));
  // An index has no weights: a single beginning with one would be compared with the text of each row.
  const weight = words.length > 1 ? "D" : "";
  return words
    .map((word, at) => {
      const prefix = term.isPrefix && at === words.length - 1 ? "*" : "";
      return `'${word}'${prefix + weight && `:${prefix}${weight}`}`;
    })
    .join(" <-> ");
}

const queryOf = ({ index: { parts }, terms }: TextSearch, values: readonly SQL[]): SQL =>
  sql.join(
    terms.map((term, at) => {
      const query = termQuery(formOf({ ...term, isNegated: false }, parts), parts, values[at]!);
      return term.isNegated ? sql`(!!${query})` : query;
    }),
    sql` && `,
  );

function termQuery(form: Form, parts: Parts, value: SQL): SQL {
  const { language } = parts;
  const text = folded(sql`${value}::text`, parts);
  if (form === "p") return sql`to_tsquery('simple', ${text})`;
  const stem = sql`plainto_tsquery(${sql.raw(`'${language}'`)}, ${text})`;
  return sql`(${stem} || plainto_tsquery('simple', ${text}))`;
}

const vectorOf = ({ index: { columns, parts } }: TextSearch, name: (column: Column) => SQL): SQL =>
  parts["column"] === undefined
    ? sql`(${vectorTerm(columns, parts, name)})`
    : sql`"source".${sql.identifier(String(parts["column"]))}`;

/** Must be printed as in the index, which serves no other expression. */
function vectorTerm(columns: readonly Column[], parts: Parts, name: (column: Column) => SQL): SQL {
  const { language } = parts;
  const texts = columns.map(
    (column) =>
      sql`translate(coalesce(${folded(name(column), parts)}, ''), ${punctuation}, repeat(' ', 32))`,
  );
  const words = texts.map((text) => sql`to_tsvector('simple', ${text})`);
  // With the weight of words, the stems would be part of phrases.
  const stems = texts.map(
    (text) => sql`setweight(to_tsvector(${sql.raw(`'${language}'`)}, ${text}), 'C')`,
  );
  return sql.join([sql.join(words, between), ...(language === "simple" ? [] : stems)], sql` || `);
}

const folded = (text: SQL, { folding }: Parts): SQL =>
  folding === undefined ? text : sql`lower(${text} collate ${sql.raw(String(folding))})`;

/** A position that no word has, so that no phrase goes from one column into the next. */
const between = sql.raw(" || '''|'':1'::tsvector || ");

/** Within words, the parser would take it for a part of addresses, numbers and compounds. */
const punctuation = sql.raw(
  `'${String.raw`!"#$%&'()*+,-./:;<=>?@[\]^_{|}~`.replaceAll("'", "''")}\`'`,
);

function vectorText(columns: readonly Column[], parts: Parts): string {
  const term = vectorTerm(columns, parts, ({ name }) => sql.raw(quoted(name, '"')));
  return term.toQuery({
    casing: undefined as never,
    escapeName: (name) => quoted(name, '"'),
    escapeParam: () => "",
    escapeString: (text) => text,
  }).sql;
}

/** Without what the server adds when it shows an expression: casts, brackets, quotes around names. */
const comparableText = (text: string): string =>
  text
    .replace(/\s+/g, "")
    .replace(/::(?:text|charactervarying|bpchar|character|"char"|regconfig|tsvector)/g, "")
    .replace(/[()"]/g, "")
    .toLowerCase();

const languageQuery = `
  select 1 from pg_catalog.pg_ts_config c where c.cfgname = $1 and pg_catalog.pg_ts_config_is_visible(c.oid)`;

const nameQuery = `
  select 1 from pg_catalog.pg_index i join pg_catalog.pg_class c on c.oid = i.indexrelid
  where i.indrelid = $1::text::regclass and c.relname = $2`;

/** Of each indexed expression its text; of each indexed generated column that of the expression which makes it. */
const indexesQuery = `
  select a.attname as "column",
    case when i.indkey[k - 1] = 0 then pg_catalog.pg_get_indexdef(i.indexrelid, k, true)
      else pg_catalog.pg_get_expr(d.adbin, d.adrelid) end as expression
  from pg_catalog.pg_index i
    join pg_catalog.pg_class c on c.oid = i.indexrelid
    join pg_catalog.pg_am m on m.oid = c.relam and m.amname in ('gin', 'gist')
    cross join generate_series(1, i.indnkeyatts) k
    left join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[k - 1] and i.indkey[k - 1] > 0
      and a.attgenerated <> ''
    left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where i.indrelid = $1::text::regclass and i.indisvalid and i.indpred is null
    and (i.indkey[k - 1] = 0 or a.attnum is not null)
  order by i.indexrelid`;
