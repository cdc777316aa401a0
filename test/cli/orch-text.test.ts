import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {beginning, plain} from '../../src/cli/cell-text.js'
import {describeEvent} from '../../src/cli/event-text.js'
import {formatTask} from '../../src/cli/orch-text.js'
import {displayAgent, displayTask, requireTask} from '../../src/tasks/index.js'
import {openTestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {submit} from '../orchestrator/support/tasks.js'

const names = {displayTask, displayAgent}

describe('the beginning of a text', () => {
  it('is the complete text up to 72 characters', () => {
    assert.equal(beginning('x'.repeat(72)), 'x'.repeat(72))
  })

  it('is truncated to 72 characters including the ellipsis', () => {
    assert.equal(beginning('x'.repeat(73)), `${'x'.repeat(71)}…`)
  })

  it('replaces line breaks by spaces', () => {
    assert.equal(beginning(' one\r\ntwo\tthree\u001b[2J '), 'one two three [2J')
  })
})

describe('plain', () => {
  it('keeps lines and tabs, and removes control characters', () => {
    assert.equal(plain('one\n\ttwo\u001b[2J\u0007\r\n'), 'one\n\ttwo[2J')
  })
})

describe('ids in text output', () => {
  it('are T-0001 for the dependencies of a task', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const depends_on = [submit(orchestrator), submit(orchestrator)]
    const text = formatTask(requireTask(orchestrator, submit(orchestrator, {depends_on})), names)
    assert.match(text, /\nafter +T-0001, T-0002\nwaits for +T-0002\n/)
  })

  it('are T-0001 and A-01 in events', () => {
    const moved = {type: 'task_moved', task_id: 1, agent_id: 2, from_agent_id: 1} as const
    assert.equal(describeEvent(moved, names), 'T-0001 moved from A-01 to A-02')
  })
})
