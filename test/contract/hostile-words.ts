/** Inputs of the tests of hostile input: names that are not columns, and texts that contain SQL. */

/** Names that are none of any table: SQL, other quotings, and members of every object. One a line, as they are. */
export const hostileNames = [
  ...String.raw`
qty'
qty"
"qty"
[qty]
items.qty
main.items.qty
qty--
qty/**/
qty;drop table items
(select secret from items)
qty desc
qty, secret
count(*)
*
%
?
1
QTY
ｑｔｙ
constructor
__proto__
toString
hasOwnProperty
valueOf
rowid
oid
ctid
xmin
secret`
    .trim()
    .split("\n"),
  "`qty`",
  "${qty}",
  "",
  " ",
  "qty ",
  "qty\t",
  "x".repeat(10_000),
];
/** Values in the place of a name. */
export const noNames = [null, 1, true, ["qty"], { toString: "qty" }, [["qty"]]];

/** Texts that mean something to a database, a driver or a template, and nothing to the service. */
export const hostileTexts = [
  "'",
  "''",
  '"',
  "`",
  "\\",
  "\\'",
  "\\\\'",
  "' or 1=1 --",
  "'; drop table items; --",
  "' union select secret from items --",
  "$1",
  "?",
  ":header_id",
  "{{id}}",
  "%",
  "_",
  "%%%",
  "0x41",
  "x'41'",
  "NULL",
  "null",
  "1e1",
  "-0",
  "\u2028",
  "\ufeff",
  "ſ",
  "İ",
  "ß",
];
