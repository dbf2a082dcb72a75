/** Opens something on first use. Concurrent callers share one attempt, and a failed attempt is not remembered. */

/** Returns what is open, or opens it. */
export interface OpenedOnce<Opened> {
  (): Promise<Opened>;
  /** What is open or being opened; null: not opened. */
  known(): Promise<Opened> | null;
  /** The next call opens again. */
  forget(): void;
}

export function openedOnce<Opened>(open: () => Promise<Opened>): OpenedOnce<Opened> {
  let opening: Promise<Opened> | null = null;
  const get = (): Promise<Opened> => {
    if (opening) return opening;
    const asked = (opening = open());
    asked.catch(() => {
      if (opening === asked) opening = null;
    });
    return asked;
  };
  return Object.assign(get, { known: () => opening, forget: () => void (opening = null) });
}
