import type {KeptOutput} from '../../process/index.js'
import type {Task, Usage} from '../../tasks/index.js'
import type {TaskPhase} from '../../workspace/index.js'

/** The result of a run. */
export interface Outcome {
  /** The answer of the task. */
  text: string
  /** Additional data, such as the exit status of a command or the token counts of a model. */
  details: Readonly<Record<string, unknown>>
  /** Tokens and cost in US dollars, if a model was used. */
  usage?: Usage
}

/** The progress reports of a run. */
export interface RunReport {
  phase(phase: TaskPhase): void
  /** A message for the transcript of the task. */
  message(text: string): void
  /** The leader of a process group that must not outlive the run, and its start time. */
  process(pid: number, start: string): void
  /** The command has written output, which is stored with the task periodically and at its end. */
  output(output: KeptOutput): void
}

/** Runs tasks of one kind. Keeps no state between runs. */
export interface Processor {
  /**
   * Runs a task to its end. When the signal aborts, stops soon with the abort reason and leaves nothing running.
   * @throws task_run_failed if the work itself failed; any other error is a failure of the infrastructure, such as a
   *   server that is down or returns invalid answers, and may be retried
   */
  run(task: Task, report: RunReport, signal: AbortSignal): Promise<Outcome>
}
