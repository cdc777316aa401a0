import {
  type Chain,
  type Column,
  type FunctionType,
  kindOf,
  type Predicate,
  type Program,
  type RetrievalMode,
  type Visitor,
  visit,
} from '../check/index.js'
import {planChain} from './plan.js'

export interface Capabilities {
  requires_sync: boolean
  retrieval_mode?: RetrievalMode
  live_topic?: string
  emits_change_log: boolean
  orchestration_scope?: string
}

/** A predicate with its operators and columns; values are not part of a plan. */
export type PredicateJson = Record<string, unknown>

/** A plan as `svc db explain` prints it. */
export interface PlanJson {
  fn: string
  table: string
  op: string
  predicate: PredicateJson | null
  projection: string[] | null
  order_by: [string, string][]
  has_limit: boolean
  has_offset?: boolean
  group_by?: string[]
  aggregates?: {name: string; function: string; field: string | null}[]
  having?: PredicateJson
  include?: {name: string; table: string; field: string}[]
  capabilities: Capabilities
  /** The retrieval mode of `matches` and `near`, if used. */
  retrieval?: string
  sql: string
}

export interface ExplainRow {
  query_fn: string
  route_path: string | null
  plan: PlanJson
}

export function capabilitiesOf({sync, using, live, scope, op}: Chain): Capabilities {
  return {
    requires_sync: sync,
    ...(using === undefined ? {} : {retrieval_mode: using}),
    ...(live === undefined ? {} : {live_topic: live}),
    emits_change_log: live !== undefined || op === 'unsafe_query_raw_clause',
    ...(scope === undefined ? {} : {orchestration_scope: scope}),
  }
}

const predicateJson = (predicate: Predicate): PredicateJson => visit(predicate, explained, undefined)

const explainGroup = ({kind, args}: Predicate & {kind: 'and' | 'or'}): PredicateJson => ({
  op: kind,
  args: args.map(predicateJson),
})
const explainOperator = ({kind, column}: Predicate & {column: Column}): PredicateJson => ({
  op: kind,
  field: column.name,
})
const explainIndexed = ({kind, column, index}: Predicate & {kind: 'matches' | 'near'}): PredicateJson => ({
  op: kind,
  field: column.name,
  index: index?.name ?? null,
})

const explained: Visitor<Predicate, PredicateJson, undefined> = {
  and: explainGroup,
  or: explainGroup,
  not: ({arg}) => ({op: 'not', arg: predicateJson(arg)}),
  eq: explainOperator,
  neq: explainOperator,
  lt: explainOperator,
  lte: explainOperator,
  gt: explainOperator,
  gte: explainOperator,
  contains: explainOperator,
  starts_with: explainOperator,
  maybe: ({arg}) => ({op: 'maybe', arg: predicateJson(arg)}),
  refers: ({column, table, arg}) => ({op: 'refers', field: column.name, table: table.name, arg: predicateJson(arg)}),
  in: ({column, values}) => ({op: 'in', field: column.name, arity: 'kind' in values ? null : values.length}),
  is_null: ({column, value}) => ({op: 'is_null', field: column.name, value: typeof value === 'boolean' ? value : null}),
  matches: explainIndexed,
  near: explainIndexed,
}

function summaryJson({grouping, included}: Chain): Partial<PlanJson> {
  const include = included.map(({name, table, column}) => ({name, table: table.name, field: column.name}))
  if (grouping === undefined) return include.length === 0 ? {} : {include}
  const {by, aggregates, having} = grouping
  return {
    ...(by.length === 0 ? {} : {group_by: by.map(({name}) => name)}),
    aggregates: aggregates.map(({fn, column, output}) => ({
      name: output.name,
      function: fn,
      field: column?.name ?? null,
    })),
    ...(having === undefined ? {} : {having: predicateJson(having)}),
  }
}

export function planJson(chain: Chain): PlanJson {
  const {sql, retrieval} = planChain(chain)
  return {
    fn: chain.fn,
    table: chain.table.name,
    op: chain.op,
    predicate: chain.predicate === undefined ? null : predicateJson(chain.predicate),
    projection: chain.select?.map(({name}) => name) ?? null,
    order_by: chain.orderBy.map(([{name}, direction]) => [name, direction]),
    has_limit: chain.limit !== undefined,
    ...(chain.offset === undefined ? {} : {has_offset: true}),
    ...summaryJson(chain),
    capabilities: capabilitiesOf(chain),
    ...(retrieval === undefined ? {} : {retrieval}),
    sql,
  }
}

/** The operations of a function in source order. */
export const chainsOf = ({chains}: FunctionType): Chain[] => [...chains].sort((a, b) => a.start - b.start)

/** One row per operation: of query endpoints, of one function, or of all functions. */
export function explain(program: Program, {query, all}: {query: string | undefined; all: boolean}): ExplainRow[] {
  return program.functions
    .filter((made) => (query === undefined ? all || kindOf(made) === 'query' : made.name === query))
    .flatMap((made) => {
      const route = program.routes.find((each) => each.function === made)?.path ?? null
      return chainsOf(made).map((chain) => ({query_fn: made.name, route_path: route, plan: planJson(chain)}))
    })
}
