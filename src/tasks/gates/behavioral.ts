import {latestResult} from './checks.js'
import {error, quote} from './findings.js'
import type {Gate} from './gate.js'

/** Requires that the configured commands succeed in runs by `svc` for this completion. */
export const behavioral: Gate = {
  name: 'behavioral',
  family: 'debug',
  mode: ({config}) => (config.behavioralGateOnComplete ? 'enforce' : 'off'),
  evaluate({config, checks}) {
    const templates = config.behavioralGateCommand
    if (templates.length === 0)
      return [
        error(
          'behavioral/no-command',
          'No command is configured. Set orchestrator.behavioral_gate_command, or turn off behavioral_gate_on_complete.',
        ),
      ]
    return templates.flatMap((template) => {
      const result = latestResult(checks, template, 'verified')
      if (result === undefined)
        return error('behavioral/not-run', `The command ${quote(template)} was not run. Complete the task again.`)
      if (result.passed) return []
      const reason = result.reason ?? 'no reason was recorded'
      return error('behavioral/failed', `The command ${quote(template)} failed: ${reason}. Fix the cause.`)
    })
  },
}
