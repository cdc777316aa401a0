import {conflict, notFound, rows, usage} from '../row.js'

export const journeyErrors = rows(() => ({
  journey_not_found: notFound({
    message: (p: {journey: string; known: readonly string[]}) =>
      `There is no journey ${p.journey}; there ${p.known.length === 1 ? 'is' : 'are'} ${p.known.join(', ')}.`,
    hint: 'Leave the id out to get the canonical journey.',
  }),
  journey_invalid: usage({
    message: (p: {member: string; fault: string}) => `The ${p.member} of a journey ${p.fault}.`,
    hint: 'Leave it out, or give a shorter one.',
  }),
  operation_not_found: notFound({
    message: (p: {operation: string}) => `There is no operation ${p.operation} in the log of this workspace.`,
    hint: 'List the operations with svc orch oplog.',
  }),
  operation_conflict: conflict({
    message: (p: {operation: string; what: 'undone' | 'redone'; reason: string}) =>
      `${p.operation} cannot be ${p.what}: ${p.reason}.`,
    hint: 'Nothing was changed; do what you want with a command of its own.',
  }),
}))
