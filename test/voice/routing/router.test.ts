import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {SvcError} from '../../../src/errors/index.js'
import {noEditor} from '../../../src/voice/routing/editor-context.js'
import {RoutingMemory, remember} from '../../../src/voice/routing/memory.js'
import {type RoutedTranscript, type RoutePorts, Router} from '../../../src/voice/routing/router.js'
import {findSpokenCall, type SpokenOperation, spokenName} from '../../../src/voice/routing/spoken-operation.js'

const spoken = (
  name: string,
  title: string,
  isRead: boolean,
  argument?: SpokenOperation['argument'],
): SpokenOperation => ({name, names: [spokenName(title), spokenName(name)], isRead, argument})

const operations = [
  spoken('list_tasks', 'List tasks', true),
  spoken('show_task', 'Show a task', true, {name: 'task_id', type: 'integer'}),
  spoken('submit_task', 'Submit a task', false, {name: 'description', type: 'string'}),
  spoken('submit_task_batch', 'Submit a task batch', false),
]

const limits = {
  toolMinConfidence: 0.55,
  orchestratorMinConfidence: 0.45,
  maxUserTurns: 2,
  chatMessages: 4,
  sessions: 64,
  ttlMs: 60_000,
}
const {signal} = new AbortController()

/** A router whose ports record what they do. */
function routing(ports: Partial<RoutePorts> = {}) {
  const done: unknown[] = []
  const router = new Router()
  const all: RoutePorts = {
    operations,
    run: async (name, input) => {
      done.push([name, input])
      return {task_id: 7, display_id: 'T-0007', status: 'Queued', summary: 'ok', engine: {}}
    },
    confirm: async () => false,
    chat: async (messages) => {
      done.push(messages.map(({role, content}) => `${role}:${content}`))
      return `answer to ${messages.at(-1)?.content}`
    },
    ...ports,
  }
  const route = async (transcript: string, request: Partial<RoutedTranscript> = {}) =>
    router.route(
      {mode: 'tool', sessionId: 's', transcript, confidence: 0.9, editor: noEditor, ...request},
      all,
      limits,
      signal,
    )
  return {done, route}
}

describe('the route', () => {
  it('is none if routing is off, and nothing is remembered', async () => {
    const {route} = routing()
    for (const _ of [1, 2]) {
      const {route: off} = await route('list tasks', {mode: 'none'})
      assert.deepEqual([off.mode, off.action, off.status], ['none', 'none', 'no_route'])
    }
    assert.equal((await route('list tasks')).route.status, 'executed')
  })

  it('is none for a blank transcript', async () => {
    assert.equal((await routing().route(' ')).route.status, 'no_op_empty_transcript')
    assert.equal((await routing().route(' ', {mode: 'none'})).route.status, 'no_route')
  })

  it('is none for the same text twice in one session', async () => {
    const {route, done} = routing()
    await route('list tasks')
    assert.equal((await route(' list tasks ')).route.status, 'repetition_breaker')
    assert.equal((await route('list tasks', {sessionId: 'other'})).route.status, 'executed')
    assert.equal(done.length, 2)
  })
})

describe('the tool route', () => {
  it('reports the status', async () => {
    const {route: found, envelope} = await routing().route('speech status')
    assert.deepEqual([found.mode, found.action, found.status], ['tool', 'speech.status', 'executed'])
    assert.deepEqual([found.payload.summary, found.payload.blended_confidence], ['ok', 0.91])
    assert.equal(envelope?.action, 'speech_status')
  })

  it('needs confidence in the transcript and in what it asks for', async () => {
    const low = (await routing().route('speech status', {confidence: 0.1})).route
    assert.equal(low.status, 'below_tool_confidence')
    assert.deepEqual([low.payload.transcript_confidence, low.payload.min_confidence], [0.1, 0.55])
    const blended = (await routing().route('svc status', {confidence: 0.55})).route
    assert.equal(blended.status, 'executed')
    const strict = new Router()
    const request = {mode: 'tool', sessionId: 's', transcript: 'svc status', confidence: 0.8, editor: noEditor} as const
    const ports = {operations, run: async () => ({}), confirm: async () => true, chat: async () => ''}
    const {route: below} = await strict.route(request, ports, {...limits, toolMinConfidence: 0.7}, signal)
    assert.equal(below.status, 'below_blended_tool_confidence')
    assert.equal(below.payload.blended_confidence, 0.675)
  })

  it('does nothing for an intent that a program acts on', async () => {
    const {route, done} = routing()
    const {route: found, envelope, gaps, question} = await route('explain the loop')
    assert.deepEqual([found.action, found.status], ['speech.intent.explain_code', 'intent_matched'])
    assert.deepEqual([envelope?.action, gaps], ['explain_code', ['explain_focus']])
    assert.equal(question, 'Which file or function should be explained?')
    assert.deepEqual(done, [])
  })

  it('is no match for other sentences', async () => {
    const {route: found, envelope} = await routing().route('good morning')
    assert.deepEqual([found.mode, found.action, found.status], ['tool', 'none', 'no_match'])
    assert.deepEqual([found.payload.intent_confidence, envelope], [0.35, undefined])
    const {route: unsure} = await routing().route('good evening', {confidence: 0.6})
    assert.equal(unsure.payload.speech_escalation_recommended, true)
  })

  it('asks which of several errors is meant', async () => {
    const editor = {activeFile: 'a.ts', recentErrors: ['[a] x is unused', '[b] y is missing'], symbolStack: []}
    const {route: found} = await routing().route('fix the error', {editor})
    assert.deepEqual([found.mode, found.status], ['clarify', 'ambiguous_target'])
    assert.deepEqual(found.payload.options, editor.recentErrors)
  })

  it('runs an operation that only reads', async () => {
    const {route, done} = routing()
    const {route: found, envelope} = await route('Please show the task number twenty one.')
    assert.deepEqual(done, [['show_task', {task_id: 21}]])
    assert.deepEqual([found.action, found.status], ['speech.operation.show_task', 'executed'])
    assert.equal(envelope?.action, 'operation')
  })

  it('runs one that changes something only after a confirmation', async () => {
    const questions: string[] = []
    const {route, done} = routing({
      confirm: async (message) => {
        questions.push(message)
        return questions.length > 1
      },
    })
    const {route: asked} = await route('submit a task: fix the Login page')
    assert.deepEqual([asked.status, asked.payload.needs_confirmation], ['intent_matched', true])
    assert.deepEqual(done, [])
    assert.equal((await route('submit a task: fix the Login page')).route.status, 'executed')
    assert.deepEqual(done, [['submit_task', {description: 'fix the Login page'}]])
    assert.equal(questions[0], 'Run submit_task with {"description":"fix the Login page"}?')
  })

  it('reports an operation that fails, which can be said again', async () => {
    const {route} = routing({
      run: async () => {
        throw new SvcError('task_not_found', {task: 'T-0007'})
      },
    })
    for (const _ of [1, 2]) {
      const {route: failed} = await route('list tasks')
      assert.equal(failed.status, 'tool_failed')
      assert.equal((failed.payload.error as {code: string}).code, 'task_not_found')
    }
  })
})

describe('findSpokenCall', () => {
  const cases: [string, string | undefined, object?][] = [
    ['list the tasks', 'list_tasks', {}],
    ['list tasks now', undefined],
    ['show task T-12', 'show_task', {task_id: 12}],
    ['show task login', undefined],
    ['show task', undefined],
    ['submit task batch', 'submit_task_batch', {}],
    ['submit a task', undefined],
    ['submit a task write docs/a.md --now', 'submit_task', {description: 'write docs/a.md --now'}],
  ]
  for (const [text, name, input] of cases)
    it(`${name ?? 'no operation'} for "${text}"`, () => {
      const call = findSpokenCall(text, operations)
      assert.deepEqual([call?.operation.name, call?.input], [name, input])
    })
})

describe('the chat route', () => {
  it('remembers the conversation, and ends it after the maximum number of turns', async () => {
    const {route, done} = routing()
    const first = await route('hello', {mode: 'chat'})
    assert.deepEqual(
      [first.route.action, first.route.status, first.route.payload.response, first.route.payload.turns],
      ['chat.turn', 'executed', 'answer to hello', 2],
    )
    await route('and now', {mode: 'chat'})
    assert.deepEqual(done, [['user:hello'], ['user:hello', 'assistant:answer to hello', 'user:and now']])
    const {route: third} = await route('more', {mode: 'chat'})
    assert.deepEqual(
      [third.status, third.payload.user_turns, third.payload.max_user_turns],
      ['guard_max_user_turns', 3, 2],
    )
    assert.equal((await route('more', {mode: 'chat', sessionId: 't'})).route.status, 'executed')
  })

  it('reports a model that cannot be reached, and forgets the turn', async () => {
    let fails = true
    const {route} = routing({
      chat: async (messages) => {
        if (fails) throw new SvcError('unreachable', {url: 'http://127.0.0.1:1', reason: 'refused'})
        return String(messages.length)
      },
    })
    const {route: failed} = await route('hello', {mode: 'chat'})
    assert.equal(failed.status, 'chat_failed')
    fails = false
    assert.equal((await route('hello', {mode: 'chat'})).route.payload.response, '1')
  })
})

describe('the orchestrator route', () => {
  it('submits a task', async () => {
    const {route, done} = routing({confirm: async () => true})
    const {route: sure} = await route('fix it', {mode: 'orchestrator', confidence: 0.45})
    assert.deepEqual([sure.action, sure.status, sure.payload.task_id], ['orchestrator.enqueue', 'queued', 7])
    const {route: unsure} = await route('fix that', {mode: 'orchestrator', confidence: 0.44})
    assert.equal(unsure.status, 'queued_low_confidence')
    assert.deepEqual(done, [
      ['submit_task', {description: 'fix it'}],
      ['submit_task', {description: 'fix that'}],
    ])
  })

  it('submits nothing without a confirmation, and reports a failure', async () => {
    const {route: unconfirmed} = await routing().route('fix it', {mode: 'orchestrator'})
    assert.deepEqual([unconfirmed.status, unconfirmed.payload.workflow_status], ['not_confirmed', 'not_queued'])
    const {route: failed} = await routing({
      confirm: async () => true,
      run: async () => {
        throw new SvcError('internal', {reason: 'broken'})
      },
    }).route('fix it', {mode: 'orchestrator'})
    assert.deepEqual([failed.status, failed.payload.workflow_status], ['enqueue_failed', 'not_queued'])
  })
})

describe('the memory of routes', () => {
  it('forgets sessions beyond its size, the least recently used first', () => {
    const memory = new RoutingMemory()
    const few = {...limits, sessions: 2}
    memory.touch('a', few).userTurns = 1
    memory.touch('b', few).userTurns = 1
    memory.touch('a', few)
    memory.touch('c', few)
    assert.equal(memory.size, 2)
    assert.deepEqual([memory.touch('a', few).userTurns, memory.touch('b', few).userTurns], [1, 0])
  })

  it('forgets sessions that were not used for some time', () => {
    const memory = new RoutingMemory()
    memory.touch('a', limits, 0).userTurns = 1
    memory.touch('b', limits, 50_000).userTurns = 1
    memory.touch('c', limits, 70_000)
    assert.equal(memory.size, 2)
    assert.deepEqual(
      [memory.touch('b', limits, 110_000).userTurns, memory.touch('c', limits, 200_000).userTurns],
      [1, 0],
    )
  })

  it('keeps the latest messages', () => {
    const session = new RoutingMemory().touch('a', limits)
    for (const content of ['1', '2', '3', '4', '5']) remember(session, {role: 'user', content}, limits)
    assert.deepEqual(
      session.chat.map(({content}) => content),
      ['2', '3', '4', '5'],
    )
  })
})
