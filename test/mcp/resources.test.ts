import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {ProtocolError, ProtocolErrorCode} from '@modelcontextprotocol/client'
import {until} from '../support/orch-workspace.js'
import {inTurn, scriptedChat} from '../support/scripted-inference.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {connect, once, startHttp, workspace} from './support.js'

type ToolClient = Awaited<ReturnType<typeof connect>>

const submit = ({call}: Pick<ToolClient, 'call'>, description: string, more: object = {}) =>
  call<{task_id: number}>('svc_submit_task', {description, files: [], ...more})

const refused = (code: number) => (error: unknown) => error instanceof ProtocolError && error.code === code

async function read({client}: Pick<ToolClient, 'client'>, uri: string) {
  const {contents} = await client.readResource({uri})
  const [content] = contents as [{uri: string; mimeType: string; text: string}]
  assert.deepEqual([contents.length, content.uri, content.mimeType], [1, uri, 'application/json'])
  return JSON.parse(content.text)
}

/** Shared server for tests that only use tasks of their own. */
const server = once(async (test) => connect(test, {cwd: await workspace(test)}))

describe('MCP resources', {concurrency: 2}, () => {
  it('list tasks newest first, page by page', async (t) => {
    const own = await connect(t, {cwd: await workspace(t)})
    const {client, call} = own
    await call('svc_submit_batch', {
      tasks: Array.from({length: 120}, (_, i) => ({description: `Task  number\n${i + 1} ${'x'.repeat(100)}`})),
    })
    const pages: string[][] = []
    let cursor: string | undefined
    do {
      const page = await client.request({method: 'resources/list', params: cursor === undefined ? {} : {cursor}})
      pages.push(page.resources.map(({uri}) => uri))
      for (const {title = ''} of page.resources) assert.ok(title.length <= 80 && !title.includes('\n'), title)
      cursor = page.nextCursor
    } while (cursor !== undefined)
    assert.deepEqual(
      pages.map(({length}) => length),
      [51, 50, 20],
    )
    assert.equal(pages[0]?.[0], 'svc://tasks')
    const expected = Array.from({length: 120}, (_, i) => `svc://tasks/${120 - i}`)
    assert.deepEqual(pages.flat().slice(1), expected)
    for (const wrong of ['nonsense', Buffer.from('{"tasksBefore":-1}').toString('base64url')])
      await assert.rejects(client.listResources({cursor: wrong}), refused(ProtocolErrorCode.InvalidParams))
    const {tasks} = await read(own, 'svc://tasks')
    assert.deepEqual([tasks.length, tasks[0].id], [50, 120])
  })

  it('contain each task by id and its transcript', async () => {
    const own = await server()
    const {client, call} = own
    const {task_id} = await submit(own, 'Write it', {processor: 'external'})
    const {generation} = await call<{generation: number}>('svc_claim_task', {owner: 'test'})
    await call('svc_complete_task', {task_id, generation, completion_summary: 'Written.'})
    for (const uri of [`svc://tasks/${task_id}`, `svc://tasks/T-${String(task_id).padStart(4, '0')}`]) {
      const task = await read(own, uri)
      assert.deepEqual([task.id, task.status], [task_id, 'Completed'])
    }
    const transcript = await read(own, `svc://tasks/${task_id}/transcript`)
    assert.deepEqual([transcript.task_id, transcript.transcript, transcript.result.text], [task_id, [], 'Written.'])
    const {resourceTemplates} = await client.listResourceTemplates()
    assert.deepEqual(
      resourceTemplates.map(({uriTemplate}) => uriTemplate),
      ['svc://tasks/{id}', 'svc://tasks/{id}/transcript', 'svc://chats/{session_id}', 'skill://{name}/{+path}'],
    )
  })

  it('list chats and notify subscribers of new messages', async (t) => {
    const {baseUrl} = await scriptedChat(t, inTurn('Two of them.', 'Three now.'))
    const own = await connect(t, {cwd: await workspace(t), env: {SVC_INFERENCE_URL: baseUrl}})
    const {client, call} = own
    await call('svc_chat_message', {prompt: 'How many clients are there?', session_id: 'a/b c'})
    const {resources} = await client.listResources()
    const listed = resources.map(({uri, title}) => [uri, title])
    assert.deepEqual(listed, [
      ['svc://tasks', 'Recent tasks'],
      ['svc://chats/a%2Fb%20c', 'How many clients are there?'],
    ])
    const chat = await read(own, 'svc://chats/a%2Fb%20c')
    assert.deepEqual(
      chat.messages.map(({role, content}: {role: string; content: string}) => [role, content]),
      [
        ['user', 'How many clients are there?'],
        ['assistant', 'Two of them.'],
      ],
    )
    const {updated} = notified(own)
    await client.subscribeResource({uri: 'svc://chats/a%2Fb%20c'})
    await call('svc_chat_message', {prompt: 'And now?', session_id: 'a/b c'})
    await until(() => updated.length > 0, 'the chat has gone on')
    assert.deepEqual([...new Set(updated)], ['svc://chats/a%2Fb%20c'])
  })

  it('reject unknown URIs', async () => {
    const {client} = await server()
    for (const uri of [
      'svc://tasks/4242',
      'svc://tasks/0',
      'svc://tasks/x',
      'svc://tasks/1/other',
      'svc://chats/nobody',
      'svc://chats/%E0%A4%A',
      'svc://chats/',
      'file:///etc/passwd',
      'x',
    ])
      await assert.rejects(client.readResource({uri}), refused(ProtocolErrorCode.InvalidParams), uri)
    for (const uri of ['svc://tasks/4242', 'svc://tasks/4242/transcript', 'svc://chats/nobody', 'file:///etc/passwd'])
      await assert.rejects(client.subscribeResource({uri}), refused(ProtocolErrorCode.InvalidParams), uri)
  })
})

/** Collects the notifications of a client's subscriptions. */
function notified({client}: Pick<ToolClient, 'client'>) {
  const updated: string[] = []
  let lists = 0
  client.setNotificationHandler('notifications/resources/updated', ({params}) => {
    updated.push(params.uri)
  })
  client.setNotificationHandler('notifications/resources/list_changed', () => {
    lists++
  })
  return {updated, lists: () => lists}
}

describe('resource subscription', {concurrency: 2}, () => {
  it('reports changes made by another process until it is cancelled', async (t) => {
    const cwd = await workspace(t)
    const own = await connect(t, {cwd})
    const {client} = own
    await submit(own, 'one')
    await submit(own, 'two')
    const {updated, lists} = notified(own)
    await client.subscribeResource({uri: 'svc://tasks/T-0001'})
    await client.subscribeResource({uri: 'svc://tasks'})
    await svcInTurn(['orch', 'cancel', '1'], {cwd})
    await until(() => updated.length >= 2, 'both clients are notified')
    assert.deepEqual([...new Set(updated)].sort(), ['svc://tasks', 'svc://tasks/T-0001'])
    await client.unsubscribeResource({uri: 'svc://tasks/T-0001'})
    updated.length = 0
    await svcInTurn(['orch', 'cancel', '2'], {cwd})
    await until(() => updated.length > 0, 'the list has changed')
    assert.deepEqual([...new Set(updated)], ['svc://tasks'])
    assert.equal(lists(), 0)
    await own.call('svc_submit_batch', {tasks: [{description: 'three'}, {description: 'four'}]})
    await until(() => lists() > 0, 'there are new tasks')
    await client.subscribeResource({uri: 'svc://tasks/T-0004'})
    await client.unsubscribeResource({uri: 'svc://tasks'})
    updated.length = 0
    await svcInTurn(['orch', 'cancel', '3'], {cwd})
    await svcInTurn(['orch', 'cancel', '4'], {cwd})
    await until(() => updated.length > 0, 'the later change is reported')
    assert.deepEqual([...new Set(updated)], ['svc://tasks/T-0004'])
  })

  it('belongs to one HTTP client and ends with its session', async (t) => {
    const server = await startHttp(t, {cwd: await workspace(t)})
    const [first, second] = [await server.connect(), await server.connect()]
    await submit(first, 'one')
    const [firstUpdates, secondUpdates] = [notified(first), notified(second)]
    await first.client.subscribeResource({uri: 'svc://tasks/1'})
    await second.client.subscribeResource({uri: 'svc://tasks/1'})
    await first.call('svc_doubt_task', {task_id: 1})
    await until(() => firstUpdates.updated.length > 0 && secondUpdates.updated.length > 0, 'both clients are notified')
    await first.client.close()
    secondUpdates.updated.length = 0
    await second.call('svc_cancel_task', {task_id: 1})
    await until(() => secondUpdates.updated.length > 0, 'the remaining client is notified')
  })
})

describe('MCP prompts', {concurrency: 2}, () => {
  it('are listed with their arguments', async () => {
    const {client} = await server()
    const {prompts} = await client.listPrompts()
    assert.deepEqual(
      prompts.map(({name, arguments: args = []}) => [name, args.map((each) => each.name)]),
      [
        ['settle_doubt', ['task_id']],
        ['plan_goal', ['goal', 'agent']],
        ['write_program', ['purpose']],
        ['review_task', ['task_id', 'agent']],
      ],
    )
  })

  it('include their task', async () => {
    const own = await server()
    const {client, call} = own
    const {task_id} = await submit(own, 'Write it')
    const shownId = `T-${String(task_id).padStart(4, '0')}`
    await call('svc_doubt_task', {task_id, reason: 'Where to?'})
    const {messages} = await client.getPrompt({name: 'settle_doubt', arguments: {task_id: shownId}})
    const [first, second] = messages.map(({content}) => content)
    assert.ok(first?.type === 'resource' && 'text' in first.resource)
    assert.equal(first.resource.uri, `svc://tasks/${task_id}`)
    assert.equal(JSON.parse(first.resource.text as string).status, 'Doubted')
    assert.ok(second?.type === 'text')
    assert.ok(second.text.includes(`${shownId} is in doubt: Where to?`), second.text)
    assert.match(second.text, new RegExp(`svc_resolve_doubt with task_id ${task_id}\\b`))
    const asked = {task_id: String(task_id), agent: 'anna'}
    const {messages: review} = await client.getPrompt({name: 'review_task', arguments: asked})
    assert.match(JSON.stringify(review), /for the agent anna/)
  })

  it('include their arguments', async () => {
    const {client} = await server()
    const text = async (name: string, args: Record<string, string>) =>
      JSON.stringify((await client.getPrompt({name, arguments: args})).messages)
    assert.match(await text('plan_goal', {goal: 'a faster start', agent: 'bert'}), /a faster start.*agent bert/)
    const program = await text('write_program', {purpose: 'a shopping list'})
    assert.match(program, /@table type Todo/)
    assert.match(program, /a shopping list/)
  })

  it('are rejected if unknown or incomplete', async () => {
    const {client} = await server()
    for (const request of [
      {name: 'nothing'},
      {name: 'plan_goal'},
      {name: 'plan_goal', arguments: {goal: ' '}},
      {name: 'review_task', arguments: {task_id: '4242'}},
      {name: 'review_task', arguments: {task_id: 'x'}},
    ])
      await assert.rejects(client.getPrompt(request), refused(ProtocolErrorCode.InvalidParams), JSON.stringify(request))
  })
})

describe('completion', () => {
  it('completes tasks, doubted tasks, agents and chats', async (t) => {
    const {baseUrl} = await scriptedChat(t, inTurn('Yes.'))
    const own = await connect(t, {cwd: await workspace(t), env: {SVC_INFERENCE_URL: baseUrl}})
    const {client, call} = own
    for (let i = 1; i <= 12; i++) await submit(own, `Task ${i}`, i === 1 ? {agent_name: 'anna'} : {})
    await call('svc_doubt_task', {task_id: 10})
    await call('svc_chat_message', {prompt: 'Is it?', session_id: 'morning'})
    const prompt = async (name: string, argument: string, value: string) =>
      (await client.complete({ref: {type: 'ref/prompt', name}, argument: {name: argument, value}})).completion
    assert.deepEqual(await prompt('review_task', 'task_id', '1'), {
      values: ['12', '11', '10', '1'],
      total: 4,
      hasMore: false,
    })
    assert.deepEqual((await prompt('review_task', 'task_id', 'T-001')).values, ['T-0012', 'T-0011', 'T-0010'])
    assert.deepEqual((await prompt('settle_doubt', 'task_id', '')).values, ['10'])
    assert.deepEqual((await prompt('review_task', 'agent', 'AN')).values, ['anna'])
    assert.deepEqual((await prompt('plan_goal', 'goal', 'x')).values, [])
    const template = async (uri: string, argument: string, value: string) =>
      (await client.complete({ref: {type: 'ref/resource', uri}, argument: {name: argument, value}})).completion.values
    assert.deepEqual(await template('svc://tasks/{id}', 'id', '12'), ['12'])
    assert.deepEqual(await template('svc://chats/{session_id}', 'session_id', 'mo'), ['morning'])
    await assert.rejects(prompt('nothing', 'x', ''), refused(ProtocolErrorCode.InvalidParams))
    await assert.rejects(template('svc://nothing/{x}', 'x', ''), refused(ProtocolErrorCode.InvalidParams))
  })
})
