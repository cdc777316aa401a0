import assert from 'node:assert/strict'
import {existsSync} from 'node:fs'
import {mkdir, readFile, rename, rm} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {isErrorOf} from '../../src/errors/index.js'
import {reportStatus, spawnAgent, workspaceJourney} from '../../src/orchestrator/index.js'
import {
  lastEventId,
  listAgents,
  listTasks,
  readEvents,
  requireTask,
  submitTask,
  takeClaim,
} from '../../src/tasks/index.js'
import {breakStore} from '../support/empty-store.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {openTestOrchestrator, refused} from './support/open-test-orchestrator.js'
import {complete, runAll, start, statusOf, submit, submitWriter} from './support/tasks.js'

/** A workspace without a store. */
async function newWorkspace(t: TestContext) {
  const root = await temporaryFolder(t)
  await writeFiles(root, {'Svc.toml': ''})
  return root
}

/** A workspace whose own store cannot be opened because `.svc` is a file, not a folder. */
async function broken(t: TestContext) {
  const root = await newWorkspace(t)
  await breakStore(root)
  return root
}

const v2 = (fallback: boolean) =>
  `[orchestrator.orchestration_migration]\norchestration_v2_enabled = true\nlegacy_orchestration_fallback = ${fallback}\n`
const toCanonical = {SVC_WORKSPACE_JOURNEY_FALLBACK_CANONICAL: 'on'}
const withoutStores = {...toCanonical, SVC_DB_PATH: '/dev/null/svc.db'}

describe('the store of a workspace', () => {
  it('is in the workspace by default and persists between processes', async (t) => {
    const first = await openTestOrchestrator(t, {root: await newWorkspace(t)})
    assert.equal(first.store.path, join(first.root, '.svc', 'store.db'))
    const ids = [submit(first), submit(first)]
    start(first, ids[0] ?? 0)
    const second = await openTestOrchestrator(t, {root: first.root})
    assert.deepEqual(listTasks(second), listTasks(first))
    assert.deepEqual(reportStatus(second), reportStatus(first))
    assert.equal(submit(second), 3)
    assert.deepEqual([second.isKept, second.notices], [true, []])
  })

  for (const [place, env] of [
    ['.svc', {}],
    ['a file of the workspace', {SVC_WORKSPACE_JOURNEY_STORE: './state/tasks.db'}],
  ] as const)
    it(`keeps its tasks in ${place} when the workspace is renamed, gets an origin, or is restored elsewhere`, async (t) => {
      const first = await openTestOrchestrator(t, {root: await newWorkspace(t), env})
      const id = submit(first)
      first.close()
      const root = `${first.root}-renamed`
      t.after(() => rm(root, {recursive: true, force: true}))
      await rename(first.root, root)
      await writeFiles(root, {'.git/config': '[remote "origin"]\n  url = https://example.org/a.git\n'})
      const second = await openTestOrchestrator(t, {root, env})
      assert.equal(statusOf(second, id), 'Queued')
      assert.equal(workspaceJourney(second, {sources: {env}, cwd: root}).match, true)
      const copy = await newWorkspace(t)
      const to = env.SVC_WORKSPACE_JOURNEY_STORE ?? '.svc/store.db'
      await mkdir(dirname(join(copy, to)), {recursive: true})
      second.store.run('VACUUM INTO ?', [join(copy, to)])
      assert.equal(statusOf(await openTestOrchestrator(t, {root: copy, env}), id), 'Queued')
    })

  it('keeps the tasks of an older version, which did not record the repository', async (t) => {
    const first = await openTestOrchestrator(t, {root: await newWorkspace(t)})
    const id = submit(first)
    first.store.run("DELETE FROM orch_state WHERE repository_id = ''")
    first.close()
    const root = `${first.root}-renamed`
    t.after(() => rm(root, {recursive: true, force: true}))
    await rename(first.root, root)
    assert.equal(statusOf(await openTestOrchestrator(t, {root}), id), 'Queued')
  })

  it('has only the tasks of the own workspace if several share it', async (t) => {
    const folder = await temporaryFolder(t)
    const env = {SVC_WORKSPACE_JOURNEY_STORE: join(folder, 'shared.db')}
    const first = await openTestOrchestrator(t, {root: await newWorkspace(t), env})
    submit(first)
    const second = await openTestOrchestrator(t, {root: await newWorkspace(t), env})
    assert.deepEqual(listTasks(second), [])
  })

  for (const word of ['canonical', 'CANONICAL'])
    it(`is the user store if SVC_WORKSPACE_JOURNEY_STORE is ${word}`, async (t) => {
      const root = await newWorkspace(t)
      const path = join(root, 'user', 'my.db')
      const env = {SVC_WORKSPACE_JOURNEY_STORE: word, SVC_DB_PATH: path}
      const orchestrator = await openTestOrchestrator(t, {root, env})
      assert.equal(orchestrator.store.path, path)
      submit(orchestrator)
      assert.ok(existsSync(path))
      assert.ok(!existsSync(join(root, '.svc', 'store.db')))
    })

  it('is svc.db in the data folder if it is the user store and SVC_DB_PATH is unset', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {env: {SVC_WORKSPACE_JOURNEY_STORE: 'canonical'}})
    assert.equal(orchestrator.store.path, join(orchestrator.root, 'data', 'svc.db'))
  })

  it('is the file that SVC_WORKSPACE_JOURNEY_STORE names, relative to the workspace root', async (t) => {
    const env = {SVC_WORKSPACE_JOURNEY_STORE: './state/tasks.db'}
    const first = await openTestOrchestrator(t, {root: await newWorkspace(t), env})
    const path = join(first.root, 'state', 'tasks.db')
    assert.deepEqual([first.store.path, reportStatus(first).active_store], [path, 'file'])
    const id = submit(first)
    const second = await openTestOrchestrator(t, {root: first.root, env: {SVC_WORKSPACE_JOURNEY_STORE: path}})
    assert.equal(statusOf(second, id), 'Queued')
    assert.ok(!existsSync(join(first.root, '.svc', 'store.db')))
  })

  it('fails with the path if that file is a directory or its directory is a file, and keeps both', async (t) => {
    const root = await temporaryFolder(t)
    await writeFiles(root, {'Svc.toml': '', 'data/kept.txt': 'kept'})
    for (const name of ['data', 'data/kept.txt/tasks.db']) {
      const path = join(root, name)
      await assert.rejects(openTestOrchestrator(t, {root, env: {SVC_WORKSPACE_JOURNEY_STORE: path}}), (error) => {
        assert.ok(isErrorOf(error, 'store_unopenable'))
        assert.deepEqual([error.exit, error.params.path], [5, path])
        return true
      })
    }
    assert.equal(await readFile(join(root, 'data/kept.txt'), 'utf8'), 'kept')
  })

  it('fails if that file is not a database, and keeps it', async (t) => {
    const root = await temporaryFolder(t)
    const notes = 'no database, only a text that is longer than the header of one. '.repeat(4)
    await writeFiles(root, {'Svc.toml': '', 'notes.txt': notes})
    const env = {...toCanonical, SVC_WORKSPACE_JOURNEY_STORE: './notes.txt'}
    await assert.rejects(openTestOrchestrator(t, {root, env}), (error) => isErrorOf(error, 'store_damaged'))
    assert.equal(await readFile(join(root, 'notes.txt'), 'utf8'), notes)
  })

  it('falls back from a file to the user store', async (t) => {
    const root = await broken(t)
    const env = {...toCanonical, SVC_WORKSPACE_JOURNEY_STORE: '.svc/tasks.db'}
    const orchestrator = await openTestOrchestrator(t, {root, env})
    assert.equal(reportStatus(orchestrator).active_store, 'canonical')
    assert.match(orchestrator.notices[0] ?? '', /tasks\.db/)
  })

  it('falls back to the user store with a warning if the fallback is enabled', async (t) => {
    const root = await broken(t)
    const orchestrator = await openTestOrchestrator(t, {root, env: toCanonical})
    assert.equal(reportStatus(orchestrator).active_store, 'canonical')
    assert.equal(orchestrator.store.path, join(root, 'data', 'svc.db'))
    assert.equal(orchestrator.notices.length, 1)
    assert.match(orchestrator.notices[0] ?? '', /^warning: .*data.svc\.db/)
    assert.equal(statusOf(orchestrator, submit(orchestrator)), 'Queued')
  })

  for (const [contract, toml] of [
    ['the legacy contract', ''],
    ['contract v2', v2(true)],
  ] as const)
    it(`fails with exit code 5 and its path without the fallback, under ${contract}`, async (t) => {
      const root = await broken(t)
      await assert.rejects(openTestOrchestrator(t, {root, toml}), (error) => {
        assert.ok(isErrorOf(error, 'store_unopenable'))
        assert.deepEqual([error.exit, error.params.path], [5, join(root, '.svc', 'store.db')])
        return true
      })
      assert.equal(existsSync(join(root, 'data')), false)
    })

  it('fails if it opens but is not writable, even with the fallback', async (t) => {
    const {root, store, close} = await openTestOrchestrator(t)
    close()
    // A folder in place of the write-ahead log prevents its creation, as a full disk does.
    await mkdir(`${store.path}-wal`)
    await assert.rejects(openTestOrchestrator(t, {root, env: toCanonical}), (error) => {
      assert.ok(isErrorOf(error, 'store_unwritable'))
      assert.deepEqual([error.exit, error.params.path], [5, store.path])
      return true
    })
    assert.equal(existsSync(join(root, 'data')), false)
  })

  it('rejects tasks with exit code 5 and its path while it is full', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {env: toCanonical})
    const {store} = orchestrator
    const first = submit(orchestrator)
    const pages = store.get<{page_count: number}>('PRAGMA page_count')?.page_count
    store.get(`PRAGMA max_page_count = ${pages}`)
    const {exit, params, message} = refused('store_unwritable', () =>
      submit(orchestrator, {description: 'x'.repeat(100_000)}),
    )
    assert.deepEqual([exit, params.path], [5, store.path])
    assert.match(message, /store\.db: database or disk is full\.$/)
    store.get('PRAGMA max_page_count = 1000000')
    assert.equal(submit(orchestrator), first + 1)
  })

  it('is in memory under contract v2 if no store can be opened, and responses omit the contract', async (t) => {
    const root = await broken(t)
    const orchestrator = await openTestOrchestrator(t, {root, env: withoutStores, toml: v2(true)})
    assert.equal(orchestrator.isKept, false)
    assert.match(orchestrator.notices.join(), /^warning: .*nothing is saved/)
    const accepted = submitTask(orchestrator, {description: 'work'})
    assert.equal(accepted.orchestration_contract, undefined)
    assert.deepEqual(runAll(orchestrator, accepted.agent_id), [accepted.task_id])
  })

  it('fails under contract v2 without the legacy fallback', async (t) => {
    const root = await broken(t)
    await assert.rejects(openTestOrchestrator(t, {root, toml: v2(false)}), (error) => {
      assert.ok(isErrorOf(error, 'orchestration_store_missing'))
      assert.equal(error.exit, 5)
      return true
    })
  })
})

describe('two repositories in one store', () => {
  /** Two workspaces that share the user store. */
  async function shared(t: TestContext) {
    const folder = await temporaryFolder(t)
    const env = {SVC_WORKSPACE_JOURNEY_STORE: 'canonical', SVC_DB_PATH: join(folder, 'user.db')}
    const open = async (name: string) => {
      const root = join(folder, name)
      await mkdir(root)
      await writeFiles(root, {'Svc.toml': ''})
      return openTestOrchestrator(t, {root, env})
    }
    return [await open('one'), await open('two')] as const
  }

  it('do not see the tasks, agents and events of each other', async (t) => {
    const [one, two] = await shared(t)
    assert.notEqual(one.repositoryId, two.repositoryId)
    assert.equal(one.store.path, two.store.path)
    spawnAgent(one, {name: 'mine'})
    const task = submit(one, {processor: 'external', idempotency_key: 'k', session_id: 's'})
    assert.deepEqual([listTasks(two), listAgents(two), readEvents(two)], [[], [], []])
    assert.deepEqual(reportStatus(two).total_queued, 0)
    refused('task_not_found', () => requireTask(two, task))
    refused('agent_not_found', () => takeClaim(two, {owner: 'x', agent: 'mine'}))
    refused('no_task_to_claim', () => takeClaim(two, {owner: 'x'}))
    refused('dependency_unknown', () => submit(two, {depends_on: [task]}))
    const other = submit(two, {description: 'something else', idempotency_key: 'k'})
    assert.notEqual(other, task)
    spawnAgent(two, {name: 'mine'})
    assert.equal(listTasks(one).length, 1)
    assert.deepEqual(readEvents(one, {taskId: other}), [])
  })

  it('have separate file locks', async (t) => {
    const [one, two] = await shared(t)
    const first = submitWriter(one, ['a.ts'])
    const second = submitWriter(two, ['a.ts'])
    start(one, first)
    start(two, second)
    assert.deepEqual([reportStatus(one).locked_files, reportStatus(two).locked_files], [1, 1])
    assert.equal(reportStatus(one).agents[0]?.owned_files, 1)
  })

  it('read only their own events from a shared sequence of ids', async (t) => {
    const [one, two] = await shared(t)
    const since = lastEventId(two)
    complete(one, submit(one))
    complete(two, submit(two))
    const own = readEvents(two, {since})
    assert.ok(own.length > 0)
    assert.ok(
      own.every(
        ({kind}) => !('task_id' in kind) || requireTask(two, kind.task_id ?? 0).repository_id === two.repositoryId,
      ),
    )
  })
})
