import assert from 'node:assert/strict'
import {EventEmitter, once} from 'node:events'
import {rm} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import type {SettingSources} from '../../src/config/index.js'
import {isErrorOf} from '../../src/errors/index.js'
import {type OperationContext, operationNamed} from '../../src/operations/index.js'
import * as modules from '../../src/orchestrator/index.js'
import {
  type Orchestrator,
  openOrchestrator,
  type Reload,
  reloadConfig,
  rereadSources,
} from '../../src/orchestrator/index.js'
import {readEvents, submitTask} from '../../src/tasks/index.js'
import {answerLines, scriptedInference} from '../support/scripted-inference.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {until} from '../support/until.js'
import {startDaemon} from './support/daemon.js'
import {statusOf} from './support/tasks.js'

/** An orchestrator whose settings can be reloaded from its `Svc.toml`. */
async function opened(t: TestContext, toml: string, env: Readonly<Record<string, string>> = {}) {
  const root = await temporaryFolder(t)
  await writeFiles(root, {'Svc.toml': toml})
  const start: SettingSources = {env: {SVC_DATA_DIR: join(root, 'data'), ...env}}
  const {sources} = await rereadSources(root, start)
  const orchestrator = await openOrchestrator({root, sources})
  t.after(() => orchestrator.close())
  return {
    root,
    orchestrator,
    sources,
    write: (files: Readonly<Record<string, string>>) => writeFiles(root, files),
    reload: (other: Orchestrator = orchestrator) => reloadConfig(other, sources),
    /** Calls the operation, as a daemon would. */
    call: (more: Partial<OperationContext> = {}) =>
      operationNamed('reload_config').run(
        {} as never,
        {modules, orchestrator, sources, surface: 'daemon', notice: () => undefined, ...more} as OperationContext,
      ) as Promise<{ok: true} & Reload>,
  }
}

const caught = async (work: Promise<unknown>): Promise<unknown> => {
  try {
    await work
  } catch (error) {
    return error
  }
  return assert.fail('it succeeded')
}

describe('reloadConfig', () => {
  it('reads ~/.svc/config.toml again, which Svc.toml overrides', async (t) => {
    const home = await temporaryFolder(t)
    const {root, orchestrator, reload} = await opened(t, '[orchestrator]\nmin_agents = 2\n', {HOME: home})
    const config = '[orchestrator]\nmin_agents = 1\nmax_agents = 5\n[workspace]\njourney_store = "./tasks.db"\n'
    await writeFiles(home, {'.svc/config.toml': config})
    assert.deepEqual((await reload()).changed, ['orchestrator.max_agents'])
    assert.deepEqual([orchestrator.config.minAgents, orchestrator.config.maxAgents], [2, 5])
    const {sources} = await rereadSources(root, {env: {HOME: home}})
    const restarted = await openOrchestrator({root, sources})
    t.after(() => restarted.close())
    assert.equal(restarted.store.path, join(root, 'tasks.db'))
  })

  it('applies changed settings and lists them', async (t) => {
    const {orchestrator, write, reload} = await opened(t, '[orchestrator]\nmax_agents = 2\n')
    await write({
      'Svc.toml': `
        [orchestrator]
        max_agents = 3
        durability = "full"
        socrates_policy = { min_training_pair_confidence = 0.2 }
        [orchestrator.exec]
        enabled = true
        [orchestrator.session]
        max_sessions = 5
        [orchestrator.orchestration_migration]
        orchestration_v2_enabled = true
        [mesh]
        control_url = "http://control:1"
      `,
    })
    const {changed, after_restart, warnings} = await reload()
    assert.deepEqual([...changed].sort(), [
      'mesh.control_url',
      'orchestrator.durability',
      'orchestrator.exec.enabled',
      'orchestrator.max_agents',
      'orchestrator.orchestration_migration.orchestration_v2_enabled',
      'orchestrator.session.max_sessions',
      'orchestrator.socrates_policy.min_training_pair_confidence',
    ])
    assert.deepEqual([...after_restart].sort(), ['orchestrator.durability', 'orchestrator.session.max_sessions'])
    assert.deepEqual(warnings, [])
    const {config} = orchestrator
    assert.deepEqual([config.maxAgents, config.exec.enabled, config.controlUrl], [3, true, 'http://control:1'])
    assert.equal(submitTask(orchestrator, {description: 'x'}).orchestration_contract, 'v2')
    assert.deepEqual((await reload()).changed, [])
  })

  it('enables a disabled orchestrator', async (t) => {
    const {orchestrator, write, reload} = await opened(t, '[orchestrator]\nenabled = false\n')
    assert.throws(
      () => submitTask(orchestrator, {description: 'x'}),
      (error) => isErrorOf(error, 'orchestrator_disabled'),
    )
    await write({'Svc.toml': ''})
    await reload()
    assert.equal(submitTask(orchestrator, {description: 'x'}).status, 'Queued')
  })

  it('reloads affinity groups and agent scopes', async (t) => {
    const {orchestrator, write, reload} = await opened(t, '[orchestrator]\nscope_enforcement = "strict"\n')
    await write({
      'Svc.toml':
        '[orchestrator]\nscope_enforcement = "strict"\n[[affinity_groups]]\nname = "docs"\npatterns = "docs/**"\n',
      '.svc/agents/writer.md': '---\nscope: [docs]\n---\n',
    })
    assert.deepEqual((await reload()).changed, ['orchestrator.affinity_groups', 'groups', 'scopes'])
    assert.deepEqual(
      orchestrator.groups.map(({name}) => name),
      ['docs'],
    )
    const file_manifest = [{path: 'src/a.ts', access: 'write'}]
    assert.throws(
      () => submitTask(orchestrator, {description: 'x', target_agent: 'writer', file_manifest}),
      (error) => isErrorOf(error, 'scope_denied'),
    )
  })

  it('applies the defaults if Svc.toml is deleted, and a new Svc.toml', async (t) => {
    const {root, orchestrator, write, reload} = await opened(t, '[orchestrator]\nmax_agents = 2\n')
    await rm(join(root, 'Svc.toml'))
    await reload()
    assert.equal(orchestrator.config.maxAgents, 8)
    await write({'Svc.toml': '[orchestrator]\nmax_agents = 5\n'})
    await reload()
    assert.equal(orchestrator.config.maxAgents, 5)
  })

  it('does not override environment variables', async (t) => {
    const {orchestrator, write, reload} = await opened(t, '', {SVC_ORCHESTRATOR_MAX_AGENTS: '4'})
    await write({'Svc.toml': '[orchestrator]\nmax_agents = 5\n'})
    assert.deepEqual((await reload()).changed, [])
    assert.equal(orchestrator.config.maxAgents, 4)
  })

  for (const [fault, code, files] of [
    ['invalid TOML', 'config_unparsable', {'Svc.toml': '[orchestrator'}],
    ['a value of the wrong type', 'config_type', {'Svc.toml': '[orchestrator]\nmax_agents = "many"\n'}],
    [
      'a value of the wrong type in another section',
      'config_type',
      {'Svc.toml': '[orchestrator]\nmax_agents = 6\n[serve]\nport = "x"\n'},
    ],
    [
      'settings that contradict each other',
      'orchestrator_config_invalid',
      {'Svc.toml': '[orchestrator]\nmax_agents = 6\nmin_agents = 7\n'},
    ],
    [
      'several values out of range',
      'config_type',
      {'Svc.toml': '[orchestrator]\nmax_agents = 6\nlock_timeout_ms = 99\nbulletin_capacity = 0\n'},
    ],
    [
      'an invalid scope',
      'document_unparsable',
      {'Svc.toml': '[orchestrator]\nmax_agents = 6\n', '.svc/agents/a.md': '---\nscope: {a: 1}\n---\n'},
    ],
  ] as const)
    it(`keeps the settings if the files have ${fault}`, async (t) => {
      const {orchestrator, write, call} = await opened(t, '[orchestrator]\nmax_agents = 2\n')
      const before = {...orchestrator}
      await write(files)
      let isReported = false
      const onReload = async () => {
        isReported = true
      }
      const error = await caught(call({onReload}))
      assert.ok(isErrorOf(error, code), String(error))
      for (const name of ['config', 'groups', 'scopes', 'probe'] as const)
        assert.equal(orchestrator[name], before[name], name)
      assert.equal(isReported, false)
      assert.deepEqual(readEvents(orchestrator, {types: ['config_reloaded']}), [])
    })
})

describe('the reload_config operation', () => {
  it('returns changes and warnings, and emits an event', async (t) => {
    const {orchestrator, write, call} = await opened(t, '')
    await write({'Svc.toml': '[orchestrator]\nmax_agents = 2\nmax_agent = 3\n'})
    const {ok, changed, after_restart, warnings} = await call()
    assert.deepEqual([ok, changed, after_restart], [true, ['orchestrator.max_agents'], []])
    assert.equal(warnings.length, 1)
    assert.match(
      warnings[0] ?? '',
      /unknown setting orchestrator\.max_agent\. Did you mean orchestrator\.max_agents\?$/,
    )
    assert.deepEqual(
      readEvents(orchestrator, {types: ['config_reloaded']}).map(({kind}) => kind),
      [{type: 'config_reloaded', changed: ['orchestrator.max_agents']}],
    )
  })

  it('waits for onReload, which reloads other handles of the process', async (t) => {
    const {root, orchestrator, sources, write, call, reload} = await opened(t, '')
    const other = await openOrchestrator({root, sources})
    t.after(() => other.close())
    await write({'Svc.toml': '[orchestrator]\nmax_agents = 2\n'})
    await call({
      onReload: async () => {
        await reload(other)
      },
    })
    assert.deepEqual([orchestrator.config.maxAgents, other.config.maxAgents], [2, 2])
    assert.equal(readEvents(orchestrator, {types: ['config_reloaded']}).length, 1)
  })
})

describe('two concurrent reloads', () => {
  it('apply the settings written last, even if the first reload takes longer', async (t) => {
    const {orchestrator, write, call} = await opened(t, '')
    await write({'Svc.toml': '[orchestrator]\nmax_agents = 2\n'})
    const rest = new EventEmitter()
    const hasRead = once(rest, 'read')
    const first = call({
      onReload: async () => {
        rest.emit('read')
        await once(rest, 'go on')
      },
    })
    await hasRead
    await write({'Svc.toml': '[orchestrator]\nmax_agents = 3\n'})
    const second = call()
    // If the second reload did not wait for the first one, it would end no later than one that is called after it.
    const elsewhere = await opened(t, '')
    await elsewhere.write({'Svc.toml': '[orchestrator]\nmax_agents = 3\n'})
    await elsewhere.call()
    rest.emit('go on')
    assert.deepEqual((await first).changed, ['orchestrator.max_agents'])
    assert.deepEqual((await second).changed, ['orchestrator.max_agents'])
    assert.equal(orchestrator.config.maxAgents, 3)
  })

  it('do not affect each other if one fails', async (t) => {
    const {orchestrator, write, call} = await opened(t, '')
    await write({'Svc.toml': '[orchestrator]\nmax_agents = 2\n'})
    const first = call({onReload: () => Promise.reject(new Error('no'))})
    const second = call()
    await assert.rejects(first, /^Error: no$/)
    assert.deepEqual((await second).changed, ['orchestrator.max_agents'])
    assert.equal(orchestrator.config.maxAgents, 2)
  })
})

describe('a reload whose onReload fails', () => {
  it('changes nothing and emits no event', async (t) => {
    const {orchestrator, write, call} = await opened(t, '')
    await write({'Svc.toml': '[orchestrator]\nmax_agents = 2\n'})
    const fault = new Error('the other one has no store')
    assert.equal(await caught(call({onReload: () => Promise.reject(fault)})), fault)
    assert.equal(orchestrator.config.maxAgents, 8)
    assert.deepEqual(readEvents(orchestrator, {types: ['config_reloaded']}), [])
  })
})

describe('a reload whose event cannot be written', () => {
  it('takes effect and prints a warning', async (t) => {
    const {root, orchestrator, sources, write, call} = await opened(t, '')
    await write({'Svc.toml': '[orchestrator]\nmax_agents = 2\n'})
    const notices: string[] = []
    let isDone = false
    const other = await openOrchestrator({root, sources})
    other.store.run("CREATE TRIGGER no_events BEFORE INSERT ON orch_events BEGIN SELECT RAISE(ABORT, 'full'); END")
    other.close()
    const {ok, changed} = await call({
      onReload: async () => {
        isDone = true
      },
      notice: (text) => {
        notices.push(text)
      },
    })
    assert.deepEqual([ok, changed, isDone], [true, ['orchestrator.max_agents'], true])
    assert.equal(orchestrator.config.maxAgents, 2)
    assert.equal(notices.length, 1)
    assert.match(notices[0] ?? '', /^warning: The settings are reloaded, but the event could not be written: .*full/)
  })
})

describe('a daemon after a reload', () => {
  it('runs the next command from the new templates', async (t) => {
    const exec = (word: string) => `[orchestrator.exec]\nenabled = true\ntemplates = {say = ["echo", "${word}"]}\n`
    const {orchestrator, write, reload} = await opened(t, exec('old'))
    const endpoint = await scriptedEndpoint(t, 'run-a')
    const {exec: processor} = modules.scheduler.localProcessors(orchestrator, {endpoint, env: process.env})
    await startDaemon(t, orchestrator, processor)
    const say = async () => {
      const {task_id: id} = submitTask(orchestrator, {description: 'x', processor: 'exec', exec: {template: 'say'}})
      await until(() => statusOf(orchestrator, id) === 'Completed', 'the end of the task')
      return modules.tasks.requireTask(orchestrator, id).result?.text
    }
    assert.equal(await say(), 'old')
    await write({'Svc.toml': exec('new')})
    await reload()
    assert.equal(await say(), 'new')
  })

  it('chooses models by the new prices', async (t) => {
    const prices = (dear: string) => `[orchestrator]\ncost_preference = "economy"\nmodel_prices = {${dear} = 9.0}\n`
    const {orchestrator, write, reload} = await opened(t, prices('small'))
    const endpoint = await scriptedEndpoint(t, 'small', 'large')
    const {ai} = modules.scheduler.localProcessors(orchestrator, {endpoint, env: process.env})
    await startDaemon(t, orchestrator, ai)
    const model = async () => {
      const {task_id: id} = submitTask(orchestrator, {description: 'x'})
      await until(() => statusOf(orchestrator, id) === 'Completed', 'the end of the task')
      return modules.tasks.requireTask(orchestrator, id).result?.model
    }
    assert.equal(await model(), 'large')
    await write({'Svc.toml': prices('large')})
    await reload()
    assert.equal(await model(), 'small')
  })
})

/** A server that has these models and answers every request. */
async function scriptedEndpoint(t: TestContext, ...models: string[]) {
  const {baseUrl} = await scriptedInference(t, (response) => response.end(answerLines('Done.')), models)
  const {resolveEndpoint} = await import('../../src/inference-client/index.js')
  return resolveEndpoint({env: {SVC_INFERENCE_URL: baseUrl}}).endpoint
}
