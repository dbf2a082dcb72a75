/**
 * Tasks of this process, performed a few at a time in the order in which they came: what the queues in files have in common. Nothing is
 * stored here.
 */

/** What is done with tasks. */
/** Tasks that wait, or are under way. */
export interface TaskListOptions<Task> {
  /** Tasks that are performed at the same time. */
  readonly atOnce: number;
  /** Must not reject. */
  perform(task: Task): Promise<void>;
}

export interface TaskList<Task> {
  /** Tasks are performed from now on, unless `stop` came first. */
  start(): void;
  add(task: Task): void;
  /** Before those that are waiting. */
  addFirst(tasks: readonly Task[]): void;
  /** Adds the task when the time is over, unless `dropDelayed` or `stop` comes first. */
  addLater(task: Task, delayMs: number): void;
  /** Does the work when the time is over, with the same exception. */
  runLater(work: () => void, delayMs: number): void;
  /** Nothing that waits for its time is done any more. */
  dropDelayed(): void;
  /** As `dropDelayed`, and no task begins any more. */
  stop(): void;
  /** Resolves when no task is under way and none can begin. */
  idle(): Promise<void>;
}

/** Nothing is performed before `start`. */
export function createTaskList<Task>({ atOnce, perform }: TaskListOptions<Task>): TaskList<Task> {
  const waiting: Task[] = [];
  const running = new Set<Promise<void>>();
  const timers = new Set<ReturnType<typeof setTimeout>>();
  let state: "new" | "started" | "stopped" = "new";
  let isDelaying = true;

  function beginNext(): void {
    while (state === "started" && running.size < atOnce && waiting.length > 0) {
      const run = perform(waiting.shift()!).finally(() => {
        running.delete(run);
        beginNext();
      });
      running.add(run);
    }
  }

  function add(task: Task): void {
    waiting.push(task);
    beginNext();
  }

  function runLater(work: () => void, delayMs: number): void {
    if (!isDelaying) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      work();
    }, delayMs);
    timers.add(timer);
  }

  function dropDelayed(): void {
    isDelaying = false;
    for (const timer of timers) clearTimeout(timer);
    timers.clear();
  }

  return {
    start() {
      if (state === "new") state = "started";
      beginNext();
    },
    add,
    addFirst(tasks) {
      waiting.unshift(...tasks);
      beginNext();
    },
    addLater: (task, delayMs) => runLater(() => add(task), delayMs),
    runLater,
    dropDelayed,
    stop() {
      dropDelayed();
      state = "stopped";
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
