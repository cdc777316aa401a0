import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {ConfigShowV1} from '../../src/contracts/index.js'
import {orchWorkspace} from '../support/orch-workspace.js'

const contract = 'cli/config-show.v1'

describe('svc orch config', {concurrency: 3}, () => {
  it('shows all orchestrator settings with values, sources and overridden values', async (t) => {
    const {json, cwd} = await orchWorkspace(t, '[orchestrator]\nmax_agents = 4\n')
    const env = {SVC_ORCHESTRATOR_MAX_AGENTS: '6'}
    const {settings, root} = await json<ConfigShowV1>(contract, ['orch', 'config'], {env})
    const {value, origin, overridden} = settings.find(({name}) => name === 'orchestrator.max_agents') ?? {}
    assert.deepEqual([value, origin], [6, {source: 'env', name: 'SVC_ORCHESTRATOR_MAX_AGENTS'}])
    assert.deepEqual(overridden, [{source: 'file', name: 'orchestrator.max_agents', value: 4}])
    assert.equal(root, cwd)
    const names = new Set(settings.map(({name}) => name.replace(/\.[^.]*$/, '')))
    for (const table of ['orchestrator', 'orchestrator.exec', 'mesh']) assert.ok(names.has(table), table)
    for (const table of ['engine', 'serve', 'speech', 'log']) assert.ok(!names.has(table), table)
  })

  it('shows only changed settings with --changed', async (t) => {
    const {text, json} = await orchWorkspace(t, '[orchestrator]\nmin_agents = 2\n')
    assert.match(
      await text(['orch', 'config', '--changed']),
      /^SETTING .*\norchestrator\.min_agents +2 +file orchestrator\.min_agents\n$/,
    )
    assert.equal((await json<ConfigShowV1>(contract, ['orch', 'config', '--changed'])).settings.length, 1)
  })

  it('never shows the mesh token', async (t) => {
    const {run} = await orchWorkspace(t)
    for (const args of [[], ['--json']]) {
      const {stdout, stderr} = await run(['orch', 'config', ...args], {env: {SVC_MESH_TOKEN: 'tok-1234567'}})
      assert.match(stdout, /\(set\)/)
      assert.doesNotMatch(stdout + stderr, /1234567/)
    }
  })

  it('exits with status 2 if settings contradict each other', async (t) => {
    const {fails} = await orchWorkspace(t, '[orchestrator]\nmin_agents = 9\nmax_agents = 2\n')
    assert.match(
      await fails(['orch', 'config'], 2, 'orchestrator_config_invalid'),
      /min_agents \(9\) is larger than \S+ \(2\)/,
    )
  })

  it('warns once about an invalid variable', async (t) => {
    const {run} = await orchWorkspace(t)
    const {stderr, exitCode} = await run(['orch', 'config'], {env: {SVC_ORCHESTRATOR_SCALING_ENABLED: 'yes'}})
    assert.equal(exitCode, 0)
    assert.equal(stderr.match(/SVC_ORCHESTRATOR_SCALING_ENABLED/g)?.length, 1)
  })
})
