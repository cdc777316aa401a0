import {isConfirmed, type Operation, type OperationContext, operations, performNamed} from '../operations/index.js'
import type {OperationPorts} from './routing/router.js'
import {type SpokenOperation, spokenName} from './routing/spoken-operation.js'

/** Operations of speech itself. */
const excluded = ['transcribe', 'listen', 'speech_to_code', 'speech_status']

/** The operations that can be called by voice: those with at most one required member, a text or a whole number. */
export function spokenOperations(table: readonly Operation[]): SpokenOperation[] {
  return table
    .filter(({name}) => !excluded.includes(name))
    .flatMap(({name, title, effect, input}) => {
      const {required = [], properties = {}} = input as Input
      const [argument] = required
      const type = argument === undefined ? undefined : argumentType(properties[argument]?.type)
      if (required.length > 1 || (argument !== undefined && type === undefined)) return []
      return {
        name,
        names: [spokenName(title), spokenName(name)],
        isRead: effect === 'read',
        argument: argument === undefined || type === undefined ? undefined : {name: argument, type},
      }
    })
}

interface Input {
  required?: readonly string[]
  properties?: Readonly<Record<string, {type?: unknown}>>
}

function argumentType(type: unknown): 'integer' | 'string' | undefined {
  const types = [type].flat()
  return types.includes('string') ? 'string' : types.includes('integer') ? 'integer' : undefined
}

/** The names of operations do not change while a process runs. */
let spoken: readonly SpokenOperation[] | undefined

/**
 * What spoken sentences can do in a workspace.
 * @param open opens the workspace when the first operation is called
 */
export function spokenPorts(open: () => Promise<OperationContext>, confirm: OperationPorts['confirm']): OperationPorts {
  spoken ??= spokenOperations(operations)
  return {
    operations: spoken,
    run: async (name, input, signal) => performNamed(operations, name, input, {...(await open()), signal}),
    confirm,
  }
}

/** Asks the person behind a caller, if the caller can ask. Who asks for a task has confirmed it. */
export const confirmWith =
  (context: Pick<OperationContext, 'ask'>): OperationPorts['confirm'] =>
  async (message, change) =>
    change === 'submit' || isConfirmed(context, message)
