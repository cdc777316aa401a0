import type {KeptOutput, Task, TaskPhase, Usage} from '../../tasks/index.js'

/** What came of a run. */
export interface Outcome {
  /** The text that answers the task. */
  text: string
  /** What the caller may want to know besides, such as the exit status of a command or the tokens of a model. */
  details: Readonly<Record<string, unknown>>
  /** Tokens and US dollars, where a model was asked. */
  usage?: Usage
}

/** What a run tells while it goes on. */
export interface RunReport {
  phase(phase: TaskPhase): void
  /** Something worth keeping in the transcript of the task. */
  message(text: string): void
  /** The leader of a group of processes that must not outlive the run, and when it started. */
  process(pid: number, start: string): void
  /** Its command has written something: what is kept of it is stored with the task, soon and at its end. */
  output(output: KeptOutput): void
}

/** Runs tasks of one kind. It holds nothing between two runs. */
export interface Processor {
  /**
   * Runs a task to its end. Ends soon, with what the signal was aborted with, when the signal aborts; nothing that it
   * started is left running.
   * @throws task_run_failed where the work itself went wrong; anything else is a fault of the infrastructure (a server
   *   that is down or answers nonsense), which may be tried again
   */
  run(task: Task, report: RunReport, signal: AbortSignal): Promise<Outcome>
}
