import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {existsSync} from 'node:fs'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {svcBinary} from '../support/svc.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

/** Starts `svc workflow run --json` with these steps, and waits for the first line of its journal. */
async function started(test: TestContext, steps: string) {
  const root = await temporaryFolder(test)
  await writeFiles(root, {'Svc.toml': '', 'flow.yaml': `version: 1\nworkflows: {flow: {steps: [${steps}]}}`})
  const args = [svcBinary, 'workflow', 'run', 'flow.yaml', '--run-id', 'r', '--json']
  const child = spawn(process.execPath, args, {cwd: root, stdio: ['ignore', 'pipe', 'pipe']})
  test.after(() => child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  await once(child.stdout, 'data')
  return {child, exited, exists: (name: string) => existsSync(join(root, name))}
}

describe('workflow run', () => {
  it('finishes its work when the reader of its journal leaves', async (test) => {
    const {child, exited, exists} = await started(
      test,
      '{exec: [sleep, "0.2"]}, {exec: [sleep, "0.2"]}, {exec: [touch, done]}',
    )
    child.stdout.destroy()
    assert.deepEqual(await exited, [0, null])
    assert.ok(exists('done'))
  })
})
