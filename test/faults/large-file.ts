/** A SQLite file with large tables, its configuration, and requests for minutes. Also for `bench/long-reads.ts`. */
import Database from "better-sqlite3";

/** Creates the tables in the file, which exists, and fills each of the two large ones with the rows. */
export function fillLargeFile(path: string, rows: number): void {
  const database = new Database(path);
  database.pragma("journal_mode = WAL");
  database.exec(`
    create table facts (id integer primary key, kind integer not null, name varchar(100), amount integer);
    create table lines (id integer primary key, kind integer not null, note varchar(100));
    create table kinds (id integer primary key, label varchar(100));
    begin;
    insert into facts
      with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows})
      select i, i % 23, 'Fact number ' || i, i % 1009 from n;
    insert into lines select id, kind, 'Line ' || id from facts;
    insert into kinds select distinct kind, 'Kind ' || kind from facts;
    commit`);
  database.close();
}

const action = { read: true, first: true, aggregate: true, create: true, export: true };
/** Each row of one table with all of its kind in the other one, in an order that needs all of them. */
const slow =
  "select f.id, l.note from facts f join lines l on l.kind = f.kind order by l.note, f.name";

/** `more`: further properties of the project. */
export const largeFiles = (
  url: string,
  { database, ...more }: { database?: object } & Record<string, unknown> = {},
): Readonly<Record<string, object>> => ({
  "project.json": { database: { url, ...database }, cache: { enabled: false }, ...more },
  "facts.json": { tableName: "facts", action },
  "lines.json": { tableName: "lines", action },
  "kinds.json": { tableName: "kinds", action },
  "slow.json": { tableName: "facts", viewQuery: slow, exportQuery: slow, action },
});

/** Of `facts`: 1.7 thousand million pairs where each table has 200,000 rows. */
export const worstJoin = {
  joins: [
    {
      tableName: "lines",
      joinType: "INNER",
      sourceField: "kind",
      targetField: "kind",
      fields: ["note"],
    },
  ],
  operations: [{ function: "count", field: "lines.note", alias: "notes" }],
};
