/**
 * Receives what webhooks are told, over HTTP. Each request must have a valid signature, which a library of the standard
 * checks. A test says what is answered.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { expect } from "vitest";
import type { Row } from "../../core/values/row.ts";

export const webhookSecret = `whsec_${Buffer.from("0123456789abcdef01234567").toString("base64")}`;

/** The body of a request. */
export interface Message {
  readonly id: string;
  readonly type: string;
  readonly at: string;
  readonly project: string;
  readonly endpoint: string;
  readonly key: Row | null;
  readonly record: Row | null;
  readonly old: Row | null;
  readonly by: string | null;
  readonly request_id: string;
}

/** A request that was received. */
export interface Received {
  /** Without the slash. */
  readonly path: string;
  readonly message: Message;
  readonly headers: Readonly<Record<string, string>>;
  /** On the clock of `performance.now()`. */
  readonly atMs: number;
}

/** A status; null: no answer; a text: a redirect to that address. */
export type Reaction = number | null | string;

export interface Receiver {
  /** `127.0.0.1:<port>` */
  readonly host: string;
  readonly received: Received[];
  /** Requests that were not signed as they should be. */
  readonly forged: string[];
  /** Reacts to requests. Default: 200. */
  reacts(reaction: (received: Received) => Reaction | Promise<Reaction>): void;
  /** Resolves with the requests that meet the condition, once there are `count`. */
  hears(isMeant: (received: Received) => boolean, count?: number): Promise<Received[]>;
  close(): Promise<void>;
}

export async function startWebhookReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const forged: string[] = [];
  let react: (received: Received) => Reaction | Promise<Reaction> = () => 200;
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", async () => {
      const headers = request.headers as Record<string, string>;
      try {
        new Webhook(webhookSecret).verify(body, headers);
      } catch (error) {
        forged.push(`${String(error)}: ${body}`);
      }
      const message = JSON.parse(body) as Message;
      if (headers["webhook-id"] !== message.id) forged.push(`another id: ${body}`);
      const one = { path: request.url!.slice(1), message, headers, atMs: performance.now() };
      received.push(one);
      const reaction = await react(one);
      if (typeof reaction === "string") response.writeHead(302, { Location: reaction }).end();
      else if (reaction !== null) response.writeHead(reaction).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    forged,
    reacts: (reaction) => void (react = reaction),
    async hears(isMeant, count = 1) {
      const found = () => received.filter(isMeant);
      await expect
        .poll(() => found().length, { timeout: 20_000, interval: 10 })
        .toBeGreaterThanOrEqual(count);
      return found();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
