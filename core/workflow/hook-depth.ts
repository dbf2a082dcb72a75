/**
 * How many hooks led to this call, in its header `X-Hook-Depth`. A depth that arrives over the network counts only if
 * this installation signed it: otherwise any client could switch hooks off by claiming a depth.
 */
import type { Outbound } from "../plans/outbound-port.ts";
import type { Runtime } from "../plans/runtime.ts";

export interface HookDepthOptions extends Pick<Runtime, "digest"> {
  /** A secret that the instances share. May reject: then an instance trusts only its own calls. */
  readonly secret: () => Promise<string>;
}

export interface HookDepths {
  /** The same, with a signature on hook calls that leave the service. */
  signing(outbound: Outbound): Outbound;
  /** The depth that the headers of a request claim; 0 unless this installation signed it. Never rejects. */
  signedIn(headers: Pick<Headers, "get">): Promise<number>;
}

const depthHeader = "X-Hook-Depth";
const signatureHeader = "X-Hook-Signature";

/** A signature counts this long, so that one that was seen once is of little use. */
const validSeconds = 3_600;

let made: string | null = null;

/** For an instance that shares no secret. Created on first use, since Workers has no randomness before a request. */
export const ownSecret = (): string => (made ??= crypto.randomUUID() + crypto.randomUUID());

export function createHookDepths({ secret, digest }: HookDepthOptions): HookDepths {
  async function signatureOf(depth: string, second: number): Promise<string> {
    const known = await secret().catch(ownSecret);
    // Twice, as HMAC does: a hash does not help to compute that of a longer text.
    return `${second}.${digest(`${known}\n${digest(`${known}\n${second}\n${depth}`)}`)}`;
  }

  return {
    signing: (outbound) => ({
      async send(request, signal) {
        const depth = request.headers[depthHeader];
        // A call to this service itself does not use the network.
        if (depth === undefined || request.url.startsWith("/"))
          return outbound.send(request, signal);
        const signature = await signatureOf(depth, secondNow());
        const headers = { ...request.headers, [signatureHeader]: signature };
        return outbound.send({ ...request, headers }, signal);
      },
    }),
    async signedIn(headers) {
      const depth = headers.get(depthHeader) ?? "";
      const sent = headers.get(signatureHeader) ?? "";
      const second = Number(/^(\d{1,12})\.[\da-f]{64}$/.exec(sent)?.[1] ?? 0);
      if (depthFrom(depth) === 0 || Math.abs(secondNow() - second) > validSeconds) return 0;
      const expected = await signatureOf(depth, second);
      // Compares hashes, so that the time of the comparison reveals nothing about the signatures.
      return digest(`${ownSecret()}${sent}`) === digest(`${ownSecret()}${expected}`)
        ? depthFrom(depth)
        : 0;
    },
  };
}

/** 0 for an invalid depth. */
export const depthFrom = (header: string | null): number =>
  header !== null && /^\d$/.test(header) ? Number(header) : 0;

const secondNow = (): number => Math.floor(Date.now() / 1_000);
