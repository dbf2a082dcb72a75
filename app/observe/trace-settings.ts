/** Where traces are sent, and which. */

export interface TraceSettings {
  /** `console`: to standard output, for trying it out. */
  readonly exporter: "otlp" | "console";
  readonly url: string;
  readonly protocol: "http/protobuf" | "http/json";
  /** May hold secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** For one batch of spans, all tries included. */
  readonly timeoutMs: number;
  readonly compression: "gzip" | "none";
  /** Spans are kept so long before they are sent. */
  readonly delayMs: number;
  /** Attributes of the process, `service.name` among them. */
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler:
    | "always_on"
    | "always_off"
    | "traceidratio"
    | "parentbased_always_on"
    | "parentbased_always_off"
    | "parentbased_traceidratio";
  /** For the two samplers by ratio: from 0 to 1. */
  readonly samplerRatio: number;
}
