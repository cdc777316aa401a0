import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {Versions} from '../../../src/mesh/dashboard/versions.js'
import type {DashboardState, NodeRow} from '../../../src/mesh/dashboard/view.js'

const row = (id: string, seen = 1): NodeRow => ({
  id,
  version: '1',
  conditions: [],
  last_seen_unix_ms: seen,
  labels: [],
  gpu: [],
  cpu: [],
})

const stateOf = (nodes: DashboardState['nodes'], more: Partial<DashboardState> = {}): DashboardState => ({
  control: {url: 'http://127.0.0.1:1', answers: true},
  ...(nodes === undefined ? {} : {nodes}),
  ...more,
})

describe('Versions', () => {
  it('sends the full state first, and nothing without changes', () => {
    const versions = new Versions()
    assert.equal(versions.since(-1), undefined)
    const state = stateOf({known: [row('a')]})
    versions.take(state)
    assert.deepEqual(versions.since(-1), {event: 'state', data: state})
    const {number} = versions
    versions.take(structuredClone(state))
    assert.deepEqual([versions.number, versions.since(number)], [number, undefined])
  })

  it('sends all rows changed since the last state of a page', () => {
    const versions = new Versions()
    versions.take(stateOf({known: [row('a'), row('b'), row('c')]}))
    const first = versions.number
    versions.take(stateOf({known: [row('a', 2), row('b'), row('c')]}))
    const second = versions.number
    versions.take(stateOf({known: [row('a', 2), row('b', 2), row('c')]}))
    const {control} = stateOf(undefined)
    assert.deepEqual(versions.since(second), {event: 'changes', data: {control, rows: [row('b', 2)]}})
    assert.deepEqual(versions.since(first), {event: 'changes', data: {control, rows: [row('a', 2), row('b', 2)]}})
  })

  it('sends no rows if only other parts changed', () => {
    const versions = new Versions()
    versions.take(stateOf({known: [row('a')]}))
    const {number} = versions
    const next = stateOf({known: [row('a')]}, {leases: {denied: 'no'}})
    versions.take(next)
    const {nodes: _, ...rest} = next
    assert.deepEqual(versions.since(number), {event: 'changes', data: {...rest, rows: []}})
  })

  const shapes: [what: string, nodes: DashboardState['nodes']][] = [
    ['a node is added', {known: [row('a'), row('b'), row('c')]}],
    ['a node is removed', {known: [row('a')]}],
    ['the order changes', {known: [row('b'), row('a')]}],
    ['the list is truncated', {known: [row('a'), row('b')], truncated: true}],
    ['all nodes are removed', {known: []}],
    ['the nodes are denied', {denied: 'no'}],
    ['the nodes are unknown', undefined],
  ]
  for (const [what, nodes] of shapes)
    it(`sends the full state if ${what}`, () => {
      const versions = new Versions()
      versions.take(stateOf({known: [row('a'), row('b')]}))
      const {number} = versions
      versions.take(stateOf(nodes))
      assert.deepEqual(versions.since(number), {event: 'state', data: stateOf(nodes)})
    })

  it('distinguishes unknown from empty', () => {
    const versions = new Versions()
    versions.take(stateOf(undefined))
    const {number} = versions
    versions.take(stateOf({known: []}))
    assert.equal(versions.since(number)?.event, 'state')
  })

  it('sends the full state after forget()', () => {
    const versions = new Versions()
    versions.take(stateOf({known: [row('a')]}))
    const {number} = versions
    versions.forget()
    assert.equal(versions.since(-1), undefined)
    versions.take(stateOf({known: [row('a')]}))
    assert.ok(versions.number > number)
    assert.equal(versions.since(number)?.event, 'state')
  })
})
