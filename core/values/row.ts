/** What a statement returns. */
import type { Json } from "./json.ts";

/** A row as answers show it: every value already in the JSON form of its column's type. */
export type Row = Record<string, Json>;
