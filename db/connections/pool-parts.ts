/** Each caller's share of a connection pool, so that no caller takes all of it. */

export interface CallerPart {
  /** Null: the service itself, which has no limit. */
  readonly caller: string | null;
  /** Connections. */
  held: number;
  /** Statements on connections, including those that other callers hold. */
  statements: number;
  /** Statements that wait for a connection. */
  waiting: number;
}

/** The next request is often of the same caller; a new part for each would cost more than a small statement's way. */
const idlePartsMax = 64;

export class CallerParts {
  /** Most connections of one caller. */
  private readonly heldMax: number;
  /** Of the callers that have a statement on a connection, or wait for one; and of a few who had. */
  private readonly parts = new Map<string | null, CallerPart>();

  constructor(heldMax: number) {
    this.heldMax = heldMax;
  }

  of(caller: string | null): CallerPart {
    let part = this.parts.get(caller);
    if (part === undefined) {
      part = { caller, held: 0, statements: 0, waiting: 0 };
      this.parts.set(caller, part);
    }
    return part;
  }

  /** To be called when the caller has no statement any more. */
  forget(part: CallerPart): void {
    if (this.parts.size <= idlePartsMax || part.statements > 0 || part.waiting > 0) return;
    this.parts.delete(part.caller);
  }

  /** Whether the caller can get one more connection. */
  hasRoom({ caller, held }: CallerPart): boolean {
    return caller === null || held < this.heldMax;
  }

  /** Connections that waiting callers could get. */
  wanted(): number {
    let wanted = 0;
    for (const { caller, held, waiting } of this.parts.values())
      wanted += caller === null ? waiting : Math.min(waiting, Math.max(0, this.heldMax - held));
    return wanted;
  }
}
