/** One try of a delivery: the request as Standard Webhooks describes it, and the meaning of its outcome. */
import { parseOwnJson } from "../values/json.ts";
import type { Outbound } from "../plans/outbound-port.ts";
import type { HookFailure } from "../workflow/hook-queue.ts";
import type { Delivery } from "./delivery-queue.ts";

/** A webhook as it is called. */
export interface WebhookTarget {
  readonly url: string;
  /** `whsec_` and the key in base64. */
  readonly secret: string;
}

/** What the body of a delivery says about itself. */
export interface Summary {
  readonly endpoint: string;
  /** `orders.updated` */
  readonly type: string;
  readonly requestId: string;
}

export function deliverySummary({ body }: Pick<Delivery, "body">): Summary {
  const { endpoint, type, request_id } = parseOwnJson(body) as Record<string, string>;
  return { endpoint: endpoint!, type: type!, requestId: request_id! };
}

export interface SendOptions {
  readonly outbound: Outbound;
  readonly target: WebhookTarget;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Null when the receiver answered with a status from 200 to 299. Never rejects. */
export async function sendDelivery(
  { messageId, project, webhook, body }: Delivery,
  { endpoint, type }: Summary,
  { outbound, target, timeoutMs, signal }: SendOptions,
): Promise<HookFailure | null> {
  try {
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const signed = await signatureOf(`${messageId}.${timestamp}.${body}`, target.secret);
    const { status } = await outbound.send(
      {
        method: "POST",
        url: target.url,
        headers: {
          "Content-Type": "application/json",
          "webhook-id": messageId,
          "webhook-timestamp": timestamp,
          "webhook-signature": `v1,${signed}`,
        },
        body,
        timeoutMs,
        hook: { project, endpoint, status: type, hook: `webhook:${webhook}`, index: 0 },
      },
      signal,
    );
    if (status >= 200 && status <= 299) return null;
    return { error: new Error(`The receiver answered with status ${status}`), isFinal: false };
  } catch (error) {
    return { error, isFinal: false };
  }
}

/** HMAC-SHA256 in base64. */
async function signatureOf(text: string, secret: string): Promise<string> {
  const bytes = Uint8Array.from(atob(secret.replace(/^whsec_/, "")), (sign) => sign.charCodeAt(0));
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign"]);
  const signature = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text));
  return btoa(String.fromCharCode(...new Uint8Array(signature)));
}
