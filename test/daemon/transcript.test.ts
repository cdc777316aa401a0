import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import {describe, it} from 'node:test'
import {assertFits} from '../support/orch-workspace.js'
import {projectFile} from '../support/project.js'
import {Peer, startTestDaemon} from './support/daemon.js'

/** Line of a client and its expected responses. */
interface Exchange {
  sent: string
  answers: string[]
}

function readTranscript(text: string): Exchange[] {
  const exchanges: Exchange[] = []
  for (const line of text.split('\n')) {
    if (line.startsWith('> ')) exchanges.push({sent: line.slice(2), answers: []})
    else if (line.startsWith('< ')) exchanges.at(-1)?.answers.push(line.slice(2))
  }
  return exchanges
}

/** Reduces an actual value to the expected members. */
function visible(found: unknown, expected: unknown): unknown {
  if (expected === '*') return found === undefined ? undefined : '*'
  if (Array.isArray(expected) && Array.isArray(found)) return found.map((each, i) => visible(each, expected[i]))
  if (typeof expected !== 'object' || expected === null || typeof found !== 'object' || found === null) return found
  return Object.fromEntries(
    Object.entries(expected).map(([name, value]) => [name, visible((found as Record<string, unknown>)[name], value)]),
  )
}

describe('daemon transcript', () => {
  it('matches line by line', async (t) => {
    const {addr} = await startTestDaemon(t)
    const peer = await Peer.connect(t, addr)
    const exchanges = readTranscript(readFileSync(projectFile('test/daemon/transcript.txt'), 'utf8'))
    assert.ok(exchanges.length > 40)
    for (const {sent, answers} of exchanges) {
      peer.send(sent)
      for (const answer of answers) {
        const expected = JSON.parse(answer) as unknown
        const found = await peer.next<object>()
        assert.deepEqual(visible(found, expected), expected, sent)
        await assertFits('orchestration/orch-daemon-rpc-methods', found)
      }
    }
    assert.deepEqual(await peer.closed(), [], 'nothing is said that was not asked for')
  })

  it('matches if all lines are sent at once', async (t) => {
    const {addr} = await startTestDaemon(t)
    const peer = await Peer.connect(t, addr)
    const exchanges = readTranscript(readFileSync(projectFile('test/daemon/transcript.txt'), 'utf8'))
    // Events of subscriptions may arrive at any time.
    const isAnswer = (line: string) => !/"type":"event"|"method":"orch\.event/.test(line)
    const expected = exchanges.flatMap(({answers}) => answers.filter(isAnswer)).map((answer) => JSON.parse(answer))
    peer.send(...exchanges.map(({sent}) => sent))
    const found = (await peer.closed()).filter(isAnswer).map((line) => JSON.parse(line))
    assert.deepEqual(
      found.map((each, i) => visible(each, expected[i])),
      expected,
    )
  })
})
