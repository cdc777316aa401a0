import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {createInterface} from 'node:readline'
import {describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {projectFile} from '../../support/project.js'
import {svcBinary} from '../../support/svc.js'
import {svcInTurn} from '../../support/svc-in-turn.js'
import {readTraces} from './evidence.js'
import {readJournal} from './journal.js'
import {oracles} from './oracles.js'
import {startDaemon, startNode, temporaryWorkspace} from './process.js'
import {workspaceEnv} from './workspace.js'

const submitWork = async (root: string, seconds: number) => {
  const args = ['orch', 'submit', 'work', '--exec', 'work', '--param', `seconds=${seconds}`]
  const {exitCode, stderr} = await svcInTurn(args, {cwd: root, env: workspaceEnv})
  assert.equal(exitCode, 0, stderr)
}

async function untilCompleted(root: string, id: number): Promise<void> {
  const args = ['orch', 'task', String(id), '--json']
  const deadline = performance.now() + 20_000
  for (;;) {
    const {stdout} = await svcInTurn(args, {cwd: root, env: workspaceEnv})
    const {status} = JSON.parse(stdout) as {status: string}
    if (status === 'Completed') return
    assert.ok(performance.now() < deadline, `it is still ${status}`)
    await sleep(100)
  }
}

describe('a command that its daemon left behind', () => {
  it('is ended before the task is run again', async (test) => {
    const root = await temporaryWorkspace(test)
    await submitWork(root, 2)
    const first = startDaemon(root)
    while (readJournal(root).length === 0) await sleep(20)
    // The store has the process a moment after the process has its first word.
    await sleep(300)
    first.kill('SIGKILL')
    await first.exited
    startDaemon(root)
    await untilCompleted(root, 1)
    const {journal} = readTraces(root)
    assert.deepEqual(
      journal.map(({what, attempt}) => [what, attempt]),
      [
        ['start', 1],
        ['start', 3],
        ['end', 3],
      ],
    )
  })

  it('is ended also where the daemon died before it could write down which process it is', async (test) => {
    const root = await temporaryWorkspace(test)
    await submitWork(root, 2)
    const program = projectFile('dist/test/faults/orchestrator/die-before-recording.js')
    assert.equal(await startNode([program, root], {root}).exited, null)
    startDaemon(root)
    await untilCompleted(root, 1)
    const {journal} = readTraces(root)
    assert.equal(journal.at(-1)?.attempt, 3)
    const overlaps = oracles['attempts at a task never overlap']({journal} as never)
    assert.deepEqual(overlaps, [])
  })
})

describe('a daemon that was killed, and whose parent has not asked how it ended', () => {
  it('counts as dead', {skip: process.platform === 'win32' && 'needs a POSIX shell'}, async (test) => {
    const root = await temporaryWorkspace(test)
    // The shell becomes a program that asks for no children.
    const parent = spawn(
      'sh',
      ['-c', '"$0" "$@" & exec sleep 60', process.execPath, svcBinary, 'daemon', 'run', '--json'],
      {cwd: root, env: {PATH: process.env.PATH, HOME: root, ...workspaceEnv}, stdio: ['ignore', 'pipe', 'ignore']},
    )
    test.after(() => parent.kill('SIGKILL'))
    const [line] = await once(createInterface({input: parent.stdout}), 'line')
    const {pid} = JSON.parse(line) as {pid: number}
    process.kill(pid, 'SIGKILL')
    await sleep(200)
    const second = startDaemon(root)
    assert.equal(await second.ready, true, second.lines.at(-1))
  })
})
