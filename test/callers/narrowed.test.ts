/** The compiler refuses a statement without a scope. If it did not, this file would not compile. */
import { expect, test } from "vitest";
import { past, scopedSession } from "../../core/callers/scoped-session.ts";
import { wholeScope } from "../../core/callers/scope.ts";
import type { DbSession } from "../../core/query/session.ts";
import type { Count, Native } from "../../core/query/statement.ts";

const count: Count = {
  kind: "count",
  source: { kind: "table", schema: null, name: "a", columns: new Map() },
  where: null,
};
const native: Native = { kind: "native", texts: ["select 1"], order: [], values: [], isRead: true };

/** Compiled, and not run. */
export function refused(session: DbSession): void {
  // @ts-expect-error -- a plain statement is not narrowed
  void session.count(count);
  const own = scopedSession(session, wholeScope);
  void own.count(count);
  // @ts-expect-error -- the operator's SQL passes only by name
  void own.native(native);
  void past(own, "handlerQuery").native(native);
  // @ts-expect-error -- a name that is not in the list
  void past(own, "elsewhere");
  // @ts-expect-error -- nothing but the session is a session
  void past({}, "handlerQuery");
}

test("a statement must pass a scope, says the compiler", () => {
  expect(refused).toBeTypeOf("function");
});
