/**
 * Holds members that come and go with each request, in no order, for the life of the process. With a `Set`, V8 makes a
 * new table every few removals, and the old table references it. Once a table is among the old objects, every later one
 * becomes old too with all that it references, so objects of ended requests stay until the next full collection.
 */

/** Something that a bag can hold. `place` belongs to the bag; -1: it is in none. */
export interface Placed {
  place: number;
}

export class Bag<Member extends Placed> {
  private readonly members: Member[] = [];

  get size(): number {
    return this.members.length;
  }

  /** The member must be in no bag. */
  add(member: Member): void {
    member.place = this.members.length;
    this.members.push(member);
  }

  /** Does nothing if the member was removed before. */
  delete(member: Member): void {
    const { place } = member;
    if (place === -1) return;
    member.place = -1;
    const last = this.members.pop()!;
    if (last === member) return;
    this.members[place] = last;
    last.place = place;
  }

  /** Calls `visit` with each member; it may remove any of them, and add others, which it need not see. */
  forEach(visit: (member: Member) => void): void {
    // From the end, because the last member takes the place of one that is removed.
    for (let at = this.members.length - 1; at >= 0; at--) {
      const member = this.members[at];
      if (member !== undefined) visit(member);
    }
  }
}
