import {conflict, notFound, rows, usage} from '../row.js'

export const journeyErrors = rows(() => ({
  journey_not_found: notFound({
    message: (p: {journey: string; known: readonly string[]}) =>
      `Journey ${p.journey} does not exist; known journeys: ${p.known.join(', ')}.`,
    hint: 'Omit the id to get the canonical journey.',
  }),
  journey_invalid: usage({
    message: (p: {member: string; fault: string}) => `The ${p.member} of a journey ${p.fault}.`,
    hint: 'Correct the value, or omit it.',
  }),
  operation_not_found: notFound({
    message: (p: {operation: string}) => `The operation log of this workspace has no entry for ${p.operation}.`,
    hint: 'Run `svc orch oplog` to list the operations.',
  }),
  operation_conflict: conflict({
    message: (p: {operation: string; what: 'undone' | 'redone'; reason: string}) =>
      `${p.operation} cannot be ${p.what}: ${p.reason}.`,
    hint: 'Make the opposite change instead, for example with `svc orch cancel TASK` or `svc orch agent resume AGENT`.',
  }),
}))
