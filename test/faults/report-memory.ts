/**
 * Loaded into a process of the service by `--import`, beside `--expose-gc`: answers each message of its parent with the bytes that are
 * in use after a collection, on the heap and outside of it. The size of the process says less: it follows the collector's mood.
 */
process.on("message", () => {
  globalThis.gc!();
  const { heapUsed, external } = process.memoryUsage();
  process.send!(heapUsed + external);
});
process.channel!.unref();
