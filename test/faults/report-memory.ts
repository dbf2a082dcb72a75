/**
 * Loaded into a service process by `--import`, with `--expose-gc`: answers each message of its parent with the bytes
 * used after a collection, on and off the heap. The process size is less exact: it depends on the collector's timing.
 */
process.on("message", () => {
  globalThis.gc!();
  const { heapUsed, external } = process.memoryUsage();
  process.send!(heapUsed + external);
});
process.channel!.unref();
