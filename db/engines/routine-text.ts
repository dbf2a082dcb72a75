/** The text of a call, piece by piece, with places for given values. */
import type { CallText } from "../../core/plans/database-catalog.ts";

export class RoutineText {
  private readonly texts: string[] = [""];
  private readonly order: number[] = [];

  add(text: string): this {
    this.texts.push(this.texts.pop()! + text);
    return this;
  }

  /** The value at this place among the given ones. */
  value(at: number): this {
    this.order.push(at);
    this.texts.push("");
    return this;
  }

  done(): CallText {
    return { texts: this.texts, order: this.order };
  }
}

/** The parts, separated by commas, between brackets. */
export function inBrackets(text: RoutineText, parts: readonly ((to: RoutineText) => void)[]): void {
  text.add("(");
  parts.forEach((part, at) => {
    if (at > 0) text.add(", ");
    part(text);
  });
  text.add(")");
}
