import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {existsSync} from 'node:fs'
import {describe, it} from 'node:test'
import {isAlive, processesWith, processStart} from '../../src/process/index.js'

const proc = existsSync('/proc/self/environ') ? {} : {skip: 'this system has no /proc'}

/** Starts a waiting process with exactly these environment variables. */
async function waiting(env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, ['-e', 'process.stdout.write("."); setTimeout(() => {}, 60_000)'], {env})
  await once(child.stdout, 'data')
  return {pid: child.pid as number, child}
}

describe('processesWith', proc, () => {
  it('finds processes by exact name and value of a variable', async (test) => {
    const value = `value-${process.pid}`
    const processes = await Promise.all([
      waiting({SVC_TEST_ID: value}),
      waiting({AN_OTHER: '1', SVC_TEST_ID: value}),
      waiting({NOT_SVC_TEST_ID: value}),
      waiting({AN_OTHER: '1', NOT_SVC_TEST_ID: value}),
      waiting({SVC_TEST_ID: `${value}0`}),
    ])
    test.after(() => {
      for (const {child} of processes) child.kill()
    })
    const found = processesWith('SVC_TEST_ID', value)
    const expected = processes.slice(0, 2).map(({pid}) => pid)
    assert.deepEqual(
      found.sort((a, b) => a - b),
      expected.sort((a, b) => a - b),
    )
  })
})

describe('isAlive', proc, () => {
  it('is true until the process exits, and false for another start time', async () => {
    const {pid, child} = await waiting({})
    const start = processStart(pid) ?? ''
    assert.deepEqual([isAlive(pid, start), isAlive(pid, ''), isAlive(pid, `${start}0`)], [true, true, false])
    child.kill()
    await once(child, 'exit')
    assert.deepEqual([isAlive(pid, start), processStart(pid)], [false, undefined])
  })
})
