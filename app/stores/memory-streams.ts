/** Open streams that are counted in this process. */
import type { OpenStreams } from "../../core/plans/open-streams.ts";

export function createMemoryStreams(): OpenStreams {
  const byCaller = new Map<string, number>();
  let all = 0;
  return {
    async take(share, { ofCaller, inAll }) {
      const own = byCaller.get(share) ?? 0;
      if (own >= ofCaller || all >= inAll) return false;
      byCaller.set(share, own + 1);
      all++;
      return true;
    },
    release(share) {
      const rest = (byCaller.get(share) ?? 0) - 1;
      if (rest < 0) return;
      all--;
      if (rest === 0) byCaller.delete(share);
      else byCaller.set(share, rest);
    },
  };
}
