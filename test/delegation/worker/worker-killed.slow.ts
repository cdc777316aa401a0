import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {existsSync} from 'node:fs'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {fileURLToPath} from 'node:url'
import {isAlive} from '../../../src/process/index.js'
import {temporaryFolder} from '../../support/temporary.js'
import {until} from '../../support/until.js'
import {endless, startDelegation, startWorker} from './support/delegation.js'

describe('a worker that is killed', () => {
  it('leaves its task to the next worker, which also ends its command', async (t) => {
    const parent = await startDelegation(t, {limits: {leaseMs: 10_000}, safetyMs: 100})
    const home = await temporaryFolder(t)
    const marker = join(home, 'marker')
    // The second run ends, since the marker exists.
    const script = `import {existsSync} from 'node:fs'
if (existsSync(${JSON.stringify(marker)})) { console.log(process.env.SVC_TASK_ATTEMPT); process.exit() }
${endless(marker)}`
    const sent = await parent.sendScript(script)
    const program = fileURLToPath(new URL('support/run-worker.js', import.meta.url))
    const folder = join(home, 'work')
    const killed = spawn(process.execPath, [program, parent.plane.baseUrl, folder], {stdio: 'inherit'})
    await until(() => existsSync(marker), 'the command runs')
    const pid = Number(await readFile(marker, 'utf8'))
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    assert.equal(isAlive(pid, ''), true)
    await startWorker(t, parent, {options: {folder}})
    const {idempotency_key: key, success, result} = await parent.result()
    assert.deepEqual([key, success], [sent.key, true])
    assert.ok(Number(result) >= 1)
    assert.equal(isAlive(pid, ''), false)
  })
})
