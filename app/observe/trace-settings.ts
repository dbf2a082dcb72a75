/** Settings of traces: their destination and their sampling. */

export interface TraceSettings {
  /** `console`: to standard output, for trying it out. */
  readonly exporter: "otlp" | "console";
  readonly url: string;
  readonly protocol: "http/protobuf" | "http/json";
  /** Can contain secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** For one batch of spans, all tries included. */
  readonly timeoutMs: number;
  readonly compression: "gzip" | "none";
  /** How long spans are kept before they are sent. */
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
