import type {WorkflowDefinition} from '../../contracts/index.js'
import {literalPattern} from '../../errors/index.js'

/** What the steps of a workflow wait for. */
export interface SignalKeys {
  /** Ids of approvals. */
  readonly approvals: ReadonlySet<string>
  /** Keys of signals; each expression in a key stands for any text. */
  readonly signals: readonly string[]
  has(key: string): boolean
  /** How many steps wait for a key; infinite if one of them is in a loop. */
  waits(key: string): number
}

/** The keys of the signals and approvals of a workflow, from all of its steps. */
export function signalKeysOf(definition: WorkflowDefinition): SignalKeys {
  const approvals = new Set<string>()
  const signals: string[] = []
  const waits: {pattern: RegExp; times: number}[] = []
  const collect = (value: unknown, times: number): void => {
    if (typeof value !== 'object' || value === null) return
    const {id, approval, signal, for_each: items} = value as Readonly<Record<string, unknown>>
    if (approval !== undefined && typeof id === 'string') {
      approvals.add(id)
      waits.push({pattern: patternOf(id), times})
    }
    if (typeof signal === 'string') {
      signals.push(signal)
      waits.push({pattern: patternOf(signal), times})
    }
    for (const member of Object.values(value)) collect(member, items === undefined ? times : Infinity)
  }
  collect(definition.steps, 1)
  const waitsFor = (key: string) => waits.reduce((sum, {pattern, times}) => sum + (pattern.test(key) ? times : 0), 0)
  return {approvals, signals, has: (key) => waitsFor(key) > 0, waits: waitsFor}
}

const patternOf = (template: string): RegExp =>
  new RegExp(
    `^${template
      .split(/\$\{\{.*?\}\}/s)
      .map(literalPattern)
      .join('.*')}$`,
    's',
  )
