/** What `tls-socket.ts` uses of the sockets of Cloudflare's runtime, whose types are no package of this project. */
declare module "cloudflare:sockets" {
  export interface Socket {
    readonly readable: ReadableStream<Uint8Array>;
    readonly writable: WritableStream<Uint8Array>;
    readonly opened: Promise<unknown>;
    readonly closed: Promise<void>;
    close(): Promise<void>;
    /** The old socket is of no use any more. */
    startTls(options?: { expectedServerHostname?: string }): Socket;
  }
  export function connect(
    address: { hostname: string; port: number },
    options: { secureTransport: "off" | "on" | "starttls" },
  ): Socket;
}
