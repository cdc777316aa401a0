import assert from 'node:assert/strict'
import {readdir, readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {logResult, readMemory} from '../../../src/scheduler/processors/memory.js'
import {resolveOrchestratorConfig} from '../../../src/workspace/index.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'
import {aTask} from './a-task.js'

async function place(test: TestContext, memory: object = {}) {
  const root = await temporaryFolder(test)
  const {config} = resolveOrchestratorConfig({env: {}})
  const clock = {ms: Date.parse('2026-03-31T10:00:00Z')}
  return {root, config: {...config, memory: {...config.memory, ...memory}}, now: () => clock.ms, clock}
}

describe('the memory file', () => {
  for (const [setting, memory, path] of [
    ['is in the folder of the account', {}, '.svc/memory/global/MEMORY.md'],
    ['follows account_id', {accountId: 'anna'}, '.svc/memory/anna/MEMORY.md'],
    ['follows memory_md_path', {memoryMdPath: 'docs/facts.md'}, 'docs/facts.md'],
  ] as const)
    it(setting, async (t) => {
      const here = await place(t, memory)
      assert.equal(await readMemory(here), '')
      await writeFiles(here.root, {[path]: '\nTests are in test/.\n'})
      assert.equal(await readMemory(here), 'Tests are in test/.')
      assert.equal(
        await readMemory({...here, config: {...here.config, memory: {...here.config.memory, enabled: false}}}),
        '',
      )
    })
})

describe('the log of results', () => {
  it('has one line per task in a file per day, and deletes old files', async (t) => {
    const here = await place(t, {logRetentionDays: 2})
    const folder = join(here.root, '.svc/memory/global')
    await writeFiles(folder, {'MEMORY.md': 'x', '2026-03-28.md': 'old', '2026-03-29.md': 'kept'})
    await logResult(here, aTask(), 'Seven\nis prime.')
    here.clock.ms += 86_400_000
    await logResult(here, aTask(), 'y'.repeat(1000))
    assert.deepEqual((await readdir(folder)).sort(), ['2026-03-31.md', '2026-04-01.md', 'MEMORY.md'])
    const log = await readFile(join(folder, '2026-03-31.md'), 'utf8')
    assert.match(log, /^- 2026-03-31T10:00:00\.000Z T-0042 \(\w*\): Name a prime number\. -> Seven is prime\.\n$/)
    assert.ok((await readFile(join(folder, '2026-04-01.md'), 'utf8')).length < 450)
  })

  it('follows log_dir, and is off with the memory', async (t) => {
    const here = await place(t, {logDir: 'logs'})
    await logResult(here, aTask(), 'Seven.')
    assert.deepEqual(await readdir(join(here.root, 'logs')), ['2026-03-31.md'])
    const off = await place(t, {enabled: false})
    await logResult(off, aTask(), 'Seven.')
    assert.deepEqual(await readdir(off.root), [])
  })
})
