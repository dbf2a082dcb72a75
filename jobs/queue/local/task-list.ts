/**
 * Performs tasks of this process in order, a few at a time; shared by the queues in files. Nothing is stored here.
 */

/** How tasks are performed. */
export interface TaskListOptions<Task> {
  /** Tasks that are performed at the same time. */
  readonly atOnce: number;
  /** Must not reject. */
  perform(task: Task): Promise<void>;
  /**
   * The project of a task, and the caller within it; projects and callers take turns. Absent: tasks are performed in
   * order.
   */
  turnOf?(task: Task): readonly [project: string, share: string];
}

export interface TaskList<Task> {
  /** Tasks are performed from now on, unless `stop` came first. */
  start(): void;
  add(task: Task): void;
  /** Before those that are waiting. */
  addFirst(tasks: readonly Task[]): void;
  /** Adds the task when the time is over, unless `dropDelayed` or `stop` comes first. */
  addLater(task: Task, delayMs: number): void;
  /** Drops and returns all delayed tasks. */
  dropDelayed(): readonly Task[];
  /** As `dropDelayed`, and no further task starts. */
  stop(): readonly Task[];
  /** Resolves when no task is under way and none can begin. */
  idle(): Promise<void>;
  /** As `idle`, and no task is delayed. */
  allDone(): Promise<void>;
  counts(): { readonly waiting: number; readonly active: number; readonly delayed: number };
}

/** A task that waits for its time. */
interface Delay {
  /** Resolves when it is over, or the task was dropped. */
  readonly over: Promise<void>;
  drop(): void;
}

/** Nothing is performed before `start`. */
export function createTaskList<Task>({
  atOnce,
  perform,
  turnOf,
}: TaskListOptions<Task>): TaskList<Task> {
  const takeNext = turnOf ? createTurns(turnOf) : (tasks: Task[]): Task => tasks.shift()!;
  const waiting: Task[] = [];
  const running = new Set<Promise<void>>();
  const delayed = new Map<Task, Delay>();
  let state: "new" | "started" | "stopped" = "new";
  let isDelaying = true;

  function beginNext(): void {
    while (state === "started" && running.size < atOnce && waiting.length > 0) {
      const run = perform(takeNext(waiting)).finally(() => {
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

  function addLater(task: Task, delayMs: number): void {
    if (!isDelaying) return;
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      delayed.delete(task);
      add(task);
      resolve();
    }, delayMs);
    const drop = (): void => {
      clearTimeout(timer);
      resolve();
    };
    delayed.set(task, { over, drop });
  }

  function dropDelayed(): readonly Task[] {
    isDelaying = false;
    const dropped = [...delayed.keys()];
    for (const { drop } of delayed.values()) drop();
    delayed.clear();
    return dropped;
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
    addLater,
    dropDelayed,
    stop() {
      state = "stopped";
      return dropDelayed();
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
    async allDone() {
      while (running.size + delayed.size > 0)
        await Promise.all([...running, ...[...delayed.values()].map(({ over }) => over)]);
    },
    counts: () => ({ waiting: waiting.length, active: running.size, delayed: delayed.size }),
  };
}

/** Takes the first task of the project that has waited longest for a turn, and within it of the caller that has. */
function createTurns<Task>(turnOf: (task: Task) => readonly [project: string, share: string]) {
  const lastTurns = new Map<string, number>();
  let turn = 0;
  const lastTurn = (key: string): number => lastTurns.get(key) ?? 0;

  return (tasks: Task[]): Task => {
    let best = 0;
    let bestTurns: readonly [number, number] = [Infinity, Infinity];
    for (const [at, task] of tasks.entries()) {
      const [project, share] = turnOf(task);
      const turns = [lastTurn(project), lastTurn(`${project}/${share}`)] as const;
      const isEarlier =
        turns[0] < bestTurns[0] || (turns[0] === bestTurns[0] && turns[1] < bestTurns[1]);
      if (isEarlier) [best, bestTurns] = [at, turns];
    }
    const [task] = tasks.splice(best, 1) as [Task];
    const [project, share] = turnOf(task);
    turn += 1;
    lastTurns.set(project, turn).set(`${project}/${share}`, turn);
    // No task is waiting.
    if (tasks.length === 0) lastTurns.clear();
    return task;
  };
}
