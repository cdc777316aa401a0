import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {createRandom} from '../../src/prove/faults/random.js'
import {type PlannedFault, planFaults, type ServerFault, serverFaults} from '../../src/prove/faults/schedule.js'

function take(seed: number, count: number, faults: readonly ServerFault[] = serverFaults): PlannedFault[] {
  const plan = planFaults(createRandom(seed), faults)
  return Array.from({length: count}, () => plan.next()).flatMap(({value}) => (value === undefined ? [] : [value]))
}

describe('planFaults', () => {
  it('depends only on the seed', () => {
    assert.deepEqual(take(4, 30), take(4, 30))
    assert.notDeepEqual(take(4, 30), take(5, 30))
  })

  it('contains every fault once per round, in a new order each time', () => {
    const rounds = [0, 1].map((round) =>
      take(11, 2 * serverFaults.length)
        .slice(round * serverFaults.length, (round + 1) * serverFaults.length)
        .map(({fault}) => fault),
    )
    for (const round of rounds) assert.deepEqual(round.toSorted(), [...serverFaults].sort())
    assert.notDeepEqual(rounds[0], rounds[1])
  })

  it('contains only the requested faults', () => {
    assert.deepEqual([...new Set(take(1, 20, ['kill', 'flood']).map(({fault}) => fault))].sort(), ['flood', 'kill'])
    assert.deepEqual(take(1, 3, []), [])
  })
})
