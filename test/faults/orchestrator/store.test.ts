import assert from 'node:assert/strict'
import {existsSync} from 'node:fs'
import {chmod, open, readFile, rm, stat, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {execa} from 'execa'
import {projectFile} from '../../support/project.js'
import {Driver} from '../../support/sqlite.js'
import {type SvcResult, svcBinary} from '../../support/svc.js'
import {svcInTurn} from '../../support/svc-in-turn.js'
import {until} from '../../support/until.js'
import {checkIntegrity, readTraces} from './evidence.js'
import {startDaemon, startDaemonInTurn, startNode, temporaryWorkspace} from './process.js'
import {storeOf, workspaceEnv} from './workspace.js'

const orch = (root: string, args: readonly string[], env: Readonly<Record<string, string>> = workspaceEnv) =>
  svcInTurn(['orch', ...args], {cwd: root, env: {HOME: root, ...env}})

async function submit(root: string, ...more: string[]): Promise<void> {
  const {exitCode, stderr} = await orch(root, ['submit', 'work', '--exec', 'work', '--param', 'seconds=0.01', ...more])
  assert.equal(exitCode, 0, stderr)
}

/** A workspace with one task, and the bytes of its store. */
async function withTask(test: Parameters<typeof temporaryWorkspace>[0]) {
  const root = await temporaryWorkspace(test)
  await submit(root)
  return {root, bytes: await readFile(storeOf(root))}
}

interface Refusal {
  code: string
  message: string
  remediation: string
  exit: number
}

/** The error of a failed command. Asserts that its message is one sentence and the exit status matches. */
function refusal({stdout, exitCode}: SvcResult): Refusal {
  const {error} = JSON.parse(stdout) as {error: Refusal}
  assert.equal(exitCode, error.exit)
  assert.match(error.message, /^\S.*\.$/)
  assert.doesNotMatch(error.message, /SqliteError|\n/)
  return error
}

/** Asserts that all commands fail with this error if the store is unusable. */
async function refusedEverywhere(root: string, code: string, exit: number): Promise<void> {
  for (const args of [['submit', 'more'], ['tasks'], ['task', '1'], ['status'], ['cancel', '1'], ['claim']]) {
    const error = refusal(await orch(root, [...args, '--json']))
    assert.deepEqual([args[0], error.code, error.exit], [args[0], code, exit])
    assert.ok(error.message.includes(storeOf(root)), error.message)
  }
  const {stdout, exitCode} = await svcInTurn(['daemon', 'run', '--json'], {cwd: root, env: workspaceEnv})
  const {error} = JSON.parse(stdout) as {error: Refusal}
  assert.deepEqual([exitCode, error.code], [exit, code])
}

/** Asserts that the task is unchanged. */
async function assertNothingLost(root: string): Promise<void> {
  const {stdout} = await orch(root, ['tasks', '--json'])
  const {tasks} = JSON.parse(stdout) as {tasks: {id: number; status: string}[]}
  assert.deepEqual(
    tasks.map(({id, status}) => [id, status]),
    [[1, 'Queued']],
  )
}

/** A user to which file permissions apply, unlike root. */
const nobody = process.getuid?.() === 0 ? {uid: 65_534, gid: 65_534} : {}

describe('a store that is not writable', () => {
  it('is reported and not changed', async (test) => {
    const {root, bytes} = await withTask(test)
    await chmod(join(root, '.svc'), 0o555)
    await chmod(storeOf(root), 0o444)
    const {stdout, stderr, exitCode} = await execa(process.execPath, [svcBinary, 'orch', 'submit', 'more', '--json'], {
      cwd: root,
      reject: false,
      extendEnv: false,
      env: {...process.env, ...workspaceEnv, HOME: root},
      ...nobody,
    })
    await chmod(join(root, '.svc'), 0o755)
    const error = refusal({stdout, stderr, exitCode})
    assert.deepEqual([error.code, error.exit], ['store_unwritable', 5])
    assert.match(error.remediation, /check the permissions/)
    assert.deepEqual(await readFile(storeOf(root)), bytes)
    await chmod(storeOf(root), 0o644)
    await assertNothingLost(root)
  })

  it('is not replaced by the user store', async (test) => {
    const {root} = await withTask(test)
    await writeFile(storeOf(root), 'not a database')
    const data = join(root, 'data')
    const {stdout, exitCode} = await orch(root, ['submit', 'more', '--processor', 'external'], {SVC_DATA_DIR: data})
    assert.deepEqual([stdout, exitCode, existsSync(data)], ['', 5, false])
  })
})

describe('a store whose folder', () => {
  it('was deleted is created again', async (test) => {
    const {root} = await withTask(test)
    await rm(join(root, '.svc'), {recursive: true})
    await submit(root)
    await assertNothingLost(root)
    assert.equal((await stat(join(root, '.svc'))).mode & 0o077, 0)
  })

  it('is a file cannot be opened', async (test) => {
    const root = await temporaryWorkspace(test)
    await writeFile(join(root, '.svc'), '')
    await refusedEverywhere(root, 'store_unopenable', 5)
  })

  it('is deleted while a daemon runs ends the daemon, which does not create it again', async (test) => {
    const {root} = await withTask(test)
    const daemon = startDaemon(root)
    assert.equal(await daemon.ready, true)
    await rm(join(root, '.svc'), {recursive: true})
    // The daemon detects the loss in its maintenance, once per second.
    assert.deepEqual([await daemon.exited, daemon.errorCode()], [5, 'store_moved'])
    assert.equal(existsSync(storeOf(root)), false)
  })
})

describe('a damaged store', () => {
  for (const [where, from, length] of [
    ['in its header', 0, 200],
    ['in its tables', 4096, 60_000],
  ] as const)
    it(`${where} is reported and not changed, and works again once it is restored`, async (test) => {
      const {root, bytes} = await withTask(test)
      const file = await open(storeOf(root), 'r+')
      await file.write(Buffer.alloc(Math.min(length, bytes.length - from), 0xa5), 0, undefined, from)
      await file.close()
      const damaged = await readFile(storeOf(root))
      await refusedEverywhere(root, 'store_damaged', 5)
      assert.deepEqual(await readFile(storeOf(root)), damaged)
      await writeFile(storeOf(root), bytes)
      await assertNothingLost(root)
    })

  it('in a page that is read late ends a daemon with an error', async (test) => {
    const root = await temporaryWorkspace(test)
    await submit(root)
    const database = new Driver(storeOf(root))
    const {rootpage} = database
      .prepare<[], {rootpage: number}>("SELECT rootpage FROM sqlite_schema WHERE name = 'orch_leases'")
      .get() ?? {rootpage: 0}
    database.pragma('wal_checkpoint(TRUNCATE)')
    database.close()
    const file = await open(storeOf(root), 'r+')
    await file.write(Buffer.alloc(4096, 0xa5), 0, undefined, (rootpage - 1) * 4096)
    await file.close()
    const daemon = startDaemonInTurn(root)
    assert.deepEqual([await daemon.exited, daemon.errorCode()], [5, 'store_damaged'])
  })
})

describe('a store of a newer version', () => {
  it('is rejected and not changed', async (test) => {
    const {root} = await withTask(test)
    const change = (sql: string) => {
      const database = new Driver(storeOf(root))
      database.exec(sql)
      database.close()
    }
    change("UPDATE schema_fragments SET version = version + 7 WHERE name = 'orchestrator'")
    const before = await readFile(storeOf(root))
    await refusedEverywhere(root, 'store_newer', 4)
    assert.deepEqual(await readFile(storeOf(root)), before)
    change("UPDATE schema_fragments SET version = version - 7 WHERE name = 'orchestrator'")
    await assertNothingLost(root)
  })
})

describe('a store locked by another process', {concurrency: true}, () => {
  /** Holds the lock for a time, or until it is released. */
  async function lock(root: string, ms: number) {
    const program = projectFile('dist/test/faults/orchestrator/hold-lock.js')
    return new Promise<{release(): Promise<unknown>; released: Promise<unknown>}>((resolve, reject) => {
      const release = () => {
        holder.kill('SIGKILL')
        return holder.exited
      }
      const holder = startNode([program, storeOf(root), String(ms)], {
        root,
        onLine: () => resolve({release, released: holder.exited}),
      })
      void holder.exited.then(() => reject(new Error(holder.stderr())))
    })
  }

  it('can be read, but writing fails after a timeout and can be repeated later', async (test) => {
    const {root} = await withTask(test)
    const more = ['submit', 'more', '--processor', 'external', '--key', 'k', '--json']
    const {release} = await lock(root, 600_000)
    const [writing, reading] = await Promise.all([orch(root, more), orch(root, ['tasks', '--json'])])
    assert.equal(reading.exitCode, 0)
    const error = refusal(writing)
    assert.deepEqual([error.code, error.exit], ['store_busy', 5])
    assert.match(error.message, /locked by another process/)
    await assertNothingLost(root)
    await release()
    const later = await orch(root, more)
    assert.equal(later.exitCode, 0, later.stdout)
    assert.equal((JSON.parse(later.stdout) as {task_id: number}).task_id, 2)
  })

  it('for a short time only delays writers', async (test) => {
    const {root} = await withTask(test)
    await lock(root, 2000)
    await submit(root)
    assert.equal(readTraces(root).tasks.length, 2)
  })

  it('causes a running daemon neither to lose a task nor to complete one twice', async (test) => {
    const root = await temporaryWorkspace(test)
    for (const seconds of ['1', '0.01', '0.01'])
      await orch(root, ['submit', 'work', '--exec', 'work', '--param', `seconds=${seconds}`])
    let daemon = startDaemon(root)
    await until(() => readTraces(root).journal.length > 0, 'the first task has started')
    const {released} = await lock(root, 7000)
    // The daemon may wait or exit; if it exits, it reports the reason.
    const alive = released.then(() => sleep(1000, 'alive'))
    if ((await Promise.race([daemon.exited, alive])) !== 'alive') {
      assert.deepEqual([await daemon.exited, daemon.errorCode()], [5, 'store_busy'])
      daemon = startDaemon(root)
      assert.equal(await daemon.ready, true)
    }
    await until(
      () => readTraces(root).tasks.every(({status}) => status === 'Completed'),
      () => JSON.stringify(readTraces(root).tasks),
    )
    const {events} = readTraces(root)
    assert.equal(events.filter(({type}) => type === 'task_completed').length, 3)
    assert.equal(checkIntegrity(root), 'ok')
  })
})
