/** The one function over which all statements of a session or transaction run. */
import type { Row } from "../../core/values/row.ts";
import type { ListText } from "../../core/query/list-text.ts";
import type { Statement } from "../../core/query/statement.ts";

/** The answer to one statement, decoded. */
export interface Written {
  readonly rows: Row[];
  /** What the statement asks for with `asText`, instead of the rows. */
  readonly list?: ListText;
  readonly matched: number;
  readonly insertId: bigint | null;
}

/** Runs one statement; it is atomic in itself. */
export type Execute = (statement: Statement) => Promise<Written>;
