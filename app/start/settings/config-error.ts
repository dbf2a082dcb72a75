/** The error of a configuration that cannot be served. */
import { type Fault, formatFaults } from "../../../core/config/reading/faults.ts";

/** All faults of the configuration in one message; `sentences` are about databases that cannot be used. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly faults: readonly Fault[];
  readonly sentences: readonly string[];

  constructor(faults: readonly Fault[], sentences: readonly string[] = []) {
    super([...(faults.length > 0 ? [formatFaults(faults)] : []), ...sentences].join("\n"));
    this.faults = faults;
    this.sentences = sentences;
  }
}
