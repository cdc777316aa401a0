import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {type InvariantId, invariants} from '../../src/prove/oracles/index.js'
import {accessCases} from './histories/access.js'
import {delegationCases} from './histories/delegation.js'
import {leaseCases} from './histories/leases.js'
import {messageCases} from './histories/messages.js'
import {nodeCases} from './histories/nodes.js'
import {historyOf} from './history.js'

const cases = [...leaseCases, ...messageCases, ...accessCases, ...nodeCases, ...delegationCases]
const ids = Object.keys(invariants) as InvariantId[]

describe('invariants', () => {
  for (const id of ids)
    describe(`${id}: ${invariants[id].claim}`, () => {
      const own = cases.filter(({invariant}) => invariant === id)

      it('has test cases that it accepts and rejects', () => {
        const accepted = own.filter(({broken}) => broken === undefined)
        assert.ok(accepted.some(({parts}) => invariants[id].find(historyOf(parts)).checked > 0))
        assert.ok(own.some(({broken}) => broken !== undefined))
      })

      for (const {title, parts, broken} of own)
        it(`${broken === undefined ? 'accepts' : 'rejects'} ${title}`, () => {
          const {violations} = invariants[id].find(historyOf(parts))
          const found = violations.map(({what}) => what)
          if (broken === undefined) assert.deepEqual(found, [])
          else assert.match(found.join('\n'), broken)
        })
    })

  it('accept an empty history', () => {
    const found = ids.flatMap((id) => invariants[id].find(historyOf({})).violations)
    assert.deepEqual(found, [])
  })
})
