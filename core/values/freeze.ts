/** Freezes a compiled entity deeply, including maps and sets, so that no request can change what others see. */

const refuse = (): never => {
  throw new TypeError("A compiled configuration cannot be changed");
};

const done = new WeakSet<object>();

/** The value itself, frozen. Functions and bytes inside it stay as they are. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  if (done.has(value)) return value;
  done.add(value);
  if (value instanceof Map || value instanceof Set) close(value);
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
  return value;
}

/** Freezing an object leaves a map's entries open, so the methods that change them go too. */
function close(collection: Map<unknown, unknown> | Set<unknown>): void {
  for (const name of ["set", "add", "delete", "clear"]) {
    if (name in collection) Object.defineProperty(collection, name, { value: refuse });
  }
  for (const entry of collection.entries()) entry.forEach(deepFreeze);
}
