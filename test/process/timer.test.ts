import assert from 'node:assert/strict'
import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {pause, startTimer} from '../../src/process/index.js'
import {projectFile} from '../support/project.js'

const dayMs = 86_400_000

describe('a timer', () => {
  it('fires after a delay that is longer than Node.js supports, and not before', (test) => {
    test.mock.timers.enable({apis: ['setTimeout']})
    let fired = 0
    startTimer(() => fired++, 60 * dayMs)
    startTimer(() => fired++, 60 * dayMs).stop()
    startTimer(() => fired++, Number.POSITIVE_INFINITY)
    for (let day = 0; day < 59; day++) test.mock.timers.tick(dayMs)
    assert.equal(fired, 0)
    for (let day = 0; day < 100; day++) test.mock.timers.tick(dayMs)
    assert.equal(fired, 1)
  })

  it('ends a pause when its signal aborts', async () => {
    const abort = new AbortController()
    const paused = pause(60 * dayMs, abort.signal)
    abort.abort(new Error('over'))
    await assert.rejects(paused, /over/)
    await assert.rejects(pause(1, abort.signal), /over/)
  })
})

/**
 * Files that start a timer of Node.js with a delay that is not a constant of the file. It is a setting that
 * `milliseconds` or `seconds` limits, or a computed delay with a maximum. Others call `startTimer` or `pause`.
 */
const limited = new Set(
  `commands/mesh/inbox src/app-server/live src/app-server/server src/assistant/ask-model src/daemon/client
src/daemon/stdio-server src/daemon/tcp-server src/files/lock src/lang/run/application src/mcp/http/gateway
src/mcp/server-state src/mcp/stdio src/mesh/client/transport src/mesh/control-plane/server src/mesh/control-plane/waiters
src/mesh/dashboard/feed src/mesh/node/watch-nodes src/mesh/store/postgres/session src/net/client src/net/large-bodies
src/plans/model/plan-model src/process/timer src/prove/campaign src/prove/clients/client-context src/prove/clients/exchange
src/prove/nemesis src/prove/proxy/fault-proxy src/prove/server/program src/delegation/claimer/worker-inbox
src/scheduler/loop/daemon src/delegation/nodes/node-poller src/delegation/worker/hold-claim
src/delegation/worker/mesh src/delegation/worker/worker src/serve/server src/speech-server/server
src/speech-server/sessions/session src/voice/polish/polish src/speech/service/shared-model src/speech/service/speech-service
src/speech/session/live-session src/speech/session/remote-session src/speech/session/session src/tasks/daemon/lease
src/speech/session/time-limited src/weights/hub/hub-request`.split(/\s+/),
)

describe('the sources', () => {
  it('start timers of Node.js only with constant or limited delays', () => {
    const found = ['src', 'commands'].flatMap((folder) =>
      readdirSync(projectFile(folder), {recursive: true, encoding: 'utf8'})
        .filter((file) => file.endsWith('.ts'))
        .map((file) => join(folder, file))
        .filter((file) => hasComputedDelay(readFileSync(projectFile(file), 'utf8')))
        .map((file) => file.slice(0, -'.ts'.length)),
    )
    assert.deepEqual(
      found.filter((file) => !limited.has(file)),
      [],
      'call startTimer or pause of src/process',
    )
    assert.deepEqual(
      [...limited].filter((file) => !found.includes(file)),
      [],
      'no longer needed in the list',
    )
  })
})

/** True if a source calls `setTimeout`, also that of `node:timers/promises`, with a delay that is not constant. */
function hasComputedDelay(source: string): boolean {
  const promised = /import \{[^}]*\bsetTimeout(?: as (\w+))?[^}]*\} from 'node:timers\/promises'/.exec(source)
  const name = promised === null ? undefined : (promised[1] ?? 'setTimeout')
  return [...source.matchAll(/(?<![\w.])(setTimeout|sleep)\(/g)].some(({0: call, 1: called, index}) => {
    if (called === 'sleep' && name !== 'sleep') return false
    const delay = argumentsAt(source, index + call.length)[called === name ? 0 : 1] ?? ''
    return !isConstant(source, delay)
  })
}

/** The arguments of a call, from the character after its bracket. */
function argumentsAt(source: string, start: number): string[] {
  const found: string[] = []
  let depth = 0
  let from = start
  for (let at = start; at < source.length; at++) {
    const character = source[at] as string
    if ('([{'.includes(character)) depth++
    else if (depth === 0 && ')]},'.includes(character)) {
      found.push(source.slice(from, at))
      if (character !== ',') break
      from = at + 1
    } else if (')]}'.includes(character)) depth--
  }
  return found
}

/** True if an expression consists of numbers, functions of `Math` and constants of the file. */
const isConstant = (source: string, expression: string, depth = 0): boolean =>
  depth < 4 &&
  [...expression.matchAll(/[A-Za-z_$#][\w.$]*/g)].every(([word]) => {
    if (/^(Math\.(random|min|max|round|floor)|e\d+)$/.test(word)) return true
    const name = word.replace(/^.*[.#]/, '')
    const value = new RegExp(`(?:^(?:export )?const |static readonly #?)${name} = (.+)`, 'm').exec(source)?.[1]
    return value !== undefined && isConstant(source, value, depth + 1)
  })
