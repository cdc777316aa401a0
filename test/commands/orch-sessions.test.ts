import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {OrchSessionInfoV1, OrchSessionV1} from '../../src/contracts/index.js'
import {orchWorkspace} from '../support/orch-workspace.js'

const session = ['orch', 'session']

describe('svc orch session', () => {
  it('creates, lists, shows, resets, compacts and removes sessions', async (t) => {
    const {text, json, fails} = await orchWorkspace(t)
    assert.equal(await text([...session, 'list']), 'No sessions. Create one with `svc orch session create AGENT`.\n')
    await text(['orch', 'agent', 'spawn', 'builder'])
    await fails([...session, 'create', 'bulider'], 3, 'agent_not_found')
    const created = await json<OrchSessionInfoV1>('cli/orch-session-info.v1', [
      ...session,
      'create',
      'builder',
      '--tenant-id',
      'acme',
    ])
    const {id, created_at: _, last_active: __, ...rest} = created
    assert.deepEqual(rest, {agent_id: 'builder', tenant_id: 'acme', state: 'active', turn_count: 0, token_count: 0})
    assert.deepEqual(await json('cli/orch-sessions.v1', [...session, 'list']), {sessions: [created]})
    assert.match(await text([...session, 'show', id]), new RegExp(`^session +${id}\\nagent +builder\\n`))
    const {turns} = await json<OrchSessionV1>('cli/orch-session.v1', [...session, 'show', id])
    assert.deepEqual(turns, [])
    assert.deepEqual(await json('cli/orch-session-compact.v1', [...session, 'compact', id, '--summary', 'Done.']), {
      session_id: id,
      turns_removed: 0,
      summary: 'Done.',
    })
    assert.equal((await json<OrchSessionV1>('cli/orch-session.v1', [...session, 'show', id])).state, 'compacted')
    assert.equal(await text([...session, 'reset', id]), `${id}: 1 turn deleted\n`)
    assert.deepEqual(await json('cli/orch-session-cleanup.v1', [...session, 'cleanup']), {removed: []})
    await fails([...session, 'show', 'sess_1_1'], 3, 'session_not_found')
  })
})

describe('svc orch stop', () => {
  it('refuses new tasks until svc orch start', async (t) => {
    const {text, json, fails} = await orchWorkspace(t)
    await fails(['orch', 'stop'], 2, 'usage')
    const stop = ['orch', 'stop', '--emergency', '--reason', 'fire']
    assert.deepEqual(await json('cli/orch-stop.v1', stop), {requeued: []})
    await fails(['orch', 'submit', 'x'], 4, 'stopped')
    assert.match(await text(['orch', 'status']), /^stopped +since .*: fire; run `svc orch start` to continue$/m)
    assert.deepEqual(await json('cli/orch-start.v1', ['orch', 'start']), {was_stopped: true})
    assert.equal(await text(['orch', 'start']), 'There was no emergency stop.\n')
    await text(['orch', 'submit', 'x'])
  })
})
