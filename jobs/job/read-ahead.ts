/** Requests the next batch while the current one is processed, so that database and thread work at the same time. */
export async function* readAhead<T>(batches: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = batches[Symbol.asyncIterator]();
  let coming = iterator.next();
  try {
    for (;;) {
      const { done, value } = await coming;
      if (done) return;
      coming = iterator.next();
      // The consumer that awaits it gets the error.
      coming.catch(() => undefined);
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}
