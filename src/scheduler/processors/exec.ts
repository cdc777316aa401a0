import {SvcError} from '../../errors/index.js'
import {type ExecOptions, runTemplate, type TemplateEnd} from '../../exec/index.js'
import {processStart} from '../../process/index.js'
import type {Outcome, Processor} from './processor.js'

/** Number of lines of standard error in an error message. */
const repeatedLines = 3

/** Runs commands from the workspace's configuration; a task only selects one and fills in its values. */
export const execProcessor = (options: ExecOptions): Processor => ({
  async run(task, report, signal) {
    const template = task.exec?.template ?? ''
    const end = await runTemplate(task, options, signal, {
      onStart: (pid) => report.process(pid, processStart(pid) ?? ''),
      onOutput: report.output,
    })
    if (end.failure !== undefined)
      throw new SvcError('task_run_failed', {
        reason: `${template} ${end.failure}`,
        exitCode: end.exitCode ?? undefined,
        stderr: end.output.lastLines(repeatedLines),
      })
    return outcome(template, end)
  },
})

function outcome(template: string, {program, exitCode, durationMs, output}: TemplateEnd): Outcome {
  const stdout = output.text('stdout')
  return {
    text: stdout.trim(),
    details: {
      template,
      program,
      exit_code: exitCode,
      duration_ms: durationMs,
      stdout,
      stderr: output.text('stderr'),
      truncated: output.missing > 0,
    },
  }
}
