import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import type {A2ABroadcastV1, A2AHistoryV1} from '../../src/contracts/index.js'
import {orchWorkspace} from '../support/orch-workspace.js'

interface Sent {
  message_id: number
  db_message_uuid: string
  route: string
  delivery_plane: string
  duplicate: boolean
  idempotency_key: string
}

interface Inbox {
  unread_count: number
  consumer_id?: string
  messages: {id: number; uuid: string; payload: string; priority: string; delivery_attempts: number}[]
}

interface Acknowledged {
  acknowledged: boolean
  message_id: number
  dead_lettered: boolean
}

/** Creates a workspace with the agents anna and bert. */
async function withAgents(test: TestContext) {
  const workspace = await orchWorkspace(test, '[orchestrator]\nmin_agents = 0\n')
  for (const name of ['anna', 'bert']) await workspace.text(['orch', 'agent', 'spawn', name])
  const {json} = workspace
  return {
    ...workspace,
    send: (...args: string[]) => json<Sent>('cli/a2a-send.v1', ['a2a', 'send', 'anna', 'bert', ...args]),
    inbox: (...args: string[]) => json<Inbox>('cli/a2a-inbox.v1', ['a2a', 'inbox', 'bert', ...args]),
    ack: (...args: string[]) => json<Acknowledged>('cli/a2a-ack.v1', ['a2a', 'ack', 'bert', ...args]),
  }
}

describe('svc a2a', {concurrency: 3}, () => {
  it('sends, reads and acknowledges a message across processes', async (t) => {
    const {text, send, inbox, ack} = await withAgents(t)
    const uuid = (await text(['a2a', 'send', 'A-01', 'bert', 'help_request', 'look at \u001b[2J this\nplease'])).trim()
    assert.match(uuid, /^[0-9a-f-]{36}$/)
    const high = await send('plan_handoff', '{"step":1}', '--priority', 'high', '--thread', 'th')
    assert.deepEqual([high.route, high.delivery_plane, high.duplicate], ['db', 'local_durable', false])

    const table = await text(['a2a', 'inbox', 'A-02'])
    assert.match(
      table,
      /^MESSAGE +FROM +TYPE +PRIORITY +AGE +DELIVERED +PAYLOAD\n2 +A-01 +plan_handoff +high +\d+s +0 +\{"step":1\}\n/,
    )
    assert.match(table, /\n1 +A-01 +help_request +normal +\S+ +0 +look at {2}\[2J this please\n$/)
    assert.deepEqual(
      (await inbox('--limit', '1')).messages.map(({uuid: id}) => id),
      [high.db_message_uuid],
    )

    const acknowledged = 'message 1 is acknowledged\n'
    for (let i = 0; i < 2; i++) assert.equal(await text(['a2a', 'ack', 'bert', uuid, '--as', 'reader']), acknowledged)
    assert.deepEqual(await ack('1').then(({acknowledged}) => acknowledged), false)
    assert.equal((await ack('2')).acknowledged, true)
    assert.equal(await text(['a2a', 'inbox', 'bert']), 'No messages.\n')
  })

  it('lists the messages of an agent, newest first, in pages', async (t) => {
    const {text, json, send, ack, fails} = await withAgents(t)
    for (const payload of ['a', 'b']) await send('free_form', payload, '--thread', payload)
    await ack('1')
    assert.match(
      await text(['a2a', 'history', 'bert']),
      /^MESSAGE +FROM +TO +TYPE +AGE +STATE +PAYLOAD\n2 +A-01 +A-02 +free_form +\d+s +unread +b\n1 .* acknowledged +a\n$/,
    )
    const args = ['a2a', 'history', '--before', '2', '--limit', '1', '--thread', 'a']
    const page = await json<A2AHistoryV1>('cli/a2a-history.v1', args)
    assert.deepEqual([page.source, page.total_messages, page.messages.map(({id}) => id)], ['db', 1, [1]])
    await fails(['a2a', 'history', 'nobody'], 3, 'agent_not_found')
  })

  it('broadcasts a message to the durable inboxes of all other agents', async (t) => {
    const {text, json, inbox, ack} = await withAgents(t)
    await text(['orch', 'agent', 'spawn', 'carl'])
    const args = ['a2a', 'broadcast', 'anna', 'broadcast_news', '-']
    assert.equal(await text(args, {input: 'released\n'}), 'delivered to 2 agents\n')
    await ack('1')
    const again = await json<A2ABroadcastV1>('cli/a2a-broadcast.v1', [...args.slice(0, -1), 'released'])
    assert.deepEqual([again.message_ids, again.route, again.delivery_plane], [[3], 'db', 'broadcast'])
    assert.deepEqual(
      (await inbox('--source', 'merged')).messages.map(({id}) => id),
      [3],
    )
    assert.match(await text(['a2a', 'inbox', 'carl']), /\n2 +A-01 +broadcast_news .* released\n$/)
  })

  it('reads the payload from standard input', async (t) => {
    const {text, inbox} = await withAgents(t)
    const input = `${'ü'.repeat(70_000)}\n`
    await text(['a2a', 'send', 'anna', 'bert', 'snapshot_share', '-'], {input})
    assert.equal((await inbox()).messages[0]?.payload, input.trimEnd())
  })

  it('sends a message with the same key only once, and prints a notice', async (t) => {
    const {run, send, inbox, fails} = await withAgents(t)
    const first = await send('free_form', 'once', '--key', 'k')
    assert.equal(first.idempotency_key, 'k')
    const {stdout, stderr} = await run(['a2a', 'send', 'anna', 'bert', 'free_form', 'once', '--key', 'k'])
    assert.deepEqual([stdout, stderr], [`${first.db_message_uuid}\n`, 'Duplicate message; not sent again.\n'])
    await fails(['a2a', 'send', 'anna', 'bert', 'free_form', 'twice', '--key', 'k'], 4, 'message_key_conflict')
    assert.equal((await inbox()).unread_count, 1)
  })

  it('returns claimed messages only to their consumer, and redelivers rejected ones', async (t) => {
    const {send, inbox, ack, fails, text, alone} = await withAgents(t)
    for (const payload of ['a', 'b']) await send('free_form', payload)
    const mine = await inbox('--claim', '--as', 'worker-1', '--limit', '1')
    assert.deepEqual([mine.consumer_id, mine.messages.map(({payload}) => payload).join()], ['worker-1', 'a'])
    const env = {SVC_A2A_CONSUMER_ID: 'worker-2'}
    assert.match(await text(['a2a', 'inbox', 'bert', '--claim'], {env}), /\n2 .* 1 +b\n$/)
    assert.deepEqual((await inbox('--claim')).messages, [])
    await send('free_form', 'c')
    assert.match((await alone(['a2a', 'inbox', 'bert', '--claim'])).stdout, /\n3 .* 1 +c\n$/)
    assert.equal((await ack('3')).acknowledged, true, 'the process that claimed it has ended')
    await fails(['a2a', 'ack', 'bert', '2', '--error', 'no'], 4, 'message_claim_lost')
    assert.equal((await ack('1', '--error', 'the disk is full', '--as', 'worker-1')).acknowledged, false)
    assert.equal(await text(['a2a', 'ack', 'bert', '2', '--error', 'no'], {env}), 'message 2 will be redelivered\n')
    assert.deepEqual((await inbox('--dead')).messages, [])
  })

  it('lists the unread messages of a retired agent by its id', async (t) => {
    const {send, inbox, fails, text, events} = await withAgents(t)
    await send('free_form', 'a')
    await text(['orch', 'agent', 'retire', 'bert'])
    await fails(['a2a', 'inbox', 'bert'], 3, 'agent_not_found')
    assert.match(await text(['a2a', 'inbox', 'A-02', '--dead']), /\n1 +A-01 +free_form +normal +\S+ +0, dead +a\n$/)
    assert.match(
      await text(['orch', 'events', '--type', 'message_dead_lettered']),
      /message 1 to A-02 dead-lettered after 0 deliveries: its agent is retired\n/,
    )
    assert.equal((await events('--type', 'message_dead_lettered')).length, 1)
    assert.equal(await text(['a2a', 'ack', 'A-02', '1']), 'message 1 is acknowledged\n')
    await text(['orch', 'agent', 'spawn', 'bert'])
    assert.deepEqual((await inbox('--dead')).messages, [])
  })

  it('warns about a message that is lost when the command exits', async (t) => {
    const {run, inbox} = await withAgents(t)
    const args = ['a2a', 'send', 'anna', 'bert', 'free_form', 'x', '--route', 'local']
    const {stdout, stderr, exitCode} = await run(args)
    assert.deepEqual(
      [stdout, stderr, exitCode],
      ['M-000001\n', 'warning: A message on the route local is lost when this command exits.\n', 0],
    )
    assert.equal((await inbox()).unread_count, 0)
  })

  it('records sent messages as events', async (t) => {
    const {send, events, text} = await withAgents(t)
    const {db_message_uuid} = await send('help_request', 'x')
    const [event] = await events('--type', 'message_sent')
    assert.deepEqual(event?.kind, {
      type: 'message_sent',
      agent_id: 2,
      sender_agent_id: 1,
      message_id: 1,
      message_uuid: db_message_uuid,
      msg_type: 'help_request',
    })
    assert.match(
      await text(['orch', 'events', '--type', 'message_sent']),
      /message 1 from A-01 to A-02: help_request\n/,
    )
  })

  it('reports invalid input', async (t) => {
    const {fails} = await withAgents(t)
    const send = ['a2a', 'send', 'anna', 'bert', 'free_form', 'x']
    assert.match(await fails([...send, '--route', 'mesh'], 5, 'mesh_not_configured'), /No mesh is configured/)
    await fails([...send, '--route', 'pigeon'], 2, 'usage')
    await fails([...send, '--priority', 'urgent'], 2, 'usage')
    await fails(['a2a', 'send', 'anna', 'bert', 'free_form'], 2, 'usage')
    assert.match(
      await fails(['a2a', 'send', 'ana', 'bert', 'free_form', 'x'], 3, 'agent_not_found'),
      /Did you mean anna\?/,
    )
    await fails(['a2a', 'inbox', 'nobody'], 3, 'agent_not_found')
    await fails(['a2a', 'inbox', 'bert', '--source', 'mesh'], 5, 'mesh_not_configured')
    await fails(['a2a', 'inbox', 'bert', '--source', 'pigeon'], 2, 'usage')
    await fails(['a2a', 'broadcast', 'ana', 'free_form', 'x'], 3, 'agent_not_found')
    await fails(['a2a', 'ack', 'bert', '7'], 3, 'message_not_found')
    await fails(['a2a', 'ack', 'bert', 'seven'], 2, 'usage')
  })
})
