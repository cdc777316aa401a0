import assert from 'node:assert/strict'
import {before, describe, it} from 'node:test'
import {orchWorkspace} from '../support/orch-workspace.js'
import {external, Peer, type Reply, type RunningDaemon, startTestDaemon} from './support/daemon.js'
import {suiteLifetime} from './support/suite-lifetime.js'

interface Subscribed {
  subscription_id: string
  last_id: number
}

const idOf = ({params, payload}: Reply) => params?.event.id ?? payload?.event?.id
const typeOf = ({params, payload}: Reply) => params?.event.kind.type ?? payload?.event?.kind.type

describe('subscription', () => {
  const suite = suiteLifetime()
  let daemon: RunningDaemon
  before(async () => {
    daemon = await startTestDaemon(suite)
  })

  it('delivers subsequent events of any process', async (t) => {
    const {addr, workspace} = await startTestDaemon(t)
    const writer = await Peer.connect(t, addr)
    await writer.call('orch.submit_task', external('before'))
    const reader = await Peer.connect(t, addr)
    const types = ['task_submitted', 'task_completed']
    const {subscription_id, last_id} = await reader.call<Subscribed>('orch.events.subscribe', {types})
    assert.ok(last_id > 0)
    await writer.call('orch.submit_task', external('over the wire'))
    await workspace.submit('by a command', '--processor', 'external')
    await workspace.submit('by the loop', '--exec', 'say', '--param', 'word=x')
    const told = await reader.nextOf(4)
    assert.deepEqual(
      told.map((event) => [typeOf(event), event.params?.event.kind.task_id]),
      [
        ['task_submitted', 2],
        ['task_submitted', 3],
        ['task_submitted', 4],
        ['task_completed', 4],
      ],
    )
    for (const {params} of told) assert.equal(params?.subscription_id, subscription_id)
    assert.deepEqual(
      (await workspace.events('--since', String(last_id), '--type', 'task_submitted', '--type', 'task_completed')).map(
        ({id}) => id,
      ),
      told.map(idOf),
    )
  })

  it('to the bulletin board delivers its entries, and the broadcasts of a command', async (t) => {
    const {addr, workspace} = await startTestDaemon(t)
    const [reader, writer] = [await Peer.connect(t, addr), await Peer.connect(t, addr)]
    const types = ['TaskAssigned', 'Broadcast']
    const {subscription_id} = await reader.call<Subscribed>('orch.bulletin.subscribe', {types})
    await writer.call('orch.submit_task', external('x'))
    await workspace.text(['a2a', 'broadcast', 'core', 'broadcast_news', 'released'])
    const told = await reader.nextOf(2)
    assert.deepEqual(
      told.map(({method, params}) => [method, params?.entry?.type, params?.entry?.payload]),
      [
        ['orch.bulletin', 'TaskAssigned', undefined],
        ['orch.bulletin', 'Broadcast', 'released'],
      ],
    )
    await reader.call('orch.events.unsubscribe', {subscription_id})
    const wrong = await reader.ask({jsonrpc: '2.0', id: 1, method: 'orch.bulletin.subscribe', params: {types: ['x']}})
    assert.equal(wrong.error?.data.kind, 'params_invalid')
  })

  it('belongs to one connection and ends on unsubscribe', async (t) => {
    const {addr} = daemon
    const [one, other] = [await Peer.connect(t, addr), await Peer.connect(t, addr)]
    const ids: string[] = []
    for (const types of [['task_submitted'], ['task_placed']])
      ids.push((await one.call<Subscribed>('orch.events.subscribe', {types})).subscription_id)
    assert.equal(new Set(ids).size, 2)
    const foreign = await other.ask({
      jsonrpc: '2.0',
      id: 1,
      method: 'orch.events.unsubscribe',
      params: {subscription_id: ids[0]},
    })
    assert.equal(foreign.error?.code, 404)
    await other.call('orch.submit_task', external('x'))
    assert.deepEqual((await one.nextOf(2)).map(typeOf).sort(), ['task_placed', 'task_submitted'])
    await one.call('orch.events.unsubscribe', {subscription_id: ids[0]})
    await other.call('orch.submit_task', external('x'))
    assert.equal(typeOf(await one.next()), 'task_placed')
    // Events arrive in order: remaining events of the first subscription would arrive before this one.
    await other.call('orch.submit_task', external('x'))
    assert.equal(typeOf(await one.next()), 'task_placed')
    assert.ok((await one.call<{ok: boolean}>('orch.ping')).ok, 'nothing else came before this answer')
  })

  it('uses the request id in the wrapped form', async (t) => {
    const {addr} = daemon
    const peer = await Peer.connect(t, addr)
    await peer.ask({id: 'sub', method: 'orch.events.subscribe', params: {types: ['task_submitted']}})
    peer.send({id: 'do', method: 'orch.submit_task', params: external('x')})
    const [answer, event] = await peer.nextOf(2)
    assert.deepEqual([answer?.id, answer?.payload?.type], ['do', 'result'])
    assert.deepEqual([event?.id, event?.payload?.type, event && typeOf(event)], ['sub', 'event', 'task_submitted'])
  })

  it('can be resumed at another daemon without gaps or repetitions', async (t) => {
    const workspace = await orchWorkspace(t)
    const seen: number[] = []
    const types = ['task_submitted', 'task_placed', 'daemon_started', 'daemon_stopped']
    for (const end of ['SIGKILL', 'SIGTERM', 'SIGKILL'] as const) {
      const daemon = await startTestDaemon(t, {workspace})
      const reader = await Peer.connect(t, daemon.addr)
      await reader.call('orch.events.subscribe', {types, since_id: seen.at(-1) ?? 0})
      const writer = await Peer.connect(t, daemon.addr)
      for (let i = 0; i < 300; i++)
        writer.send({jsonrpc: '2.0', id: i, method: 'orch.submit_task', params: external('x')})
      // The daemon stops at an arbitrary position.
      for (let i = 0; i < 100; i++) seen.push(idOf(await reader.next()) as number)
      await daemon.end(end)
      for (const line of await reader.closed()) seen.push(idOf(JSON.parse(line) as Reply) as number)
      await workspace.submit('while there is none', '--processor', 'external')
    }
    const {addr} = await startTestDaemon(t, {workspace})
    const reader = await Peer.connect(t, addr)
    const all = (
      await workspace.events('--type', types[0]!, ...types.slice(1).flatMap((type) => ['--type', type]))
    ).map(({id}) => id)
    await reader.call('orch.events.subscribe', {types, since_id: seen.at(-1) ?? 0})
    while ((seen.at(-1) ?? 0) < (all.at(-1) as number)) seen.push(idOf(await reader.next()) as number)
    assert.deepEqual(seen, all)
  })

  it('ends with a half-closed connection after past events are sent', async (t) => {
    const {addr} = daemon
    const writer = await Peer.connect(t, addr)
    for (let i = 0; i < 100; i++) await writer.call('orch.submit_task', external('x'))
    const reader = await Peer.connect(t, addr)
    const params = {types: ['task_submitted'], since_id: 0}
    reader.socket.end(`${JSON.stringify({jsonrpc: '2.0', id: 1, method: 'orch.events.subscribe', params})}\n`)
    const [first = '', ...events] = await reader.closed()
    assert.equal((JSON.parse(first) as Reply).error, undefined)
    assert.ok(events.length >= 100, `${events.length} events`)
    for (const event of events) assert.equal(typeOf(JSON.parse(event) as Reply), 'task_submitted')
  })

  it('is limited in number per connection', async (t) => {
    const {addr} = daemon
    const peer = await Peer.connect(t, addr)
    for (let i = 0; i < 64; i++) await peer.call('orch.events.subscribe', {types: ['nothing']})
    const {error} = await peer.ask({jsonrpc: '2.0', id: 1, method: 'orch.events.subscribe', params: {}})
    assert.deepEqual([error?.code, error?.data.kind], [503, 'subscriptions_exhausted'])
  })
})
