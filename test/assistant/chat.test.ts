import assert from 'node:assert/strict'
import type {ServerResponse} from 'node:http'
import {describe, it, type TestContext} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {execa} from 'execa'
import {
  conversationState,
  type Journey,
  listConversations,
  type MessageRequest,
  readConversation,
  readTurns,
  sendMessage,
} from '../../src/assistant/index.js'
import {anyJson} from '../../src/inference-client/index.js'
import {projectFile} from '../support/project.js'
import {
  type Answer,
  type ChatCall,
  chatLines,
  inTurn,
  type Models,
  scriptedChat,
} from '../support/scripted-inference.js'
import {temporaryFolder} from '../support/temporary.js'
import {untilReached} from '../support/until.js'
import {
  journeyOf,
  kept,
  nowMs,
  openTestAssistant,
  refused,
  type TestOptions,
  unstopped,
} from './support/open-test-assistant.js'

/** A workspace and an inference server with these scripted answers. */
async function chatWith(
  test: TestContext,
  answer: Answer<ChatCall>,
  {models, ...options}: TestOptions & {models?: Models} = {},
) {
  const server = await scriptedChat(test, answer, models)
  const opened = await openTestAssistant(test, {url: server.baseUrl, ...options})
  return {
    ...opened,
    server,
    say: (request: string | MessageRequest, journey: Partial<Journey> = {}, hooks = unstopped) =>
      sendMessage(
        opened.assistant,
        typeof request === 'string' ? {prompt: request} : request,
        journeyOf(journey),
        hooks,
      ),
  }
}

describe('sendMessage', () => {
  it('returns the answer and stores both turns with the journey', async (test) => {
    const chat = await chatWith(test, inTurn(' Seven is one.\n'))
    const journey = journeyOf({thread_id: 'thread-3', trace_id: 'trace-9'})
    const answer = await chat.say('Name a prime number.', journey)
    assert.deepEqual(answer, {
      message: {
        id: 'asst-2',
        role: 'assistant',
        content: 'Seven is one.',
        timestamp: 1_764_000_000,
        model_used: 'run-a',
        tokens: 10,
        context_files: [],
      },
      history: [
        {role: 'user', content: 'Name a prime number.'},
        {role: 'assistant', content: 'Seven is one.'},
      ],
      model_used: 'run-a',
      tokens: 10,
      session_id: 'default',
      journey,
    })
    const {conversations, messages} = kept(chat)
    assert.deepEqual(
      messages.map(({role, payload_json}) => [role, JSON.parse(payload_json as string)]),
      [
        ['user', {journey}],
        ['assistant', {journey}],
      ],
    )
    assert.deepEqual(conversations, [
      {
        id: 1,
        repository_id: 'repo-1',
        external_session_id: 'default',
        thread_id: 'thread-3',
        title: 'Name a prime number.',
        origin_surface: 'mcp',
        created_at_ms: nowMs,
        updated_at_ms: nowMs,
      },
    ])
  })

  it('streams the answer', async (test) => {
    const chat = await chatWith(test, inTurn('One two three'))
    const pieces: string[] = []
    await sendMessage(chat.assistant, {prompt: 'Count.'}, journeyOf(), {
      ...unstopped,
      onDelta: (piece) => pieces.push(piece),
    })
    assert.deepEqual(pieces, ['One ', 'two ', 'three'])
  })

  it('marks a truncated answer in the response and in the store', async (test) => {
    const chat = await chatWith(test, (response, _call, count) =>
      response.end(chatLines('Seven is', count === 1 ? {done_reason: 'length'} : {})),
    )
    const {message} = await chat.say('Name a prime number.')
    assert.equal(message.truncated, true)
    const whole = await chat.say('Again.')
    assert.ok(!('truncated' in whole.message))
    assert.deepEqual(
      readTurns(chat.assistant, 'default').map(({truncated}) => truncated),
      [undefined, true, undefined, undefined],
    )
  })

  it('sends the previous turns of the same session only', async (test) => {
    const chat = await chatWith(test, inTurn('Seven.', 'Eleven.', 'Hello.'))
    await chat.say('Name a prime number.')
    const {history} = await chat.say('Another one?')
    await chat.say('Hello?', {session_id: 'other'})
    const sent = chat.server.calls.map(({messages}) => messages.slice(1))
    const first = [
      {role: 'user', content: 'Name a prime number.'},
      {role: 'assistant', content: 'Seven.'},
      {role: 'user', content: 'Another one?'},
    ]
    assert.deepEqual(sent, [first.slice(0, 1), first, [{role: 'user', content: 'Hello?'}]])
    assert.deepEqual(history, [...first, {role: 'assistant', content: 'Eleven.'}])
  })

  it('sends previous turns written by another process', async (test) => {
    const {server, root} = await chatWith(test, inTurn('Seven.', 'Eleven.'))
    const program = projectFile('dist/test/assistant/support/say.js')
    const say = async (prompt: string) =>
      JSON.parse((await execa(process.execPath, [program, root, server.baseUrl, prompt], {timeout: 60_000})).stdout)
    await say('Name a prime number.')
    assert.deepEqual(await say('Another one?'), [
      {role: 'user', content: 'Name a prime number.'},
      {role: 'assistant', content: 'Seven.'},
      {role: 'user', content: 'Another one?'},
      {role: 'assistant', content: 'Eleven.'},
    ])
    assert.equal(server.calls[1]?.messages.length, 4)
  })

  it('sends at most the latest 100 turns, and returns as many', async (test) => {
    const chat = await chatWith(test, (response, _call, count) => response.end(chatLines(`answer ${count}`)))
    for (let i = 1; i <= 51; i++) await chat.say(`question ${i}`)
    const {history} = await chat.say('the last question')
    assert.equal(history.length, 100)
    assert.deepEqual([history[0]?.content, history.at(-1)?.content], ['question 3', 'answer 52'])
    const {messages = []} = chat.server.calls.at(-1) ?? {}
    assert.equal(messages.length, 102)
    assert.equal(messages[1]?.content, 'question 2')
  })

  it('shortens a long conversation to whole exchanges that fit', async (test) => {
    const chat = await chatWith(
      test,
      inTurn('x'.repeat(20_000), 'short', 'y'.repeat(40_000), 'z'.repeat(70_000), 'end'),
    )
    for (const prompt of ['one', 'two', 'three']) await chat.say(prompt)
    const {history} = await chat.say('four')
    const read = (call = 0) => chat.server.calls[call]?.messages.slice(1).map(({content}) => content.slice(0, 5))
    assert.deepEqual(read(2), ['one', 'xxxxx', 'two', 'short', 'three'])
    assert.deepEqual(read(3), ['two', 'short', 'three', 'yyyyy', 'four'])
    assert.deepEqual(
      history.map(({content}) => content.slice(0, 5)),
      ['two', 'short', 'three', 'yyyyy', 'four', 'zzzzz'],
    )
    await chat.say('five')
    assert.deepEqual(read(4), ['four', 'zzzzz', 'five'])
  })

  const large = `a${'\u{1d11e}'.repeat(30_000)}z`
  for (const [what, prompt, answered, lengths] of [
    ['an oversized answer', 'short', large, [5, 47_995]],
    ['an oversized message', large, 'short', [47_995, 5]],
    ['both if both are oversized', large, large, [24_000, 24_000]],
  ] as const)
    it(`always sends the last exchange, and cuts the middle of ${what}`, async (test) => {
      const chat = await chatWith(test, inTurn(answered, 'end'))
      await chat.say(prompt)
      const {history} = await chat.say('And now?')
      const [, question, answer, last] = chat.server.calls[1]?.messages ?? []
      assert.equal(last?.content, 'And now?')
      assert.deepEqual(history.slice(0, 2), [question, answer])
      for (const [i, turn] of [question, answer].entries()) {
        const content = turn?.content ?? ''
        const most = lengths[i] ?? 0
        assert.ok(content.length <= most && content.length > most - 10, `${content.length} of ${most}`)
        assert.equal(content, Buffer.from(content).toString(), 'a surrogate pair was split')
        if (content !== 'short') assert.match(content, /^a[^a-z]*\n\[\.\.\.\]\n[^a-z]*z$/)
      }
      assert.equal(readTurns(chat.assistant, 'default', {limit: 4})[0]?.content, prompt)
    })

  it('stores two concurrent exchanges in the order of their answers', async (test) => {
    const waiting: (() => void)[] = []
    const chat = await chatWith(test, async (response, call, count) => {
      if (count === 1) await new Promise<void>((resolve) => waiting.push(resolve))
      response.end(chatLines(`to ${call.messages.at(-1)?.content}`))
      waiting.shift()?.()
    })
    const first = chat.say('first')
    while (waiting.length === 0) await sleep(5)
    const second = chat.say('second')
    assert.equal((await second).history.length, 2)
    assert.deepEqual(
      (await first).history.map(({content}) => content),
      ['second', 'to second', 'first', 'to first'],
    )
    assert.equal(kept(chat).conversations.length, 1)
  })
})

describe('the context of a message', () => {
  it('precedes the message in the prompt and is not stored', async (test) => {
    const chat = await chatWith(test, inTurn('Because.'))
    await chat.say({
      prompt: 'Why?',
      activeFile: 'src/a.ts',
      activeLine: 12,
      openFiles: ['src/a.ts', 'src/b.ts'],
      selectedText: 'const a = `1`\n',
      diagnostics: ['a is never read', {message: 'b is unknown', line: 3}],
    })
    assert.equal(
      chat.server.calls[0]?.messages.at(-1)?.content,
      `The editor shows src/a.ts, line 12.

Open files: src/a.ts, src/b.ts

Selected text:
\`\`\`
const a = \`1\`
\`\`\`

The editor complains:
- a is never read
- {"message":"b is unknown","line":3}

Why?`,
    )
    assert.equal(kept(chat).messages[0]?.content_text, 'Why?')
  })

  it('may include attachments, which are stored but not sent', async (test) => {
    const chat = await chatWith(test, inTurn('Yes.'))
    await chat.say({prompt: 'Look.', attachmentManifest: {files: [{name: 'a.png'}]}})
    assert.equal(chat.server.calls[0]?.messages.at(-1)?.content, 'Look.')
    const {messages} = kept(chat)
    assert.deepEqual(
      messages.map(({payload_json}) => JSON.parse(payload_json as string).attachment_manifest),
      [{files: [{name: 'a.png'}]}, undefined],
    )
  })
})

describe('options of a message', () => {
  const cases: readonly [
    string,
    Partial<Journey>,
    Partial<MessageRequest>,
    ChatCall['options'],
    RegExp | undefined,
    string,
  ][] = [
    ['have default values', {}, {}, {temperature: 0.3, num_predict: 2048}, undefined, 'run-a'],
    [
      'select short answers of the cheapest model with the profile fast',
      {cognitive_profile: 'fast'},
      {},
      {temperature: 0.3, num_predict: 512},
      /few sentences/,
      'run-b',
    ],
    [
      'request steps with the profile reasoning',
      {cognitive_profile: 'reasoning'},
      {},
      {temperature: 0.3, num_predict: 2048},
      /step by step/,
      'run-a',
    ],
    [
      'raise the temperature with the profile creative',
      {cognitive_profile: 'creative'},
      {},
      {temperature: 0.8, num_predict: 2048},
      undefined,
      'run-a',
    ],
    [
      'in the message override the profile',
      {cognitive_profile: 'creative'},
      {temperature: 0, topP: 0.4},
      {temperature: 0, top_p: 0.4, num_predict: 2048},
      undefined,
      'run-a',
    ],
  ]
  for (const [name, journey, request, options, advice, model] of cases)
    it(name, async (test) => {
      const chat = await chatWith(test, inTurn('Yes.'), {models: ['run-a', 'run-b']})
      await chat.say({prompt: 'Well?', ...request}, journey)
      const [call] = chat.server.calls
      assert.deepEqual(call?.options, options)
      assert.equal(call?.model, model)
      const system = call?.messages[0]?.content ?? ''
      if (advice === undefined) assert.doesNotMatch(system, /few sentences|step by step/)
      else assert.match(system, advice)
    })

  it('do not exceed SVC_INFERENCE_MAX_TOKENS', async (test) => {
    const chat = await chatWith(test, inTurn('Yes.', 'Yes.'), {env: {SVC_INFERENCE_MAX_TOKENS: '100'}})
    await chat.say('Well?', {cognitive_profile: 'fast'})
    assert.equal(chat.server.calls[0]?.options.num_predict, 100)
  })
})

describe('sendMessage with jsonMode', () => {
  const json = {prompt: 'Name a prime number as JSON.', jsonMode: true}

  it('requests JSON and returns it unchanged', async (test) => {
    const chat = await chatWith(test, inTurn('{"prime": 7}'))
    const {message} = await chat.say(json)
    assert.equal(message.content, '{"prime": 7}')
    assert.match(chat.server.calls[0]?.messages[0]?.content ?? '', /one JSON value and nothing else/)
  })

  it('removes a code fence', async (test) => {
    const chat = await chatWith(test, inTurn('```json\n{"prime": 7}\n```'))
    assert.equal((await chat.say(json)).message.content, '{"prime": 7}')
    assert.equal(chat.server.calls.length, 1)
  })

  it('retries with the error and stores only the valid answer', async (test) => {
    const chat = await chatWith(test, inTurn('Seven.', '{"prime": 7}'))
    const {message, history} = await chat.say(json)
    assert.equal(message.content, '{"prime": 7}')
    const [, , answer, retry] = chat.server.calls[1]?.messages ?? []
    assert.deepEqual(answer, {role: 'assistant', content: 'Seven.'})
    assert.match(retry?.content ?? '', /^That was no JSON: .*Seven/)
    assert.deepEqual(
      chat.server.calls.map(({format}) => format),
      [anyJson, anyJson],
    )
    assert.equal(history.length, 2)
    assert.equal(kept(chat).messages.length, 2)
    assert.equal(kept(chat).interactions.length, 2)
  })

  it('fails after the second invalid answer and stores nothing', async (test) => {
    const chat = await chatWith(test, inTurn('Seven.', '{"prime": 7', '{"prime": 7}'))
    const error = await refused('answer_not_json', chat.say(json))
    assert.match(error.message, /^The model run-a returned no valid JSON in 2 attempts: .*[^.]\.$/)
    assert.deepEqual([error.status, error.exit], [422, 1])
    assert.equal(chat.server.calls.length, 2)
    assert.deepEqual(kept(chat).conversations, [])
  })

  for (const [what, answer, reason] of [
    ['a sentence', 'The secret is seven.', /^the answer is not JSON$/],
    ['half a value', '{"secret": 7', /^(the answer is incomplete|line 1 is invalid)$/],
    ['a syntax error', '{"secret": 7,\n "b" 8}', /^line 2 is invalid$/],
  ] as const)
    it(`does not quote ${what} in the error, which may be logged`, async (test) => {
      const chat = await chatWith(test, inTurn(answer, answer))
      const error = await refused('answer_not_json', chat.say(json))
      assert.match(error.params.reason, reason)
      assert.doesNotMatch(JSON.stringify([error.message, error.params]), /secret|seven/)
    })

  it('reports the token limit without a retry if the answer was truncated', async (test) => {
    const chat = await chatWith(test, (response) => response.end(chatLines('{"prime": [7', {done_reason: 'length'})))
    const error = await refused('answer_not_json', chat.say(json, {cognitive_profile: 'fast'}))
    assert.equal(error.message, 'The model run-a returned no valid JSON: the answer was cut off at 512 tokens.')
    assert.match(error.hint, /SVC_INFERENCE_MAX_TOKENS/)
    assert.equal(chat.server.calls.length, 1)
  })

  it('does not stream, because the answer may be rejected', async (test) => {
    const chat = await chatWith(test, inTurn('Seven.', '{"prime": 7}'))
    const pieces: string[] = []
    const onDelta = (piece: string) => pieces.push(piece)
    await sendMessage(chat.assistant, json, journeyOf(), {...unstopped, onDelta})
    assert.deepEqual(pieces, [])
  })
})

describe('sendMessage without an answer', () => {
  it('reports an unreachable server with its address and stores no turn', async (test) => {
    const opened = await openTestAssistant(test)
    const error = await refused(
      'unreachable',
      sendMessage(opened.assistant, {prompt: 'Hello?'}, journeyOf(), unstopped),
    )
    assert.match(error.message, /127\.0\.0\.1:9.*connection refused/)
    const {conversations, messages, interactions} = kept(opened)
    assert.deepEqual([conversations, messages], [[], []])
    assert.deepEqual(
      interactions.map(({success, output_tokens}) => [success, output_tokens]),
      [[0, 0]],
    )
  })

  it('stores no turn if the answer is incomplete', async (test) => {
    const chat = await chatWith(test, (response, _call, count) =>
      response.end(count === 1 ? chatLines('One.') : `${JSON.stringify({message: {content: 'Tw'}, done: false})}\n`),
    )
    await chat.say('one')
    const before = kept(chat)
    await refused('inference_protocol', chat.say('two'))
    assert.deepEqual(kept(chat).messages, before.messages)
    assert.deepEqual(kept(chat).conversations, before.conversations)
  })

  it('stores no turn if the answer is empty', async (test) => {
    const chat = await chatWith(test, inTurn(' \n'))
    const error = await refused('answer_empty', chat.say('Hello?'))
    assert.deepEqual([error.status, error.exit], [422, 1])
    assert.deepEqual(kept(chat).conversations, [])
  })

  it('limits the total time even if data keeps arriving', async (test) => {
    const trickle = async (response: ServerResponse) => {
      while (!response.destroyed) {
        response.write(`${JSON.stringify({message: {content: ''}, done: false})}\n`)
        await sleep(10)
      }
    }
    let chat: Awaited<ReturnType<typeof chatWith>> | undefined
    const {result, limitMs} = await untilReached(
      () => chat?.server.calls.length === 1,
      async (ms) => {
        chat = await chatWith(test, trickle, {env: {SVC_ASSISTANT_TIMEOUT_MS: String(ms)}})
        return {chat, error: await refused('timeout', chat.say('Hello?'))}
      },
    )
    assert.deepEqual(result.error.params, {url: result.chat.server.baseUrl, ms: limitMs})
    await result.chat.server.hungUp
    const {messages, interactions} = kept(result.chat)
    assert.deepEqual([messages.length, interactions.map(({success}) => success)], [0, [0]])
  })

  it('disconnects and stores no turn if the caller aborts it', async (test) => {
    const stop = new AbortController()
    const reason = new Error('The user stopped it.')
    const chat = await chatWith(test, async (response) => {
      response.write(`${JSON.stringify({message: {content: 'Sev'}, done: false})}\n`)
      await sleep(30)
      stop.abort(reason)
    })
    await assert.rejects(chat.say('Hello?', {}, {signal: stop.signal}), (error) => error === reason)
    await chat.server.hungUp
    assert.deepEqual(kept(chat).messages, [])
  })

  it('sends no request if the signal is already aborted', async (test) => {
    const chat = await chatWith(test, inTurn('Yes.'))
    const reason = new Error('The user stopped it.')
    await assert.rejects(chat.say('Hello?', {}, {signal: AbortSignal.abort(reason)}), (error) => error === reason)
    assert.deepEqual(chat.server.headers, [])
    assert.deepEqual(kept(chat).interactions, [])
  })
})

describe('conversations', () => {
  it('are listed latest first and can be read individually', async (test) => {
    let ms = nowMs
    const chat = await chatWith(test, inTurn('1', '2', '3'), {now: () => ms++})
    await chat.say('  First line\nsecond line', {session_id: 'a', thread_id: 'thread-1'})
    await chat.say('Hello', {session_id: 'b', origin_surface: 'daemon'})
    await chat.say('Again', {session_id: 'a'})
    const [a, b] = listConversations(chat.assistant)
    assert.deepEqual(
      [a, b].map((each) => [each?.session_id, each?.title, each?.turns, each?.origin_surface, each?.thread_id]),
      [
        ['a', 'First line', 4, 'mcp', 'thread-1'],
        ['b', 'Hello', 2, 'daemon', undefined],
      ],
    )
    assert.deepEqual(
      listConversations(chat.assistant, {offset: 1, limit: 1}).map(({session_id}) => session_id),
      ['b'],
    )
    const read = readConversation(chat.assistant, 'a')
    assert.equal(read?.title, 'First line')
    assert.deepEqual(
      read?.messages.map(({id, role, content, journey}) => [id, role, content, journey.session_id]),
      [
        ['user-1', 'user', '  First line\nsecond line', 'a'],
        ['asst-2', 'assistant', '1', 'a'],
        ['user-5', 'user', 'Again', 'a'],
        ['asst-6', 'assistant', '3', 'a'],
      ],
    )
    assert.deepEqual(
      readTurns(chat.assistant, 'a', {limit: 1}).map(({content}) => content),
      ['3'],
    )
  })

  it('have a state that changes with every exchange', async (test) => {
    const chat = await chatWith(test, inTurn('1', '2'))
    assert.equal(conversationState(chat.assistant, 'a'), undefined)
    await chat.say('one', {session_id: 'a'})
    const before = conversationState(chat.assistant, 'a')
    assert.notEqual(before, undefined)
    await chat.say('two', {session_id: 'a'})
    assert.notEqual(conversationState(chat.assistant, 'a'), before)
  })

  it('are separate for each repository', async (test) => {
    const chat = await chatWith(test, inTurn('1', '2'))
    await chat.say('one')
    const other = await openTestAssistant(test, {
      root: chat.root,
      url: chat.server.baseUrl,
      repositoryId: 'repo-2',
    })
    assert.deepEqual(listConversations(other.assistant), [])
    assert.equal(readConversation(other.assistant, 'default'), undefined)
    assert.deepEqual(readTurns(other.assistant, 'default'), [])
    await sendMessage(other.assistant, {prompt: 'two'}, journeyOf({repository_id: 'repo-2'}), unstopped)
    assert.equal(chat.server.calls[1]?.messages.length, 2)
    assert.equal(listConversations(chat.assistant)[0]?.turns, 2)
  })
})

describe('a new store', () => {
  it('has no conversations', async (test) => {
    const {assistant} = await openTestAssistant(test, {root: await temporaryFolder(test)})
    assert.deepEqual(listConversations(assistant), [])
  })
})
