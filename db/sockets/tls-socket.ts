/**
 * A socket that starts in plain text and upgrades to TLS, on Cloudflare's runtime. Node's sockets cannot: they always
 * have a read in progress there. This one reads the server's greeting, then nothing before `upgrade`.
 */
import { isIP } from "node:net";
import { Duplex } from "node:stream";
import type { Socket } from "cloudflare:sockets";

export interface TlsSocketOptions {
  readonly host: string;
  readonly port: number;
  /** Whether these bytes are the whole plain-text greeting of the server. */
  isWhole(bytes: Uint8Array): boolean;
}

export type OpenTlsSocket = (options: TlsSocketOptions) => Promise<TlsSocket>;

/** Resolves when it is connected, in plain text; rejects when the server cannot be reached. */
export const openTlsSocket: OpenTlsSocket = async ({ host, port, isWhole }) => {
  const { connect } = await import("cloudflare:sockets");
  const raw = connect({ hostname: host, port }, { secureTransport: "starttls" });
  await raw.opened;
  return new TlsSocket(raw, { host, isWhole });
};

export class TlsSocket extends Duplex {
  private raw: Socket;
  private reader: ReadableStreamDefaultReader<Uint8Array>;
  private writer: WritableStreamDefaultWriter<Uint8Array>;
  private readonly host: string;
  private goOn: () => void = () => {};
  private written: Promise<void> = Promise.resolve();

  constructor(raw: Socket, { host, isWhole }: Pick<TlsSocketOptions, "host" | "isWhole">) {
    super();
    this.raw = raw;
    this.host = host;
    this.reader = raw.readable.getReader();
    this.writer = raw.writable.getWriter();
    void this.receive(isWhole);
  }

  /** One driver checks it before its closing message. */
  get readyState(): string {
    return this.destroyed ? "closed" : "open";
  }

  /** Upgrades to TLS after the server's greeting. The certificate has to be from a public authority, for this host. */
  async upgrade(): Promise<void> {
    await this.written;
    this.reader.releaseLock();
    this.writer.releaseLock();
    this.raw = this.raw.startTls(isIP(this.host) ? {} : { expectedServerHostname: this.host });
    this.reader = this.raw.readable.getReader();
    this.writer = this.raw.writable.getWriter();
    await this.raw.opened;
    void this.receive(null);
  }

  setKeepAlive(): this {
    return this;
  }
  setNoDelay(): this {
    return this;
  }

  override _read(): void {
    this.goOn();
  }

  override _write(
    chunk: Uint8Array,
    _encoding: string,
    done: (error?: Error | null) => void,
  ): void {
    this.written = this.writer.write(chunk);
    this.written.then(() => done(), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.writer.close().then(
      () => done(),
      () => done(),
    );
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.goOn();
    this.raw.close().catch(() => undefined);
    done(error);
  }

  /** Receives until the server's greeting is complete or, with null, to the end. */
  private async receive(isWhole: TlsSocketOptions["isWhole"] | null): Promise<void> {
    const words: Uint8Array[] = [];
    try {
      for (;;) {
        const { value, done } = await this.reader.read();
        if (done) return void this.push(null);
        if (this.destroyed) return;
        const isFull = !this.push(Buffer.from(value));
        if (isWhole !== null) {
          words.push(value);
          if (isWhole(Buffer.concat(words))) return;
        }
        if (isFull) await new Promise<void>((resolve) => (this.goOn = resolve));
      }
    } catch (error) {
      this.destroy(error as Error);
    }
  }
}
