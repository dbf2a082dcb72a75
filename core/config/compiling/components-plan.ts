/**
 * Resolves the handlers in `components`: a list of functions per event, in order. Each file is imported once, by a
 * function that the runtime provides, so that core does not access files.
 */
import { actions } from "../../actions.ts";
import type { Table } from "../../values/types/column.ts";
import {
  type EventName,
  eventNames,
  type HookHandler,
  type NamedHandler,
} from "../../plans/hook.ts";
import { didYouMean } from "../reading/did-you-mean.ts";
import type { Path } from "../reading/faults.ts";
import type { Survey } from "./survey.ts";

/**
 * The exports of a file of the configuration folder, by its path there: `shop/components/supplier.ts`. Rejects when the
 * file cannot be loaded.
 */
export type ImportComponent = (path: string) => Promise<Readonly<Record<string, unknown>>>;

/** The handlers of each event; a reference that is not a function is a fault. */
export async function handlersOf(
  survey: Survey,
  table: Table | null,
  importComponent: ImportComponent,
): Promise<Map<EventName, readonly NamedHandler[]>> {
  const handlers = new Map<EventName, readonly NamedHandler[]>();
  for (const event of eventNames) {
    const references = survey.payload.components?.[event] ?? [];
    if (references.length === 0) continue;
    const found = await Promise.all(
      references.map((reference, at) =>
        handlerOf(survey, reference, ["components", event, at], importComponent),
      ),
    );
    handlers.set(
      event,
      found.filter((handler) => handler !== null),
    );
    checkUse(survey, event, table);
  }
  return handlers;
}

async function handlerOf(
  survey: Survey,
  reference: string,
  path: Path,
  importComponent: ImportComponent,
): Promise<NamedHandler | null> {
  const { file = "", name = "" } = /^(?:\.\/)?(?<file>[^#]*)#(?<name>[^#]+)$/.exec(reference)
    ?.groups ?? { file: reference.replace(/^\.\//, "") };
  const known = [...survey.files.keys()].filter((one) => componentFile.test(one));
  if (!known.includes(file)) {
    const expected = `a file in the folder ${survey.project} and a function that it exports, such as "components/code.ts#check"`;
    survey.fault(path, { expected, hint: didYouMean(file, known) });
    return null;
  }
  let exported: Readonly<Record<string, unknown>>;
  try {
    exported = await importComponent(`${survey.project}/${file}`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    survey.fault(path, {
      found: `a file that cannot be loaded: ${reason}`,
      expected: `a module that can be loaded, in ${file}`,
    });
    return null;
  }
  const functions = Object.keys(exported).filter((one) => typeof exported[one] === "function");
  if (functions.includes(name))
    return { name: `${survey.project}/${file}#${name}`, run: exported[name] as HookHandler };
  survey.fault(path, {
    ...(Object.hasOwn(exported, name) && { found: `${name}, which is not a function` }),
    expected:
      functions.length === 0
        ? `a function that ${file} exports; it exports none`
        : `a function that ${file} exports: ${functions.join(", ")}`,
    hint: didYouMean(name, functions),
  });
  return null;
}

/** The files that may hold handlers, by their path inside the project's folder. */
const componentFile = /^components\/.+\.(?:ts|mts|js|mjs)$/;

/**
 * Notes events that never occur. On a table without transactions a handler could not refuse a write, so that is a
 * fault.
 */
function checkUse(survey: Survey, event: EventName, table: Table | null): void {
  const write = event.replace(/^on(Before|After)/, "");
  const names = actions.filter(({ events }) => events.includes(event)).map(({ name }) => name);
  const isOn = (name: string): boolean => survey.payload.action[name] === true;
  const isImported =
    survey.payload.importConfig?.runHooks === true &&
    isOn("import-commit") &&
    (write === "Insert" || write === "Update");
  if (!isImported && !names.some(isOn))
    survey.notice(`components.${event} never runs: ${names.join(" and ")} is switched off`);
  if (table && !table.transactional) {
    survey.fault(["components", event], {
      found: `handlers for ${table.name}, whose storage cannot roll back a write that a handler refuses`,
      expected: "a table whose storage has transactions",
    });
  }
}
