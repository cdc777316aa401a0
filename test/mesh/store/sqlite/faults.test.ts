import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {createInterface} from 'node:readline'
import {describe, it, type TestContext} from 'node:test'
import {fileURLToPath} from 'node:url'
import {refused} from '../conformance/story.js'
import {connect, newPath, openAt} from './open-store.js'

const program = fileURLToPath(new URL('deliver-for-ever.js', import.meta.url))

/** A process that delivers and claims on a file, and tells of each answer that it got. */
function worker(t: TestContext, path: string, {bytes, fileBlocks = 'unlimited'}: {bytes: number; fileBlocks?: string}) {
  const command = `ulimit -f ${fileBlocks}; exec "$0" "$@"`
  const args = ['-c', command, process.execPath, program, path, String(bytes)]
  const child = spawn('/bin/sh', args, {stdio: ['ignore', 'pipe', 'inherit']})
  t.after(() => child.kill('SIGKILL'))
  return {child, lines: createInterface({input: child.stdout})}
}

interface Told {
  delivered: number[]
  acked: number[]
  granted: {key: string; token: number}[]
  lastSeen: number
  refused: string[]
}

const tell = (told: Told, line: string) => {
  const [what, ...values] = line.split(' ')
  if (what === 'delivered') told.delivered.push(Number(values[0]))
  if (what === 'acked') told.acked.push(Number(values[0]))
  if (what === 'granted') told.granted.push({key: values[0] ?? '', token: Number(values[1])})
  if (what === 'seen') told.lastSeen = Number(values[0])
  if (what === 'refused') told.refused.push(values[0] ?? '')
}

/** Everything that was answered for is in the file, and nothing that was acknowledged waits. */
async function check(t: TestContext, path: string, told: Told): Promise<void> {
  const store = await openAt(t, path)
  const database = connect(t, path)
  assert.equal(database.pragma('integrity_check', {simple: true}), 'ok')
  const rows = new Map(
    database
      .prepare<[], {id: number; acked_at: number | null}>('SELECT id, acked_at FROM mesh_messages')
      .all()
      .map(({id, acked_at}) => [id, acked_at]),
  )
  for (const id of told.delivered) assert.ok(rows.has(id), `message ${id} is there`)
  for (const id of told.acked) assert.notEqual(rows.get(id), null, `message ${id} is acknowledged`)
  const tokens = told.granted.map(({token}) => token)
  assert.deepEqual(
    tokens,
    [...new Set(tokens)].toSorted((a, b) => a - b),
  )
  const {fence_token} = await store.grantLease('', {scopeKey: `after ${tokens.length}`, claimer: 'n1'})
  assert.ok(fence_token > Math.max(0, ...tokens))
  const {records} = await store.listNodes('', {limit: 1})
  assert.ok(JSON.parse(records[0] ?? '').last_seen_unix_ms >= told.lastSeen)
  await store.close()
}

const nothing = (): Told => ({delivered: [], acked: [], granted: [], lastSeen: 0, refused: []})

describe('a process that is killed', () => {
  it('keeps the file to itself, has kept everything that it answered for, and leaves it to the next one', async (t) => {
    const path = await newPath(t)
    const told = nothing()
    for (let round = 0; round < 4; round++) {
      const {child, lines} = worker(t, path, {bytes: 300})
      const until = told.delivered.length + 100 + round * 37
      const kept = once(lines, 'line').then(() => refused(openAt(t, path), 'store_busy'))
      let isTried = false
      lines.on('line', (line) => {
        tell(told, line)
        if (isTried && told.delivered.length >= until) child.kill('SIGKILL')
      })
      const closed = once(child, 'close')
      await kept
      isTried = true
      await closed
      assert.ok(told.delivered.length >= until, 'it worked until it was killed')
      await check(t, path, told)
    }
  })
})

describe('a disk that takes no more', () => {
  it('is told as such, has kept what was answered for, and nothing of the rest', async (t) => {
    const path = await newPath(t)
    const told = nothing()
    const {child, lines} = worker(t, path, {bytes: 40_000, fileBlocks: '4096'})
    lines.on('line', (line) => {
      tell(told, line)
      if (told.refused.length >= 20) child.kill('SIGKILL')
    })
    await once(child, 'close')
    assert.ok(told.delivered.length > 5, 'it worked at first')
    assert.deepEqual([...new Set(told.refused)], ['store_unavailable'])
    await check(t, path, told)
    const kept = connect(t, path).prepare('SELECT count(*) FROM mesh_messages').pluck().get()
    assert.equal(kept, told.delivered.length)
  })
})
