/** The part of Cloudflare's socket types that `tls-socket.ts` uses; the project does not depend on their package. */
declare module "cloudflare:sockets" {
  export interface Socket {
    readonly readable: ReadableStream<Uint8Array>;
    readonly writable: WritableStream<Uint8Array>;
    readonly opened: Promise<unknown>;
    readonly closed: Promise<void>;
    close(): Promise<void>;
    /** The old socket cannot be used any more. */
    startTls(options?: { expectedServerHostname?: string }): Socket;
  }
  export function connect(
    address: { hostname: string; port: number },
    options: { secureTransport: "off" | "on" | "starttls" },
  ): Socket;
}
