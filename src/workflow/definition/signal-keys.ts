import type {WorkflowDefinition} from '../../contracts/index.js'

/** What the steps of a workflow wait for. */
export interface SignalKeys {
  /** Ids of approvals. */
  readonly approvals: ReadonlySet<string>
  /** Keys of signals; each expression in a key stands for any text. */
  readonly signals: readonly string[]
  has(key: string): boolean
}

/** The keys of the signals and approvals of a workflow, from all of its steps. */
export function signalKeysOf(definition: WorkflowDefinition): SignalKeys {
  const approvals = new Set<string>()
  const signals: string[] = []
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const {id, approval, signal} = value as {id?: unknown; approval?: unknown; signal?: unknown}
    if (approval !== undefined && typeof id === 'string') approvals.add(id)
    if (typeof signal === 'string') signals.push(signal)
    for (const member of Object.values(value)) collect(member)
  }
  collect(definition.steps)
  const patterns = signals.map(patternOf)
  return {approvals, signals, has: (key) => approvals.has(key) || patterns.some((pattern) => pattern.test(key))}
}

const patternOf = (template: string): RegExp =>
  new RegExp(
    `^${template
      .split(/\$\{\{.*?\}\}/s)
      .map(escaped)
      .join('.*')}$`,
    's',
  )

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
