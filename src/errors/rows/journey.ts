import {conflict, notFound, rows, usage} from '../row.js'

export const journeyErrors = rows(() => ({
  journey_not_found: notFound({
    message: (p: {journey: string; known: readonly string[]}) =>
      `Journey not found: ${p.journey}. Known: ${p.known.join(', ')}.`,
    hint: 'Omit the id to use the canonical journey.',
  }),
  journey_invalid: usage({
    message: (p: {member: string; fault: string}) => `Invalid journey: its ${p.member} ${p.fault}.`,
    hint: 'Omit it, or use a shorter one.',
  }),
  operation_not_found: notFound({
    message: (p: {operation: string}) => `Operation not found in the log of this workspace: ${p.operation}.`,
    hint: 'Run svc orch oplog to list the operations.',
  }),
  operation_conflict: conflict({
    message: (p: {operation: string; what: 'undone' | 'redone'; reason: string}) =>
      `${p.operation} cannot be ${p.what}: ${p.reason}.`,
    hint: 'Make the change with a separate command. Nothing was changed.',
  }),
}))
