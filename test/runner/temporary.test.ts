import assert from 'node:assert/strict'
import {type ChildProcess, spawn} from 'node:child_process'
import {once} from 'node:events'
import {existsSync} from 'node:fs'
import {mkdir, readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {projectFile} from '../support/project.js'
import {temporaryFolder} from '../support/temporary.js'
import {until} from '../support/until.js'
import {createTemporaryFolder, removeTemporaryFolder} from './temporary.js'

const needsLinux = process.platform !== 'linux' && 'processes are found through /proc'

/** Starts a process in a group of its own, as background commands are. */
async function startLeft(t: TestContext, folder: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => {}, 1000)'], {
    detached: true,
    env: {TMPDIR: join(folder, 'of-a-test')},
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

describe('the temporary folder of a run', {skip: needsLinux}, () => {
  it('is removed with the processes that use it', async (t) => {
    const folder = createTemporaryFolder(await temporaryFolder(t))
    const child = await startLeft(t, folder)
    const ended = once(child, 'exit')
    const [command = ''] = removeTemporaryFolder(folder)
    assert.match(command, /setInterval/)
    assert.deepEqual((await ended)[1], 'SIGKILL')
    assert.equal(existsSync(folder), false)
  })

  it('is removed by the next run if its run was killed', async (t) => {
    const parent = await temporaryFolder(t)
    const gone = spawn('true')
    await once(gone, 'exit')
    const left = join(parent, `svc-tests-${gone.pid}-a`)
    const running = join(parent, `svc-tests-${process.pid}-b`)
    for (const folder of [left, running]) await mkdir(folder)
    const child = await startLeft(t, left)
    const ended = once(child, 'exit')
    createTemporaryFolder(parent)
    await ended
    assert.deepEqual([existsSync(left), existsSync(running)], [false, true])
  })
})

describe('a run of the suite', {skip: needsLinux}, () => {
  it('ends what its tests have started when it is stopped', async (t) => {
    const folder = await temporaryFolder(t)
    await writeFile(join(folder, 'started'), '')
    const module = JSON.stringify(new URL('temporary.js', import.meta.url).href)
    const script = `import {createTemporaryFolder, removeOnSignals} from ${module}
import {spawn} from 'node:child_process'
const folder = createTemporaryFolder(${JSON.stringify(folder)})
removeOnSignals(folder)
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {detached: true, env: {TMPDIR: folder}})
console.log(JSON.stringify({folder, pid: child.pid}))
setInterval(() => {}, 1000)`
    const run = spawn(process.execPath, ['--input-type=module', '-e', script], {
      cwd: projectFile('.'),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => run.kill('SIGKILL'))
    const [line] = (await once(run.stdout, 'data')) as [Buffer]
    const started = JSON.parse(String(line)) as {folder: string; pid: number}
    run.kill('SIGTERM')
    assert.deepEqual(await once(run, 'exit'), [143, null])
    assert.equal(existsSync(started.folder), false)
    // An ended process has no command line, even if its parent has not noticed yet.
    const commandLine = () => readFile(`/proc/${started.pid}/cmdline`, 'utf8').catch(() => '')
    await until(async () => (await commandLine()) === '', 'the end of the process')
  })
})
