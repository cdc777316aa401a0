import assert from 'node:assert/strict'
import {mkdir, utimes, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {readEditorContext} from '../../../src/voice/routing/editor-context.js'
import {temporaryFolder} from '../../support/temporary.js'

const state = {active_file: 'a.ts', cursor_line: 3, recent_errors: ['[a] wrong'], symbol_stack: ['main']}

async function workspace(test: TestContext, text: string, ageSec: number): Promise<string> {
  const root = await temporaryFolder(test)
  await mkdir(join(root, '.svc'), {recursive: true})
  const file = join(root, '.svc', 'ide_state.json')
  await writeFile(file, text)
  const at = Date.now() / 1000 - ageSec
  await utimes(file, at, at)
  return root
}

describe('readEditorContext', () => {
  it('reads what the editor wrote', async (test) => {
    assert.deepEqual(await readEditorContext(await workspace(test, JSON.stringify(state), 10), {}), {
      activeFile: 'a.ts',
      cursorLine: 3,
      recentErrors: ['[a] wrong'],
      symbolStack: ['main'],
    })
  })

  it('prefers the settings', async (test) => {
    const root = await workspace(test, JSON.stringify(state), 10)
    const context = await readEditorContext(root, {activeFile: 'b.ts', activeLine: 9, activeSymbol: 'App'})
    assert.deepEqual([context.activeFile, context.cursorLine, context.symbolStack], ['b.ts', 9, ['App', 'main']])
  })

  it('ignores an old, invalid or missing file', async (test) => {
    const none = {activeFile: undefined, cursorLine: undefined, recentErrors: [], symbolStack: []}
    assert.deepEqual(await readEditorContext(await workspace(test, JSON.stringify(state), 301), {}), none)
    assert.deepEqual(await readEditorContext(await workspace(test, '{"active_file": 7', 1), {}), none)
    assert.deepEqual(
      await readEditorContext(await workspace(test, '{"active_file": 7, "recent_errors": 1}', 1), {}),
      none,
    )
    assert.deepEqual(await readEditorContext(await temporaryFolder(test), {}), none)
  })
})
