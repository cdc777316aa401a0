import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {describeEvent, excerpt, formatTask, plain} from '../../src/cli/orch-text.js'
import {displayAgent, displayTask, requireTask} from '../../src/tasks/index.js'
import {openTestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {submit} from '../orchestrator/support/tasks.js'

const names = {displayTask, displayAgent}

describe('the excerpt of a text', () => {
  it('is the whole text where it fits into 72 characters', () => {
    assert.equal(excerpt('x'.repeat(72)), 'x'.repeat(72))
  })

  it('is cut at 72 characters, the ellipsis included', () => {
    assert.equal(excerpt('x'.repeat(73)), `${'x'.repeat(71)}…`)
  })

  it('is on one line', () => {
    assert.equal(excerpt(' one\r\ntwo\tthree\u001b[2J '), 'one two three [2J')
  })
})

describe('a text of several lines', () => {
  it('keeps its lines and tabs, and loses what would control the terminal', () => {
    assert.equal(plain('one\n\ttwo\u001b[2J\u0007\r\n'), 'one\n\ttwo[2J')
  })
})

describe('ids in texts for people', () => {
  it('are T-0001 for the tasks that a task waits for', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const depends_on = [submit(orchestrator), submit(orchestrator)]
    const text = formatTask(requireTask(orchestrator, submit(orchestrator, {depends_on})), names)
    assert.match(text, /\nafter +T-0001, T-0002\nwaits for +T-0002\n/)
  })

  it('are T-0001 and A-01 in events', () => {
    const moved = {type: 'task_moved', task_id: 1, agent_id: 2, from_agent_id: 1} as const
    assert.equal(describeEvent(moved, names), 'T-0001 moved to A-02 from A-01')
  })
})
