/** Schemas of values that many properties of the configuration have. */
import { z } from "zod";

export const filledText = z.string().min(1);

export const offByDefault = z.boolean().default(false);
