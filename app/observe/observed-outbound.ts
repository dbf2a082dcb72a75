/** Reports the calls of hooks, with the headers that watchers add to them. Calls that are no hooks are not reported. */
import type { HookReport } from "../../core/plans/observer.ts";
import type { Outbound, OutboundRequest } from "../../core/plans/ports.ts";
import { currentTask } from "./current-task.ts";
import type { HookWatch, Watcher } from "./watcher.ts";

export function observedOutbound(outbound: Outbound, watchers: readonly Watcher[]): Outbound {
  const onHook = watchers.filter(({ hookBegan }) => hookBegan);
  if (onHook.length === 0) return outbound;
  return {
    async send(request, signal) {
      const { hook: place } = request;
      if (place === undefined) return outbound.send(request, signal);
      const startedMs = performance.now();
      const task = currentTask();
      const watches = onHook.map((watcher) => watcher.hookBegan!({ place, request, task }));
      const ended = (outcome: HookReport["outcome"], status: number | null) => {
        const durationMs = performance.now() - startedMs;
        for (const watch of watches) watch.ended({ outcome, status, durationMs });
      };
      try {
        const answer = await outbound.send(withHeadersOf(request, watches), signal);
        const { status } = answer;
        ended(status >= 200 && status <= 299 ? "completed" : "refused", status);
        return answer;
      } catch (error) {
        ended("failed", null);
        throw error;
      }
    },
  };
}

/** What the configuration says of a header counts. */
function withHeadersOf(request: OutboundRequest, watches: readonly HookWatch[]): OutboundRequest {
  const added = Object.assign({}, ...watches.map(({ headers }) => headers)) as object;
  return { ...request, headers: { ...added, ...request.headers } };
}
