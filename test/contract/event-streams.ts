/** Reads `text/event-stream` answers as they come. */
import type { Fixture } from "./harness.ts";

/** `path`: below the project. */
export async function listen(fixture: Fixture, path: string, headers: Record<string, string> = {}) {
  const response = await fixture.fetch(`/api/test/${path}`, { headers });
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = "";
  return {
    response,
    /** Reads until `isDone` holds for all that arrived, or until the stream ends. */
    async until(isDone: (text: string) => boolean): Promise<string> {
      while (!isDone(text)) {
        const { value, done } = await reader.read();
        if (done) break;
        text += decoder.decode(value, { stream: true });
      }
      return text;
    },
    stop: () => reader.cancel(),
  };
}
