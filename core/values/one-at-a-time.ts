/**
 * A function that begins the work. Calls while it runs lead to one more run of it, however many they are, so that what
 * was done before each call is seen by a whole run. `work` must not reject.
 */
export function oneAtATime(work: () => Promise<void>): () => void {
  let isRunning = false;
  let isAgain = false;
  async function run(): Promise<void> {
    isRunning = true;
    do {
      isAgain = false;
      await work();
    } while (isAgain);
    isRunning = false;
  }
  return () => {
    if (isRunning) isAgain = true;
    else void run();
  };
}
