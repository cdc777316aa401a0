import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {contractViolations} from '../../src/contracts/index.js'
import {broadcastMessage, followBulletin, readBulletin} from '../../src/messages/index.js'
import {completeTask, emergencyStop, setContext, spawnAgent, takeClaim} from '../../src/tasks/index.js'
import {openTestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {submit, submitWriter} from '../orchestrator/support/tasks.js'
import {writeFiles} from '../support/temporary.js'

const news = (payload: string) => ({sender: 'core', type: 'broadcast_news', payload})

describe('the bulletin board', () => {
  it('shows what agents may act on, with the members of the events', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const first = submitWriter(orchestrator, ['a.ts'], {processor: 'external'})
    const second = submit(orchestrator, {depends_on: [first]})
    await writeFiles(orchestrator.root, {'a.ts': 'export {}'})
    const {generation} = takeClaim(orchestrator, {owner: 'tester'})
    await completeTask(orchestrator, first, undefined, {generation})
    setContext(orchestrator, {key: 'plan', value: 'x'})
    spawnAgent(orchestrator, {name: 'bert'})
    broadcastMessage(orchestrator, {sender: 'bert', type: 'broadcast_news', payload: 'released'})
    emergencyStop(orchestrator, 'maintenance')
    const entries = readBulletin(orchestrator)
    for (const entry of entries)
      assert.deepEqual(await contractViolations('communication/bulletin-entry.v1', entry), [])
    const shown = entries.map(({event_id: _, timestamp_ms: __, ...entry}) => entry)
    const find = (wanted: string) => shown.find(({type}) => type === wanted)
    assert.deepEqual(
      shown.map(({type}) => type),
      [
        'AgentSpawned',
        'LockAcquired',
        'TaskAssigned',
        'TaskAssigned',
        'FileChanged',
        'TaskCompleted',
        'DependencyReady',
        'ContextUpdate',
        'AgentSpawned',
        'Broadcast',
        'Interrupt',
      ],
    )
    assert.deepEqual(find('FileChanged'), {type: 'FileChanged', task_id: first, agent_id: 1, paths: ['a.ts']})
    assert.deepEqual(find('DependencyReady'), {type: 'DependencyReady', task_id: second, agent_id: 1})
    assert.deepEqual(find('Broadcast'), {
      type: 'Broadcast',
      agent_id: 2,
      msg_type: 'broadcast_news',
      payload: 'released',
      priority: 'normal',
      delivered_to: 1,
    })
  })

  it('shows only the types that a reader selects', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    submit(orchestrator)
    broadcastMessage(orchestrator, news('released'))
    assert.deepEqual(
      readBulletin(orchestrator, {types: ['Broadcast']}).map(({type}) => type),
      ['Broadcast'],
    )
  })

  it('keeps bulletin_capacity entries for a reader that lags behind, also after a reload', async (t) => {
    const opened = await openTestOrchestrator(t, {toml: '[orchestrator]\nbulletin_capacity = 2\n'})
    const orchestrator = {...opened, config: opened.config}
    submit(opened)
    const heard: unknown[] = []
    const controller = new AbortController()
    const reading = (async () => {
      for await (const entry of followBulletin(orchestrator, controller.signal)) {
        heard.push((entry as {payload?: string}).payload)
        if (heard.length === 2) {
          orchestrator.config = {...opened.config, bulletinCapacity: 3}
          for (let i = 5; i < 10; i++) broadcastMessage(orchestrator, news(String(i)))
        }
        if (heard.length === 5) controller.abort()
      }
    })()
    for (let i = 0; i < 5; i++) broadcastMessage(orchestrator, news(String(i)))
    await reading
    assert.deepEqual(heard, ['3', '4', '7', '8', '9'])
  })
})
