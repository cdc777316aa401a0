import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {rename} from 'node:fs/promises'
import {createInterface} from 'node:readline'
import {describe, it, type TestContext} from 'node:test'
import {fileURLToPath} from 'node:url'
import {refused} from '../conformance/story.js'
import {connect, newPath, openAt} from './open-store.js'

const program = fileURLToPath(new URL('deliver-for-ever.js', import.meta.url))

/** Runs `deliver-for-ever` and collects its results. */
function worker(t: TestContext, path: string, {bytes, fileBlocks = 'unlimited'}: {bytes: number; fileBlocks?: string}) {
  const command = `ulimit -f ${fileBlocks}; exec "$0" "$@"`
  const args = ['-c', command, process.execPath, program, path, String(bytes)]
  const child = spawn('/bin/sh', args, {stdio: ['ignore', 'pipe', 'inherit']})
  t.after(() => child.kill('SIGKILL'))
  return {child, lines: createInterface({input: child.stdout})}
}

interface Results {
  delivered: number[]
  acked: number[]
  granted: {key: string; token: number}[]
  lastSeen: number
  refused: string[]
}

const addResult = (results: Results, line: string) => {
  const [what, ...values] = line.split(' ')
  if (what === 'delivered') results.delivered.push(Number(values[0]))
  if (what === 'acked') results.acked.push(Number(values[0]))
  if (what === 'granted') results.granted.push({key: values[0] ?? '', token: Number(values[1])})
  if (what === 'seen') results.lastSeen = Number(values[0])
  if (what === 'refused') results.refused.push(values[0] ?? '')
}

/** Asserts that all confirmed results are stored, and no acknowledged message is pending. */
async function check(t: TestContext, path: string, results: Results): Promise<void> {
  const store = await openAt(t, path)
  const database = connect(t, path)
  assert.equal(database.pragma('integrity_check', {simple: true}), 'ok')
  const rows = new Map(
    database
      .prepare<[], {id: number; acked_at: number | null}>('SELECT id, acked_at FROM mesh_messages')
      .all()
      .map(({id, acked_at}) => [id, acked_at]),
  )
  for (const id of results.delivered) assert.ok(rows.has(id), `message ${id} is there`)
  for (const id of results.acked) assert.notEqual(rows.get(id), null, `message ${id} is acknowledged`)
  const tokens = results.granted.map(({token}) => token)
  assert.deepEqual(
    tokens,
    [...new Set(tokens)].toSorted((a, b) => a - b),
  )
  const {fence_token} = await store.grantLease('', {scopeKey: `after ${tokens.length}`, claimer: 'n1'})
  assert.ok(fence_token > Math.max(0, ...tokens))
  const {records} = await store.listNodes('', {limit: 1})
  assert.ok(JSON.parse(records[0] ?? '').last_seen_unix_ms >= results.lastSeen)
  await store.close()
}

const nothing = (): Results => ({delivered: [], acked: [], granted: [], lastSeen: 0, refused: []})

describe('killed process', () => {
  it('holds the lock while alive, loses no confirmed results, and releases the lock', async (t) => {
    const path = await newPath(t)
    const results = nothing()
    for (let round = 0; round < 4; round++) {
      const {child, lines} = worker(t, path, {bytes: 300})
      const until = results.delivered.length + 100 + round * 37
      const kept = once(lines, 'line').then(() => refused(openAt(t, path), 'store_busy'))
      let isTried = false
      lines.on('line', (line) => {
        addResult(results, line)
        if (isTried && results.delivered.length >= until) child.kill('SIGKILL')
      })
      const closed = once(child, 'close')
      await kept
      isTried = true
      await closed
      assert.ok(results.delivered.length >= until, 'it worked until it was killed')
      await check(t, path, results)
    }
  })
})

describe('moved file', () => {
  it('confirms nothing more until it is back', async (t) => {
    const path = await newPath(t)
    const store = await openAt(t, path)
    const grant = (scopeKey: string) => store.grantLease('', {scopeKey, claimer: 'n1'})
    await store.join('', {id: 'n1', version: '1.0.0', capabilities: {}})
    await grant('a')
    await rename(path, `${path}.away`)
    await refused(grant('b'), 'store_unavailable')
    await refused(store.check(), 'store_unavailable')
    await rename(`${path}.away`, path)
    assert.equal((await grant('b')).fence_token, 2)
    await store.check()
  })
})

describe('full disk', () => {
  it('is reported, keeps confirmed results and stores nothing else', async (t) => {
    const path = await newPath(t)
    const results = nothing()
    const {child, lines} = worker(t, path, {bytes: 40_000, fileBlocks: '4096'})
    lines.on('line', (line) => {
      addResult(results, line)
      if (results.refused.length >= 20) child.kill('SIGKILL')
    })
    await once(child, 'close')
    assert.ok(results.delivered.length > 5, 'it worked at first')
    assert.deepEqual([...new Set(results.refused)], ['store_unavailable'])
    await check(t, path, results)
    const kept = connect(t, path).prepare('SELECT count(*) FROM mesh_messages').pluck().get()
    assert.equal(kept, results.delivered.length)
  })
})
