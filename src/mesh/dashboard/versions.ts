import type {DashboardState, NodeRow, StateChanges} from './view.js'

/** Update for a page: the full state, or the changes since the last one. */
export type News = {event: 'state'; data: DashboardState} | {event: 'changes'; data: StateChanges}

interface Row {
  text: string
  /** Number of the state in which it last changed. */
  since: number
}

/**
 * Numbers the distinct states and tracks when each row last changed, so that only changed nodes of a large mesh are
 * sent. If the set or order of nodes changes, the full state is sent.
 */
export class Versions {
  #state: DashboardState | undefined
  #number = 0
  #fullSince = 0
  #shape = ''
  #rest = ''
  #rows: ReadonlyMap<string, Row> = new Map()

  get number(): number {
    return this.#number
  }

  /** Makes the next state a new one. */
  forget(): void {
    this.#state = undefined
    this.#shape = ''
    this.#rows = new Map()
  }

  take(state: DashboardState): void {
    const next = this.#number + 1
    const {nodes, ...rest} = state
    const shape = shapeOf(nodes)
    const restText = JSON.stringify(rest)
    const rows = new Map(rowsOf(state).map((row) => [row.id, versionOf(row, this.#rows.get(row.id), next)]))
    const isOtherShape = this.#state === undefined || shape !== this.#shape
    const isNew = isOtherShape || restText !== this.#rest || [...rows.values()].some(({since}) => since === next)
    if (isOtherShape) this.#fullSince = next
    if (isNew) this.#number = next
    this.#state = state
    this.#shape = shape
    this.#rest = restText
    this.#rows = rows
  }

  /** Update for a page that has received the state `sent`; undefined if it is up to date. */
  since(sent: number): News | undefined {
    const state = this.#state
    if (state === undefined || sent === this.#number) return undefined
    if (sent < this.#fullSince) return {event: 'state', data: state}
    const {nodes: _, ...rest} = state
    const rows = rowsOf(state).filter(({id}) => (this.#rows.get(id)?.since ?? 0) > sent)
    return {event: 'changes', data: {...rest, rows}}
  }
}

/** Node part of the state with ids instead of rows. */
const shapeOf = (nodes: DashboardState['nodes']): string =>
  JSON.stringify(nodes !== undefined && 'known' in nodes ? {...nodes, known: nodes.known.map(({id}) => id)} : {nodes})

export const rowsOf = ({nodes}: DashboardState): readonly NodeRow[] =>
  nodes !== undefined && 'known' in nodes ? nodes.known : []

function versionOf(row: NodeRow, before: Row | undefined, next: number): Row {
  const text = JSON.stringify(row)
  return before?.text === text ? before : {text, since: next}
}
