/**
 * Chinook, Sakila and Northwind: the tables, keys and foreign keys of three sample databases that many people know,
 * with generated rows. A line is a table, its number of rows, and its columns: `+` marks those of the key, `!` those that
 * are never null, and `> table` a reference to its key. A stamp is filled by the database: by a default, or by triggers where
 * these schemas have none on SQLite. Pictures and geometry are left out.
 */
import type { EngineName } from "../servers/session.ts";

const chinook = `
Artist 12: ArtistId+ int, Name text(120)
Album 25: AlbumId+ int, Title text(160)!, ArtistId int! > Artist
Employee 8: EmployeeId+ int, LastName text(20)!, FirstName text(20)!, Title text(30), ReportsTo int > Employee, BirthDate timestamp, HireDate timestamp, City text(40), Country text(40)
Customer 20: CustomerId+ int, FirstName text(40)!, LastName text(20)!, Company text(80), City text(40), Country text(40), Email text(60)!, SupportRepId int > Employee
Genre 6: GenreId+ int, Name text(120)
MediaType 4: MediaTypeId+ int, Name text(120)
Playlist 6: PlaylistId+ int, Name text(120)
Track 90: TrackId+ int, Name text(200)!, AlbumId int > Album, MediaTypeId int! > MediaType, GenreId int > Genre, Composer text(220), Milliseconds int!, Bytes int, UnitPrice decimal(10,2)!
Invoice 50: InvoiceId+ int, CustomerId int! > Customer, InvoiceDate timestamp!, BillingCity text(40), BillingCountry text(40), Total decimal(10,2)!
InvoiceLine 120: InvoiceLineId+ int, InvoiceId int! > Invoice, TrackId int! > Track, UnitPrice decimal(10,2)!, Quantity int!
PlaylistTrack 80: PlaylistId+ int > Playlist, TrackId+ int > Track
`;

const sakila = `
actor 15: actor_id+ int, first_name text(45)!, last_name text(45)!, last_update stamp!
country 5: country_id+ int, country text(50)!, last_update stamp!
city 12: city_id+ int, city text(50)!, country_id int! > country, last_update stamp!
address 20: address_id+ int, address text(50)!, address2 text(50), district text(20)!, city_id int! > city, postal_code text(10), phone text(20)!, last_update stamp!
category 6: category_id+ int, name text(25)!, last_update stamp!
language 4: language_id+ int, name text(20)!, last_update stamp!
film 40: film_id+ int, title text(128)!, description text(200), release_year int, language_id int! > language, original_language_id int > language, rental_duration int!, rental_rate decimal(4,2)!, length int, replacement_cost decimal(5,2)!, rating text(10), last_update stamp!
film_actor 90: actor_id+ int > actor, film_id+ int > film, last_update stamp!
film_category 50: film_id+ int > film, category_id+ int > category, last_update stamp!
film_text 20: film_id+ int, title text(255)!, description text(200)
staff 4: staff_id+ int, first_name text(45)!, last_name text(45)!, address_id int! > address, email text(50), store_id int! > store, active bool!, username text(16)!, password text(40), last_update stamp!
store 2: store_id+ int, manager_staff_id int! > staff, address_id int! > address, last_update stamp!
customer 30: customer_id+ int, store_id int! > store, first_name text(45)!, last_name text(45)!, email text(50), address_id int! > address, active bool!, create_date timestamp!, last_update stamp
inventory 60: inventory_id+ int, film_id int! > film, store_id int! > store, last_update stamp!
rental 100: rental_id+ int, rental_date timestamp!, inventory_id int! > inventory, customer_id int! > customer, return_date timestamp, staff_id int! > staff, last_update stamp!
payment 120: payment_id+ int, customer_id int! > customer, staff_id int! > staff, rental_id int > rental, amount decimal(5,2)!, payment_date timestamp!, last_update stamp
`;

const northwind = `
Categories 6: CategoryID+ int, CategoryName text(15)!, Description text(200)
CustomerDemographics 4: CustomerTypeID+ text(10), CustomerDesc text(200)
Customers 20: CustomerID+ text(5), CompanyName text(40)!, ContactName text(30), ContactTitle text(30), City text(15), Region text(15), Country text(15), Phone text(24)
CustomerCustomerDemo 30: CustomerID+ text(5) > Customers, CustomerTypeID+ text(10) > CustomerDemographics
Region 4: RegionID+ int, RegionDescription text(50)!
Territories 12: TerritoryID+ text(20), TerritoryDescription text(50)!, RegionID int! > Region
Employees 9: EmployeeID+ int, LastName text(20)!, FirstName text(10)!, Title text(30), BirthDate date, HireDate date, City text(15), Country text(15), ReportsTo int > Employees
EmployeeTerritories 30: EmployeeID+ int > Employees, TerritoryID+ text(20) > Territories
Suppliers 8: SupplierID+ int, CompanyName text(40)!, ContactName text(30), City text(15), Country text(15)
Shippers 3: ShipperID+ int, CompanyName text(40)!, Phone text(24)
Products 30: ProductID+ int, ProductName text(40)!, SupplierID int > Suppliers, CategoryID int > Categories, QuantityPerUnit text(20), UnitPrice decimal(10,2), UnitsInStock int, Discontinued bool!
Orders 60: OrderID+ int, CustomerID text(5) > Customers, EmployeeID int > Employees, OrderDate date, RequiredDate date, ShippedDate date, ShipVia int > Shippers, Freight decimal(10,2), ShipName text(40), ShipCity text(15)
Order Details 130: OrderID+ int > Orders, ProductID+ int > Products, UnitPrice decimal(10,2)!, Quantity int!, Discount decimal(4,2)!
`;

/** Where all that is random comes from: the same for the same seed. */
export interface Random {
  /** A whole number from 0. */
  below(limit: number): number;
  chance(share: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** Some of the list, in its order; at least one. */
  some<T>(list: readonly T[]): readonly T[];
}

export function randomFrom(seed: number): Random {
  let state = seed;
  // mulberry32
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
  return {
    below,
    pick,
    chance: (share) => next() < share,
    some: (list) => {
      const found = list.filter(() => next() < 0.3);
      return found.length > 0 ? found : [pick(list)];
    },
  };
}

export const knownSchemas = { chinook, sakila, northwind } as const;

export type ColumnKind = "int" | "text" | "decimal" | "date" | "timestamp" | "bool";
export type Value = string | number | boolean | null;

export interface KnownColumn {
  readonly name: string;
  readonly kind: ColumnKind;
  /** As the line has it: `text(20)`. */
  readonly type: string;
  readonly isKey: boolean;
  readonly isNullable: boolean;
  /** The table to whose key it refers. */
  readonly refersTo: string | null;
}

export interface KnownTable {
  readonly name: string;
  readonly columns: readonly KnownColumn[];
  readonly key: readonly KnownColumn[];
  readonly size: number;
  rows: readonly Readonly<Record<string, Value>>[];
}

const columnForm = /^(\S+?)(\+?) (\w+)(\([\d,]+\))?(!?)(?: > (.+))?$/;

/** The tables of a schema, with rows. */
export function tablesOf(schema: string, random: Random): readonly KnownTable[] {
  const tables = schema.trim().split("\n").map(tableOf);
  const byName = new Map(tables.map((table) => [table.name, table]));
  for (const table of tables) table.rows = rowsOf(table, byName, random);
  return tables;
}

function tableOf(line: string): KnownTable {
  const [, name, size, rest] = /^(.+) (\d+): (.+)$/.exec(line)!;
  const columns = rest!.split(", ").map((text): KnownColumn => {
    const [, column, plus, kind, length = "", bang, refersTo = null] = columnForm.exec(text)!;
    return {
      name: column!,
      kind: kind === "stamp" ? "timestamp" : (kind as ColumnKind),
      type: `${kind}${length}`,
      isKey: plus === "+",
      isNullable: plus === "" && bang === "",
      refersTo,
    };
  });
  const key = columns.filter(({ isKey }) => isKey);
  return { name: name!, columns, key, size: Number(size), rows: [] };
}

function rowsOf(
  { columns, key, size }: KnownTable,
  tables: ReadonlyMap<string, KnownTable>,
  random: Random,
): KnownTable["rows"] {
  const rows = new Map<string, Record<string, Value>>();
  for (let at = 1; at <= size; at++) {
    const row = Object.fromEntries(
      columns.map((column): [string, Value] => {
        if (column.isNullable && random.chance(0.25)) return [column.name, null];
        const other = column.refersTo === null ? null : tables.get(column.refersTo)!;
        if (other !== null) return [column.name, keyValue(other, 1 + random.below(other.size))];
        return [column.name, column.isKey ? keyOf(column, at) : someValue(column, random)];
      }),
    );
    // Of a key of two references, the same pair comes once.
    rows.set(JSON.stringify(key.map(({ name }) => row[name])), row);
  }
  return [...rows.values()];
}

const keyOf = ({ kind }: KnownColumn, at: number): Value => (kind === "int" ? at : `k${at}`);
const keyValue = ({ key }: KnownTable, at: number): Value => keyOf(key[0]!, at);

const words = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove"];
const two = (number: number): string => String(number).padStart(2, "0");

/** One of few values, so that conditions find several rows. */
function someValue({ kind }: KnownColumn, random: Random): Value {
  const at = random.below(7);
  const day = `2024-0${1 + (at % 3)}-${two(10 + at)}`;
  if (kind === "text") return words[at]!;
  if (kind === "int") return at * 3;
  if (kind === "decimal") return at * 0.75;
  if (kind === "bool") return at > 3;
  return kind === "date" ? day : `${day} ${two(at * 3)}:30:00`;
}

const types: Readonly<Record<EngineName, Partial<Record<ColumnKind, string>>>> = {
  sqlite: { int: "integer", bool: "boolean" },
  postgres: { int: "integer", bool: "boolean" },
  mysql: { int: "integer", bool: "boolean", timestamp: "datetime" },
};

/** The statements that make the tables, in pieces that run in this order. */
export function statementsOf(tables: readonly KnownTable[], engine: EngineName): readonly string[] {
  const q = quoteOf(engine);
  const byName = new Map(tables.map((table) => [table.name, table]));
  const references = (table: KnownTable): string[] =>
    table.columns.flatMap(({ name, refersTo }) =>
      refersTo === null
        ? []
        : [
            `foreign key (${q(name)}) references ${q(refersTo)} (${q(byName.get(refersTo)!.key[0]!.name)})`,
          ],
    );
  const typeOf = ({ kind, type }: KnownColumn): string => {
    if (kind === "text") return type.replace("text", "varchar");
    const isFilled = type === "stamp" && engine !== "sqlite";
    return `${types[engine][kind] ?? type.replace(/^stamp/, "timestamp")}${isFilled ? " default current_timestamp" : ""}`;
  };
  const creates = tables.map((table) => {
    const columns = table.columns.map(
      (column) => `${q(column.name)} ${typeOf(column)}${column.isNullable ? "" : " not null"}`,
    );
    const key = `primary key (${table.key.map(({ name }) => q(name)).join(", ")})`;
    // Only SQLite takes references to tables that come later; it adds none to a table.
    const inline = engine === "sqlite" ? references(table) : [];
    return `create table ${q(table.name)} (${[...columns, key, ...inline].join(", ")})`;
  });
  const inserts = tables.map(
    ({ name, rows }) =>
      `insert into ${q(name)} values ${rows.map((row) => `(${Object.values(row).map(literal(engine)).join(", ")})`).join(", ")}`,
  );
  if (engine === "sqlite")
    return [
      ...creates,
      ["begin", "pragma defer_foreign_keys = on", ...inserts, "commit"].join(";"),
    ];
  const adds = tables.flatMap((table) =>
    references(table).map((reference) => `alter table ${q(table.name)} add ${reference}`),
  );
  return [...creates, ...inserts, ...adds];
}

export const quoteOf =
  (engine: EngineName) =>
  (name: string): string =>
    engine === "mysql" ? `\`${name}\`` : `"${name}"`;

export const literal =
  (engine: EngineName) =>
  (value: Value): string => {
    if (typeof value === "boolean" && engine === "sqlite") return value ? "1" : "0";
    return typeof value === "string" ? `'${value}'` : String(value);
  };
