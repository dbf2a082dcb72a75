/** Events of changes as `text/event-stream` (Server-Sent Events), until the client leaves or its credentials end. */
import { limits } from "../values/limits.ts";
import type { EventBuilder, WriteEvents } from "../changes/change-events.ts";
import { endOfWrite, type Feed, type Listener } from "../changes/feed.ts";

interface Position {
  readonly place: number;
  readonly told: number;
}

export interface EventStreamOptions {
  readonly feed: Feed;
  readonly builder: EventBuilder;
  readonly begin: Position;
  /** The client asked to go on from a place of which nothing is known. */
  readonly isReset: boolean;
  /** Of `begin`. */
  readonly beginId: string;
  /** The id of the place behind a write, another text each time. */
  readonly idOf: (place: number) => string;
  /** The same for events: equal for all streams that are told of the write. */
  readonly eventId: (place: number) => string;
  /** Milliseconds since 1970; null = no end. */
  readonly untilMs: number | null;
  /** Called once, at the end. */
  release(): void;
}

/**
 * An event of a write that is followed by others of it has no id: a client that loses the connection in between is told
 * the whole write again.
 */
export function openEventStream(
  options: EventStreamOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { feed, builder, begin, beginId, isReset, idOf, eventId, untilMs, release } = options;
  const encoder = new TextEncoder();
  let end: () => void = () => undefined;
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      start(controller) {
        let skipped = begin.told;
        const send = (text: string): void => {
          // A client that does not read would fill the memory; it can go on later where it was.
          if ((controller.desiredSize ?? 0) < -limits.streamBehindMax) return end();
          controller.enqueue(encoder.encode(text));
        };
        const tell = ({ place, events }: WriteEvents): void => {
          const fresh = events.slice(skipped);
          skipped = Math.max(0, skipped - events.length);
          for (const [at, event] of fresh.entries()) {
            const id = at === fresh.length - 1 ? `id: ${eventId(place)}\n` : "";
            send(`${id}event: change\ndata: ${JSON.stringify(event)}\n\n`);
          }
        };
        const listener: Listener = {
          reached: { place: begin.place, id: endOfWrite },
          hear: (changes, isEnd) => builder.add(changes, isEnd).forEach(tell),
          end: () => end(),
        };
        // The id tells how far the client is, also where none of the writes concerned it.
        const beat = setInterval(() => {
          const { place, id } = listener.reached;
          const reached = id === endOfWrite ? `id: ${idOf(place)}\n` : "";
          send(`: beat\n${reached}\n`);
        }, limits.streamBeatMs);
        const leaveMs = untilMs === null ? null : Math.max(0, untilMs - Date.now());
        const leave =
          leaveMs !== null && leaveMs < longestTimerMs
            ? setTimeout(() => end(), leaveMs)
            : undefined;
        const unlisten = feed.listen(listener);
        end = () => {
          end = () => undefined;
          clearInterval(beat);
          clearTimeout(leave);
          unlisten();
          release();
          try {
            controller.close();
          } catch {
            // The client has left.
          }
        };
        send(`: changes\nid: ${beginId}\n\n`);
        if (isReset) send("event: reset\ndata: {}\n\n");
      },
      cancel: () => end(),
    },
    { highWaterMark: 16 },
  );
}

/** Timers cannot wait longer; a configuration is read anew before. */
const longestTimerMs = 2 ** 31 - 1;
