import type {DashboardState, NodeRow, StateChanges} from './view.js'

/** What a page has to be sent: all there is, or what it does not have yet. */
export type News = {event: 'state'; data: DashboardState} | {event: 'changes'; data: StateChanges}

interface Row {
  text: string
  /** Number of the first state in which it is as it is. */
  since: number
}

/**
 * Counts the states that differ, and knows of each row since when it is as it is: of a large mesh a few nodes are
 * heard of in a second, and only those have to be sent. Which nodes there are, and in which order, is sent with the
 * whole.
 */
export class Versions {
  #state: DashboardState | undefined
  #number = 0
  #wholeSince = 0
  #shape = ''
  #rest = ''
  #rows: ReadonlyMap<string, Row> = new Map()

  get number(): number {
    return this.#number
  }

  /** Takes nothing for known any more: the next state is a new one. */
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
    if (isOtherShape) this.#wholeSince = next
    if (isNew) this.#number = next
    this.#state = state
    this.#shape = shape
    this.#rest = restText
    this.#rows = rows
  }

  /** What is new to a page that was sent the state of a number last; undefined where nothing is. */
  since(sent: number): News | undefined {
    const state = this.#state
    if (state === undefined || sent === this.#number) return undefined
    if (sent < this.#wholeSince) return {event: 'state', data: state}
    const {nodes: _, ...rest} = state
    const rows = rowsOf(state).filter(({id}) => (this.#rows.get(id)?.since ?? 0) > sent)
    return {event: 'changes', data: {...rest, rows}}
  }
}

/** All of the nodes but what each is like. */
const shapeOf = (nodes: DashboardState['nodes']): string =>
  JSON.stringify(nodes !== undefined && 'known' in nodes ? {...nodes, known: nodes.known.map(({id}) => id)} : {nodes})

/** The nodes of a state, where they are known. */
export const rowsOf = ({nodes}: DashboardState): readonly NodeRow[] =>
  nodes !== undefined && 'known' in nodes ? nodes.known : []

function versionOf(row: NodeRow, before: Row | undefined, next: number): Row {
  const text = JSON.stringify(row)
  return before?.text === text ? before : {text, since: next}
}
