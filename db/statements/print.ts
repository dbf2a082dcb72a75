/**
 * Prints a statement as SQL for one engine, through Drizzle's `sql`. Names come only from columns and tables, and every
 * value is a parameter.
 */
import { quoted } from "./quoted.ts";
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../core/values/types/column.ts";
import { AppError } from "../../core/values/errors.ts";
import type { Dialect } from "./dialect.ts";
import type { Statement } from "../../core/query/statement.ts";
import { boundColumnsOf, type Shape, shapeOf } from "./shape.ts";
import { bareQuery } from "./source.ts";
import { type Repetition, Slot } from "./slots.ts";
import { TextEmitter } from "./text-emitter.ts";
import { emitStatement, type Printable } from "./walk.ts";

/** A printed text and what is needed to run it with other values. */
export interface Printed {
  readonly text: string;
  /** For each parameter of the text, the index of its value in the shape. */
  readonly order: readonly number[];
  /** Of what the engine has learned (`Dialect.learned`). */
  readonly restsOn: readonly string[];
}

/** Rejects as `createCompiler` does. */
export function print(dialect: Dialect, statement: Printable, shape: Shape): Printed {
  // Checked before printing, because a hundred thousand values take seconds.
  if (shape.values.length > dialect.paramsMax) throw tooManyValues();
  const emitter = new TextEmitter(dialect);
  const restsOn = dialect.learned.restOf(() => emitStatement(statement, emitter));
  const { text, order } = written(dialect, emitter.whole());
  if (emitter.placesUsed !== shape.values.length) {
    throw new Error("The key and the text of the statement have different values");
  }
  if (order.length > dialect.paramsMax) throw tooManyValues();
  return { text, order, restsOn };
}

/** The text with the engine's placeholders, and the value of each. */
function written(dialect: Dialect, whole: SQL): Pick<Printed, "text" | "order"> {
  const order: number[] = [];
  let text = "";
  function write(piece: Rendered, shift: number): void {
    for (let at = 0; at < piece.texts.length; at++) {
      text += piece.texts[at]!;
      const part = piece.parts[at];
      if (part === undefined) continue;
      if (part instanceof Slot) {
        text += dialect.placeholder(order.length);
        order.push(part.place + shift);
        continue;
      }
      const { count, separator, step } = part;
      const repeated = rendered(dialect, part.piece);
      for (let copy = 0; copy < count; copy++) {
        if (copy > 0) text += separator;
        write(repeated, shift + copy * step);
      }
    }
  }
  write(rendered(dialect, whole), 0);
  return { text, order };
}

/** Texts, and the parts between them. */
interface Rendered {
  readonly texts: readonly string[];
  readonly parts: readonly (Slot | Repetition)[];
}

/** Marks the place of a value in Drizzle's output. `quoted` keeps it out of statements; no engine accepts it. */
const gap = "\0";

function rendered(dialect: Dialect, piece: SQL): Rendered {
  const { sql: text, params } = piece.toQuery({ ...renderConfig(dialect), escapeParam: () => gap });
  const texts = text.split(gap);
  if (texts.length !== params.length + 1) throw new Error("A text contains a NUL character");
  return { texts, parts: params as (Slot | Repetition)[] };
}

/**
 * The column that decides how the parameter at this place of the text, from 0, is bound; null = none. Prints again.
 */
export function columnOfParameter(
  dialect: Dialect,
  statement: Statement,
  at: number,
): Column | null {
  if (statement.kind === "native") return null;
  const place = print(dialect, statement, shapeOf(statement, dialect)).order[at];
  return (place === undefined ? null : boundColumnsOf(statement, dialect)[place]) ?? null;
}

const tooManyValues = (): AppError =>
  new AppError("invalidPayload", "The request contains too many values; split it");

/** Where MySQL accepts numbers and placeholders alone. Every engine accepts a number there. */
const beforeCount = /\b(?:limit|offset|limit\s+\S+\s*,)\s*$/i;

/**
 * The query with a null of the parameter's type in each place (0 where rows are counted), to be described and not to be
 * run.
 */
export function describable(
  dialect: Dialect,
  [first = "", ...rest]: readonly string[],
  parameters: readonly Column[],
): string {
  const nothing = (before: string, parameter: Column): string =>
    beforeCount.test(before)
      ? "0"
      : dialect.param(parameter, sql.raw("null")).toQuery(renderConfig(dialect)).sql;
  return bareQuery(
    rest.reduce((before, text, at) => before + nothing(before, parameters[at]!) + text, first),
  );
}

function renderConfig(dialect: Dialect): Parameters<SQL["toQuery"]>[0] {
  return {
    // Only for Drizzle's own Column objects, which are never used here.
    casing: undefined as never,
    escapeName: (name) => quoted(name, dialect.quote),
    escapeParam: dialect.placeholder,
    escapeString: () => {
      throw new Error("Values are parameters");
    },
  };
}
