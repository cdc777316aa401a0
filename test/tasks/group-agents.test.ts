import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {executePlan, newPlan, planStatus} from '../../src/plans/index.js'
import {requireTask, spawnAgent, submitTask} from '../../src/tasks/index.js'
import {placeTask} from '../../src/tasks/routing/place.js'
import {openTestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {doNext, openUnattended} from '../plans/support.js'

const groups = `[[affinity_groups]]
name = "docs"
patterns = "docs/**"
default_agent = "writer"
`
const document = {description: 'Describe it', file_manifest: [{path: 'docs/a.md', access: 'write' as const}]}

const placeable = {description: 'x', phase_label: 'single_shot', requirements: undefined, skill: undefined}

describe('the default agent of a group', () => {
  it('is preferred to the agent with the name of the group', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: groups})
    for (const name of ['docs', 'writer']) spawnAgent(orchestrator, {name})
    assert.equal(submitTask(orchestrator, document).agent_name, 'writer')
    const {file_manifest} = document
    assert.equal(placeTask(orchestrator, {...placeable, file_manifest}).terms.group_default, 15)
  })

  it('is spawned if it is missing', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: groups})
    assert.equal(submitTask(orchestrator, document).agent_name, 'writer')
  })
})

describe('an agent with work of a workflow', () => {
  for (const enabled of [true, false])
    it(`is ${enabled ? '' : 'not '}preferred if socrates_reputation_routing is ${enabled}`, async (t) => {
      const orchestrator = await openUnattended(t, {toml: `socrates_reputation_routing = ${enabled}\n`})
      const plan = newPlan(orchestrator, {goal: 'Add the parser'})
      executePlan(orchestrator, plan.session_id)
      doNext(orchestrator)
      const verification = planStatus(orchestrator, plan.session_id).steps[1]
      assert.equal(verification?.workflow, 'verification_stack')
      const {agent, terms} = placeTask(orchestrator, {...placeable, file_manifest: []})
      assert.equal(agent.id, requireTask(orchestrator, verification?.task_id ?? 0).agent_id)
      assert.equal(terms.workflow, enabled ? 0.1 : undefined)
    })
})
