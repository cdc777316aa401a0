import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {LargeBodies} from '../../src/net/large-bodies.js'

describe('LargeBodies', () => {
  const longerThanAnyRest = 3_600_000

  /** Adds a body and logs its events under its name. */
  function adder(log: string[]) {
    const bodies = new LargeBodies()
    return (name: string, {bytes = LargeBodies.from, isGone = () => false as boolean} = {}) =>
      bodies.add({
        bytes,
        handle() {
          log.push(name)
          const end = performance.now() + 2
          while (performance.now() < end);
        },
        isGone,
        refuse: ({code}) => log.push(`${name}: ${code}`),
      })
  }

  it('are handled sequentially with a pause after each', ({mock}) => {
    mock.timers.enable({apis: ['setTimeout']})
    const log: string[] = []
    const add = adder(log)
    for (const name of ['a', 'b', 'c']) add(name)
    assert.deepEqual(log, ['a'])
    mock.timers.tick(19 * 2 - 1)
    assert.deepEqual(log, ['a'], 'the rest is 19 times as long as the body took')
    mock.timers.tick(longerThanAnyRest)
    mock.timers.tick(longerThanAnyRest)
    assert.deepEqual(log, ['a', 'b', 'c'])
    mock.timers.tick(longerThanAnyRest)
    add('d')
    assert.deepEqual(log, ['a', 'b', 'c', 'd'], 'nothing waits after the rest')
  })

  it('of disconnected clients are not handled', ({mock}) => {
    mock.timers.enable({apis: ['setTimeout']})
    const log: string[] = []
    const add = adder(log)
    add('a')
    add('b', {isGone: () => true})
    mock.timers.tick(longerThanAnyRest)
    assert.deepEqual(log, ['a', 'b: interrupted'])
  })

  it('are refused above 64 MiB of waiting bodies', ({mock}) => {
    mock.timers.enable({apis: ['setTimeout']})
    const log: string[] = []
    const add = adder(log)
    for (let i = 0; i < 9; i++) add(`${i}`, {bytes: 8 << 20})
    add('more')
    assert.deepEqual(log, ['0', 'more: overloaded'])
    mock.timers.tick(longerThanAnyRest)
    add('later')
    mock.timers.tick(longerThanAnyRest)
    assert.deepEqual(log, ['0', 'more: overloaded', '1', '2'])
  })
})
