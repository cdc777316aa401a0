import type {Chain, Ir, Predicate, RetrievalMode} from '../check/index.js'
import {isTrivial, simplify, writePredicate} from './predicate.js'
import {quoted, type SqlWriter} from './sql.js'

/** How `matches` and `near` find and rank rows. */
export interface Retrieval {
  mode: RetrievalMode | 'contains'
  /** The remaining predicate, for WHERE. */
  predicate: Predicate | undefined
  join?: (sql: SqlWriter) => void
  order?: (sql: SqlWriter) => void
}

type Matches = Predicate & {kind: 'matches'}
type Near = Predicate & {kind: 'near'}

/**
 * Selects the branch that `.using` specifies, or the only one; with both, their ranks are fused. Terms on a column
 * without an index are only a condition. Undefined if neither operator is used; `.using` then has no effect.
 */
export function planRetrieval(chain: Chain): Retrieval | undefined {
  const {using} = chain
  const parts = conjuncts(chain.predicate)
  const terms = termsOf(chain.predicate)
  const near = parts.find((part): part is Near => part.kind === 'near')
  const matches = parts.find((part): part is Matches => part.kind === 'matches' && part.index !== undefined)
  if (near === undefined && terms.length === 0) return undefined
  const others = parts.filter((part) => part !== near)
  if (near === undefined || (using === 'fts' && terms.length > 0))
    return matches === undefined ? {mode: modeOf(terms), predicate: all(others)} : byText(chain, matches, others)
  if (using === 'vector')
    return byDistance(
      chain,
      near,
      others.filter((part) => part.kind !== 'matches'),
    )
  return matches === undefined ? byDistance(chain, near, others) : byBoth(chain, matches, near, others)
}

const all = (parts: Predicate[]): Predicate => ({kind: 'and', args: parts})

function byText({orderBy, op}: Chain, matches: Matches, parts: Predicate[]): Retrieval {
  // If the rank is unused, the search is an ordinary condition.
  if (orderBy.length > 0 || op === 'count') return {mode: 'fts', predicate: all(parts)}
  return {
    mode: 'fts',
    predicate: all(parts.filter((part) => part !== matches)),
    join: ranked(matches),
    order: (sql) => sql.add('"_text_rank" ASC'),
  }
}

const byDistance = (chain: Chain, near: Near, filter: Predicate[]): Retrieval => ({
  mode: 'vector',
  predicate: undefined,
  join: nearest(chain, near, all(filter)),
  order: (sql) => sql.add('"_near_distance" ASC'),
})

const byBoth = (chain: Chain, matches: Matches, near: Near, parts: Predicate[]): Retrieval => ({
  mode: 'hybrid',
  predicate: undefined,
  join: fused(chain, matches, near, all(parts.filter((part) => part !== matches))),
  order: (sql) => sql.add('"_rank_score" DESC'),
})

/** The conjuncts of a predicate. */
function conjuncts(predicate: Predicate | undefined): Predicate[] {
  if (predicate === undefined) return []
  return predicate.kind === 'and' ? predicate.args.flatMap(conjuncts) : [predicate]
}

/** Every `matches` of a predicate, at any depth. */
function termsOf(predicate: Predicate | undefined): Matches[] {
  if (predicate === undefined) return []
  if (predicate.kind === 'and' || predicate.kind === 'or') return predicate.args.flatMap(termsOf)
  if (predicate.kind === 'not') return termsOf(predicate.arg)
  return predicate.kind === 'matches' ? [predicate] : []
}

const modeOf = (terms: readonly Matches[]) => (terms.every(({index}) => index !== undefined) ? 'fts' : 'contains')

/** Rows of a text search with their BM25 score; lower is better. */
function ranked({column, value, index}: Matches) {
  const fts = quoted(index?.sqlName ?? '')
  return (sql: SqlWriter) => {
    sql.add(` JOIN (SELECT rowid AS "_text_id", rank AS "_text_rank" FROM ${fts} WHERE ${fts} MATCH `)
    sql.param(value, {matchIn: column.name}).add(') ON "_text_id" = "_id"')
  }
}

const defaultNearest: Ir = {kind: 'const', value: 10, type: {kind: 'int'}}
/** Reciprocal rank fusion: Cormack, Clarke and Büttcher 2009. */
const fusionK = 60

/** The nearest `limit` rows that pass a filter; default: 10. */
function nearest({table, limit}: Chain, {column, value, index}: Near, filter: Predicate) {
  return (sql: SqlWriter) => {
    sql.add(
      ` JOIN (SELECT rowid AS "_near_id", distance AS "_near_distance" FROM ${quoted(index.sqlName)} WHERE ${quoted(column.name)} MATCH `,
    )
    sql
      .param(value, {vector: index.dimensions})
      .add(' AND k = ')
      .param(limit ?? defaultNearest, 'neighbours')
    const simple = simplify(filter)
    if (!isTrivial(simple)) {
      sql.add(` AND rowid IN (SELECT "_id" FROM ${quoted(table.sqlName)} WHERE `)
      writePredicate(sql, table, simple)
      sql.add(')')
    }
    sql.add(') ON "_near_id" = "_id"')
  }
}

/** Both lists contain only rows that pass the filter, so that other rows do not displace them. */
function fused({table, limit}: Chain, matches: Matches, near: Near, filter: Predicate) {
  const fts = quoted(matches.index?.sqlName ?? '')
  const simple = simplify(filter)
  const passing = isTrivial(simple) ? '' : ' AND rowid IN (SELECT "_id" FROM "_passing")'
  const part = (by: string) => `1.0 / (${fusionK} + row_number() OVER (ORDER BY ${by}))`
  return (sql: SqlWriter) => {
    sql.add(' JOIN (')
    if (passing !== '') {
      sql.add(`WITH "_passing" AS MATERIALIZED (SELECT "_id" FROM ${quoted(table.sqlName)} WHERE `)
      writePredicate(sql, table, simple)
      sql.add(') ')
    }
    sql.add(
      `SELECT "_rank_id", SUM("_rank_part") AS "_rank_score" FROM (SELECT rowid AS "_rank_id", ${part('rank, rowid')} AS "_rank_part" FROM ${fts} WHERE ${fts} MATCH `,
    )
    sql.param(matches.value, {matchIn: matches.column.name})
    sql.add(
      `${passing} UNION ALL SELECT rowid, ${part('distance')} FROM ${quoted(near.index.sqlName)} WHERE ${quoted(near.column.name)} MATCH `,
    )
    sql
      .param(near.value, {vector: near.index.dimensions})
      .add(' AND k = ')
      .param(limit ?? defaultNearest, 'candidates')
    sql.add(`${passing}) GROUP BY "_rank_id") ON "_rank_id" = "_id"`)
  }
}
