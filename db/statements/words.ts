/**
 * The SQL that all engines share, in pieces. In the key of a statement each is one character that no id contains, so
 * that keys are short and unambiguous.
 */
import type { Comparison } from "../../core/query/statement.ts";

export interface Word {
  readonly text: string;
  readonly key: string;
}

let lastKey = 127;
const word = (text: string): Word => ({ text, key: String.fromCharCode(++lastKey) });

export const words = {
  select: word("select "),
  selectOne: word("select 1"),
  selectAllFrom: word("(select * from "),
  selectCountAs: word("select count(*) as "),
  from: word(" from "),
  fromSelect: word(" from (select "),
  fromOpen: word(" from ("),
  endSelectAs: word(") as "),
  selectNumbered: word("(select source.*, row_number() over (partition by "),
  selectAllOf: word("select * from (select "),
  rowNumberOver: word(", row_number() over (partition by "),
  asRowNumber: word(") as place_by_rowgate"),
  whereRowNumber: word(") as numbered where place_by_rowgate <= "),
  orderByRowNumber: word(" order by place_by_rowgate"),
  numberedFrom: word(") as place_by_rowgate from "),
  isFirst: word(".place_by_rowgate = 1"),
  exists: word("exists (select 1 from "),
  notExists: word("not exists (select 1 from "),
  not: word("not ("),
  isNotTrue: word(") is not true"),
  on: word(" on "),
  where: word(" where "),
  groupBy: word(" group by "),
  orderBy: word(" order by "),
  limitOne: word(" limit 1"),
  withFigures: word("with figures as (select "),
  endWithSelect: word(") select "),
  withAfter: word("with after_by_rowgate as ("),
  endBefore: word(") as before_by_rowgate"),
  endWithLog: word("), log_by_rowgate as ("),
  fromAfter: word(" from after_by_rowgate"),
  returning: word(" returning "),
  scopeBefore: word(`, '{"before":' || `),
  scopeOfNothing: word("'null'"),
  scopeAfter: word(` || ',"after":' || `),
  endScope: word(" || '}'"),
  ifMarked: word(" || case when "),
  thenMarked: word(` then ',"marked":true' else '' end`),
  nextIfMarked: word(", case when "),
  thenOnlyMarked: word(` then '{"before":{},"after":{},"marked":true}' end`),
  coalesce: word("coalesce("),
  orZero: word(", 0)"),
  unionAllSelect: word(" union all select "),
  countAllOver: word("count(*) over ()"),
  fromFigures: word(" from figures"),
  leftJoinFigures: word(" left join figures"),
  dot: word("."),
  equals: word(" = "),
  as: word(" as "),
  insertInto: word("insert into "),
  values: word(" values ("),
  update: word("update "),
  set: word(" set "),
  deleteFrom: word("delete from "),
  caseOf: word("case "),
  whenKey: word("when "),
  thenValue: word(" then "),
  else: word(" else "),
  end: word(" end"),
  and: word(" and "),
  or: word(" or "),
  in: word(" in ("),
  notIn: word(" not in ("),
  between: word(" between "),
  notBetween: word(" not between "),
  isNull: word(" is null"),
  isNotNull: word(" is not null"),
  true: word("1 = 1"),
  false: word("1 = 0"),
  blank: word(" "),
  comma: word(", "),
  open: word("("),
  close: word(")"),
  nextRow: word("), ("),
  openTwice: word("(("),
  orNext: word(") or ("),
  closeTwice: word("))"),
} as const;

export const comparisons: Readonly<Record<Comparison, Word>> = {
  "=": word(" = "),
  "!=": word(" <> "),
  "<": word(" < "),
  "<=": word(" <= "),
  ">": word(" > "),
  ">=": word(" >= "),
};

export const joins = {
  left: word(" left join "),
  inner: word(" inner join "),
  right: word(" right join "),
} as const;

/** The brackets and separators of a condition's members. */
export const groups = {
  and: { open: word("("), separator: words.and },
  or: { open: word("("), separator: words.or },
} as const;
