import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {OrchEmptiedV1, OrchRebalanceV1} from '../../src/contracts/index.js'
import type {Agent} from '../../src/tasks/index.js'
import {orchWorkspace} from '../support/orch-workspace.js'

const spawn = ['orch', 'agent', 'spawn']
const agent = 'cli/orch-agent.v1'
/** Settings without agents created by default. */
const bare = '[orchestrator]\nmin_agents = 0\n'

describe('svc orch agent', {concurrency: 3}, () => {
  it('spawns agents, which svc orch agents lists', async (t) => {
    const {text, json, agents, fails} = await orchWorkspace(t)
    assert.equal(await text(['orch', 'agents']), 'No agents. The first task creates one.\n')
    assert.equal(await text([...spawn, 'anna']), 'anna (A-01) is active\n')
    const asked = [
      'bert',
      '--label',
      'pool=dev',
      '--label',
      'fast',
      '--parent',
      'A-01',
      '--model',
      'run-7',
      '--reason',
      'more',
    ]
    const bert = await json<Agent>(agent, [...spawn, ...asked])
    const {capabilities, parent_agent_id: parent, model, spawn_reason: reason, kind, state} = bert
    assert.deepEqual([parent, model, reason, kind, state], [1, 'run-7', 'more', 'reserved', 'active'])
    assert.deepEqual(capabilities.labels, ['pool=dev', 'fast'])
    assert.deepEqual(
      (await agents()).map(({name}) => name),
      ['anna', 'bert'],
    )
    assert.match(await text(['orch', 'agents']), /^AGENT +NAME +STATE .*\nA-01 +anna +active +0 .*\nA-02 +bert /)

    await fails([...spawn, 'bert'], 4, 'agent_exists')
    await fails([...spawn, 'carl', '--parent', 'nobody'], 3, 'delegation_parent_not_found')
    await fails([...spawn, ' '], 2, 'usage')
    await fails(spawn, 2, 'usage')
    const env = {SVC_ORCHESTRATOR_MAX_AGENTS: '2'}
    await fails([...spawn, 'carl'], 4, 'max_agents_reached', {env})
  })

  it('pauses and resumes an agent by name or id', async (t) => {
    const {text, json, submit, fails, agents} = await orchWorkspace(t)
    await submit('x', '--processor', 'external')
    assert.equal((await json<Agent>(agent, ['orch', 'agent', 'pause', 'core'])).state, 'paused')
    await fails(['orch', 'claim'], 3, 'no_task_to_claim')
    assert.equal((await agents())[0]?.state, 'paused')
    assert.equal(await text(['orch', 'agent', 'resume', 'A-01']), 'core (A-01) is active\n')
    assert.equal(await text(['orch', 'claim']), 'T-0001 1\n')
    for (const verb of ['pause', 'resume', 'drain', 'retire']) {
      assert.match(await fails(['orch', 'agent', verb, 'cor'], 3, 'agent_not_found'), /Did you mean core\?/)
      await fails(['orch', 'agent', verb], 2, 'usage')
    }
  })

  it('drains an agent: moves its tasks to others and pauses it', async (t) => {
    const {text, json, submit, task, fails} = await orchWorkspace(t, bare)
    await submit('a', '--agent', 'anna')
    await submit('b', '--agent', 'anna')
    for (const verb of ['drain', 'retire']) await fails(['orch', 'agent', verb, 'anna'], 4, 'last_agent')
    await text([...spawn, 'bert'])
    const emptied = await json<OrchEmptiedV1>('cli/orch-emptied.v1', ['orch', 'agent', 'drain', 'anna'])
    assert.deepEqual(emptied, {...emptied, name: 'anna', state: 'paused', moved: [1, 2]})
    assert.deepEqual([(await task(1)).agent_name, (await task(2)).agent_name], ['bert', 'bert'])
  })

  it('retires an agent and moves all its tasks, even the running one', async (t) => {
    const {text, submit, task, agents, fails} = await orchWorkspace(t, bare)
    await submit('a', '--agent', 'anna', '--processor', 'external')
    await submit('b', '--agent', 'anna')
    await text(['orch', 'claim'])
    await text([...spawn, 'bert'])
    assert.match(
      await text(['orch', 'agent', 'retire', 'anna']),
      /^anna \(A-\d\d\) is retired, 2 tasks moved to other agents\n$/,
    )
    const {status, agent_name: name} = await task(1)
    assert.deepEqual([status, name], ['Queued', 'bert'])
    await fails(['orch', 'complete', '1', '--claim', '1'], 4, 'claim_lost')
    assert.ok(!(await agents()).some((each) => each.name === 'anna'))
    await fails(['orch', 'agent', 'retire', 'anna'], 3, 'agent_not_found')
  })
})

describe('svc orch rebalance', {concurrency: 3}, () => {
  it('moves queued tasks from a busy agent to an idle one', async (t) => {
    const {text, json, agents, run} = await orchWorkspace(t, bare)
    assert.equal(await text(['orch', 'rebalance']), 'Nothing to move.\n')
    const batch = Array.from({length: 12}, (_, i) => ({description: `task ${i}`, target_agent: 'anna'}))
    await run(['orch', 'submit', '--batch', '-'], {input: JSON.stringify(batch)})
    await text([...spawn, 'bert'])
    const {moves} = await json<OrchRebalanceV1>('cli/orch-rebalance.v1', ['orch', 'rebalance'])
    const bert = (await agents()).find(({name}) => name === 'bert')
    assert.ok(moves.length > 0)
    assert.equal(bert?.queued, moves.length)
    assert.ok(moves.every(({to_agent_id: to}) => to === bert?.id))
    assert.match(await text(['orch', 'rebalance']), /^T-\d{4} from A-\d\d to A-\d\d\n/)
  })
})
