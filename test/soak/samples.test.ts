import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {type Evidence, faultsOf, figuresOf, growthLimit} from './checks.js'
import {growth, SampleLog} from './samples.js'

/** Samples of a server whose heap grows by `perMinute` MB per minute, with a 5 MB request in every fourth sample. */
function log(mbPerMinute: number, descriptors = 20): SampleLog {
  const log = new SampleLog()
  for (let second = 0; second < 120; second++) {
    const heap = 20e6 + (mbPerMinute * 1e6 * second) / 60 + (second % 4 === 0 ? 5e6 : 0)
    log.add({thread: 0, rss: 1e8, heap, resources: 3, descriptors}, 1000 * second)
  }
  return log
}

const evidence = (mbPerMinute: number, changes: Partial<Evidence> = {}): Evidence => ({
  server: 'serve',
  requests: 100,
  aborted: 10,
  unexpected: 0,
  examples: [],
  errors: [],
  exit: {code: 0, signal: null},
  load: log(mbPerMinute).samples,
  idle: [log(0).samples, log(0).samples],
  ...changes,
})

const faults = (one: Evidence) => faultsOf(one, figuresOf(one), growthLimit(120_000))

describe('soak test checks', () => {
  it('measure growth without the memory of single requests', () => {
    assert.ok(Math.abs(growth(log(3).samples, 'heap') - 3) < 0.1)
    assert.deepEqual(faults(evidence(0.5)), [])
    assert.match(faults(evidence(2)).join(), /^svc serve grows by [\d.]+ MB\/min of heap; the limit is 1 MB\/min\.$/)
  })

  it('ignore samples with an unusual number of threads', () => {
    const all = new SampleLog()
    for (let second = 0; second < 120; second++) {
      if (second > 20) all.add({thread: 1, rss: 0, heap: 9e6, resources: 1}, 1000 * second)
      if (second > 100) all.add({thread: 2, rss: 0, heap: 9e6, resources: 1}, 1000 * second)
      all.add({thread: 0, rss: 1e8, heap: 20e6, resources: 3}, 1000 * second)
    }
    assert.equal(growth(all.samples, 'heap'), 0)
  })

  it('add up the running threads of a process', () => {
    const log = new SampleLog()
    log.add({thread: 1, rss: 0, heap: 5, resources: 1}, 0)
    log.add({thread: 0, rss: 9, heap: 10, resources: 2, descriptors: 7}, 500)
    log.add({thread: 0, rss: 9, heap: 10, resources: 2, descriptors: 7}, 9000)
    assert.deepEqual(
      log.samples.map(({heap, resources}) => [heap, resources]),
      [
        [15, 3],
        [10, 2],
      ],
    )
  })

  it('report leaked handles, exit codes, log lines and unexpected responses', () => {
    const found = faults(
      evidence(0, {
        idle: [log(0).samples, log(0, 21).samples],
        exit: {code: null, signal: 'SIGKILL'},
        errors: ['{"level":"error"}'],
        unexpected: 2,
        examples: ['GET /: 500'],
      }),
    )
    assert.deepEqual(found, [
      'svc serve exited with SIGKILL, not 0.',
      'svc serve wrote 1 lines to standard error, the first of them: {"level":"error"}',
      'svc serve gave 2 unexpected answers, the first of them: GET /: 500',
      'svc serve had 20 open descriptors after the warm-up and 21 at the end.',
    ])
  })
})
