/** Reports each run of the operator's handlers. */
import type { ImportComponent } from "../../core/config/compiling/components-plan.ts";
import { type HookContext, type HookHandler, refusalIn } from "../../core/plans/hook.ts";
import type { HandlerReport } from "../../core/plans/observer.ts";
import { currentTask } from "./current-task.ts";
import type { Watcher } from "./watcher.ts";

/** The same functions, with their runs reported to the watchers of their project. */
export const observedComponents =
  (
    importComponent: ImportComponent,
    watchersOf: (project: string) => readonly Watcher[],
  ): ImportComponent =>
  async (path) => {
    const exported = await importComponent(path);
    const project = path.slice(0, path.indexOf("/"));
    const watchers = watchersOf(project).filter(({ handler }) => handler);
    if (watchers.length === 0) return exported;
    const report = (told: HandlerReport) => {
      const origin = { project, task: currentTask() };
      for (const watcher of watchers) watcher.handler!(told, origin);
    };
    return Object.fromEntries(
      Object.entries(exported).map(([name, one]) => [
        name,
        typeof one === "function"
          ? observedHandler(one as HookHandler, { name: `${path}#${name}`, report })
          : one,
      ]),
    );
  };

const observedHandler =
  (
    handler: HookHandler,
    { name, report }: { name: string; report: (told: HandlerReport) => void },
  ): HookHandler =>
  async (context: HookContext) => {
    const startedMs = performance.now();
    let outcome: HandlerReport["outcome"] = "completed";
    try {
      return await handler(context);
    } catch (error) {
      outcome = refusalIn(error) ? "refused" : "failed";
      throw error;
    } finally {
      const { endpoint, event } = context;
      const durationMs = performance.now() - startedMs;
      report({ handler: name, endpoint, event, outcome, startedMs, durationMs });
    }
  };
