/** Relations to the records of other endpoints, as the configuration declares them. */
import type { RelationStep } from "../query/paths.ts";

export interface RelationPlan {
  readonly name: string;
  /** The endpoint of the related records. */
  readonly endpoint: string;
  /** False: at most one record. */
  readonly isMany: boolean;
  /** One step, or two where the records of another endpoint stand between. */
  readonly steps: readonly RelationStep[];
}
