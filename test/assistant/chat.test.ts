import assert from 'node:assert/strict'
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
import {
  journeyOf,
  kept,
  nowMs,
  openTestAssistant,
  refused,
  type TestOptions,
  unstopped,
} from './support/open-test-assistant.js'

/** A workspace beside a server that answers so. */
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

describe('a message to a model', () => {
  it('is answered, and both turns are kept with the journey', async (test) => {
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

  it('is told while it is answered', async (test) => {
    const chat = await chatWith(test, inTurn('One two three'))
    const pieces: string[] = []
    await sendMessage(chat.assistant, {prompt: 'Count.'}, journeyOf(), {
      ...unstopped,
      onDelta: (piece) => pieces.push(piece),
    })
    assert.deepEqual(pieces, ['One ', 'two ', 'three'])
  })

  it('says so where its answer was cut off, then and for good', async (test) => {
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

  it('is read together with what was said before in its session, and in no other', async (test) => {
    const chat = await chatWith(test, inTurn('Seven.', 'Eleven.', 'Hello.'))
    await chat.say('Name a prime number.')
    const {history} = await chat.say('Another one?')
    await chat.say('Hello?', {session_id: 'other'})
    const said = chat.server.calls.map(({messages}) => messages.slice(1))
    const first = [
      {role: 'user', content: 'Name a prime number.'},
      {role: 'assistant', content: 'Seven.'},
      {role: 'user', content: 'Another one?'},
    ]
    assert.deepEqual(said, [first.slice(0, 1), first, [{role: 'user', content: 'Hello?'}]])
    assert.deepEqual(history, [...first, {role: 'assistant', content: 'Eleven.'}])
  })

  it('is read together with what another process said', async (test) => {
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

  it('is read with the latest hundred turns at most, and so is its answer given', async (test) => {
    const chat = await chatWith(test, (response, _call, count) => response.end(chatLines(`answer ${count}`)))
    for (let i = 1; i <= 51; i++) await chat.say(`question ${i}`)
    const {history} = await chat.say('the last question')
    assert.equal(history.length, 100)
    assert.deepEqual([history[0]?.content, history.at(-1)?.content], ['question 3', 'answer 52'])
    const {messages = []} = chat.server.calls.at(-1) ?? {}
    assert.equal(messages.length, 102)
    assert.equal(messages[1]?.content, 'question 2')
  })

  it('is read with as much of a long conversation as fits, in whole exchanges', async (test) => {
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
    ['an answer that is too long alone', 'short', large, [5, 47_995]],
    ['a message that is too long alone', large, 'short', [47_995, 5]],
    ['both where each is too long', large, large, [24_000, 24_000]],
  ] as const)
    it(`is read with the last exchange whatever its length, without the middle of ${what}`, async (test) => {
      const chat = await chatWith(test, inTurn(answered, 'end'))
      await chat.say(prompt)
      const {history} = await chat.say('And now?')
      const [, asked, said, last] = chat.server.calls[1]?.messages ?? []
      assert.equal(last?.content, 'And now?')
      assert.deepEqual(history.slice(0, 2), [asked, said])
      for (const [i, turn] of [asked, said].entries()) {
        const content = turn?.content ?? ''
        const most = lengths[i] ?? 0
        assert.ok(content.length <= most && content.length > most - 10, `${content.length} of ${most}`)
        assert.equal(content, Buffer.from(content).toString(), 'a character was cut into halves')
        if (content !== 'short') assert.match(content, /^a[^a-z]*\n\[\.\.\.\]\n[^a-z]*z$/)
      }
      assert.equal(readTurns(chat.assistant, 'default', {limit: 4})[0]?.content, prompt)
    })

  it('is lost by none of two that are written at once: the one that is answered later stands later', async (test) => {
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

describe('what the editor shows', () => {
  it('is read before the message, and not kept with it', async (test) => {
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

  it('is what comes with it as well, which nobody reads', async (test) => {
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

describe('how a message is answered', () => {
  const cases: readonly [
    string,
    Partial<Journey>,
    Partial<MessageRequest>,
    ChatCall['options'],
    RegExp | undefined,
    string,
  ][] = [
    ['soberly', {}, {}, {temperature: 0.3, num_predict: 2048}, undefined, 'run-a'],
    [
      'briefly by the cheapest model',
      {cognitive_profile: 'fast'},
      {},
      {temperature: 0.3, num_predict: 512},
      /few sentences/,
      'run-b',
    ],
    [
      'step by step',
      {cognitive_profile: 'reasoning'},
      {},
      {temperature: 0.3, num_predict: 2048},
      /step by step/,
      'run-a',
    ],
    ['freely', {cognitive_profile: 'creative'}, {}, {temperature: 0.8, num_predict: 2048}, undefined, 'run-a'],
    [
      'as the message says',
      {cognitive_profile: 'creative'},
      {temperature: 0, topP: 0.4},
      {temperature: 0, top_p: 0.4, num_predict: 2048},
      undefined,
      'run-a',
    ],
  ]
  for (const [name, journey, request, options, advice, model] of cases)
    it(`${name}`, async (test) => {
      const chat = await chatWith(test, inTurn('Yes.'), {models: ['run-a', 'run-b']})
      await chat.say({prompt: 'Well?', ...request}, journey)
      const [call] = chat.server.calls
      assert.deepEqual(call?.options, options)
      assert.equal(call?.model, model)
      const system = call?.messages[0]?.content ?? ''
      if (advice === undefined) assert.doesNotMatch(system, /few sentences|step by step/)
      else assert.match(system, advice)
    })

  it('with no more tokens than the settings allow', async (test) => {
    const chat = await chatWith(test, inTurn('Yes.', 'Yes.'), {env: {SVC_INFERENCE_MAX_TOKENS: '100'}})
    await chat.say('Well?', {cognitive_profile: 'fast'})
    assert.equal(chat.server.calls[0]?.options.num_predict, 100)
  })
})

describe('an answer in JSON', () => {
  const json = {prompt: 'Name a prime number as JSON.', jsonMode: true}

  it('is asked for and kept as it is', async (test) => {
    const chat = await chatWith(test, inTurn('{"prime": 7}'))
    const {message} = await chat.say(json)
    assert.equal(message.content, '{"prime": 7}')
    assert.match(chat.server.calls[0]?.messages[0]?.content ?? '', /one JSON value and nothing else/)
  })

  it('may stand in a code fence', async (test) => {
    const chat = await chatWith(test, inTurn('```json\n{"prime": 7}\n```'))
    assert.equal((await chat.say(json)).message.content, '{"prime": 7}')
    assert.equal(chat.server.calls.length, 1)
  })

  it('is asked for again with what was wrong, and only the good answer is kept', async (test) => {
    const chat = await chatWith(test, inTurn('Seven.', '{"prime": 7}'))
    const {message, history} = await chat.say(json)
    assert.equal(message.content, '{"prime": 7}')
    const [, , said, again] = chat.server.calls[1]?.messages ?? []
    assert.deepEqual(said, {role: 'assistant', content: 'Seven.'})
    assert.match(again?.content ?? '', /^That was no JSON: .*Seven/)
    assert.equal(history.length, 2)
    assert.equal(kept(chat).messages.length, 2)
    assert.equal(kept(chat).interactions.length, 2)
  })

  it('that does not come the second time either is an error, and nothing is kept', async (test) => {
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
    ['a mistake', '{"secret": 7,\n "b" 8}', /^line 2 is invalid$/],
  ] as const)
    it(`that is ${what} is not quoted by the error, which may be logged`, async (test) => {
      const chat = await chatWith(test, inTurn(answer, answer))
      const error = await refused('answer_not_json', chat.say(json))
      assert.match(error.params.reason, reason)
      assert.doesNotMatch(JSON.stringify([error.message, error.params]), /secret|seven/)
    })

  it('that was cut off is asked for no second time, and the limit is named', async (test) => {
    const chat = await chatWith(test, (response) => response.end(chatLines('{"prime": [7', {done_reason: 'length'})))
    const error = await refused('answer_not_json', chat.say(json, {cognitive_profile: 'fast'}))
    assert.equal(error.message, 'The model run-a returned no valid JSON: the answer was cut off at 512 tokens.')
    assert.match(error.hint, /SVC_INFERENCE_MAX_TOKENS/)
    assert.equal(chat.server.calls.length, 1)
  })

  it('is not told while it is made: it may be refused in the end', async (test) => {
    const chat = await chatWith(test, inTurn('Seven.', '{"prime": 7}'))
    const pieces: string[] = []
    const onDelta = (piece: string) => pieces.push(piece)
    await sendMessage(chat.assistant, json, journeyOf(), {...unstopped, onDelta})
    assert.deepEqual(pieces, [])
  })
})

describe('a message that is not answered', () => {
  it('because nothing listens: the error says where, and no turn is kept', async (test) => {
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

  it('because the answer breaks off: neither turn is kept', async (test) => {
    const chat = await chatWith(test, (response, _call, count) =>
      response.end(count === 1 ? chatLines('One.') : `${JSON.stringify({message: {content: 'Tw'}, done: false})}\n`),
    )
    await chat.say('one')
    const before = kept(chat)
    await refused('inference_protocol', chat.say('two'))
    assert.deepEqual(kept(chat).messages, before.messages)
    assert.deepEqual(kept(chat).conversations, before.conversations)
  })

  it('because the model has nothing to say: neither turn is kept', async (test) => {
    const chat = await chatWith(test, inTurn(' \n'))
    const error = await refused('answer_empty', chat.say('Hello?'))
    assert.deepEqual([error.status, error.exit], [422, 1])
    assert.deepEqual(kept(chat).conversations, [])
  })

  it('because the answer takes too long in all, although something comes all the time', async (test) => {
    const chat = await chatWith(
      test,
      async (response) => {
        while (!response.destroyed) {
          response.write(`${JSON.stringify({message: {content: ''}, done: false})}\n`)
          await sleep(10)
        }
      },
      {env: {SVC_ASSISTANT_TIMEOUT_MS: '300'}},
    )
    const error = await refused('timeout', chat.say('Hello?'))
    assert.deepEqual(error.params, {url: chat.server.baseUrl, ms: 300})
    await chat.server.hungUp
    const {messages, interactions} = kept(chat)
    assert.deepEqual([messages.length, interactions.map(({success}) => success)], [0, [0]])
  })

  it('because the caller stops it in the middle: the server is left, and neither turn is kept', async (test) => {
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

  it('because it was stopped before: nobody is asked', async (test) => {
    const chat = await chatWith(test, inTurn('Yes.'))
    const reason = new Error('The user stopped it.')
    await assert.rejects(chat.say('Hello?', {}, {signal: AbortSignal.abort(reason)}), (error) => error === reason)
    assert.deepEqual(chat.server.headers, [])
    assert.deepEqual(kept(chat).interactions, [])
  })
})

describe('the conversations of a workspace', () => {
  it('are listed, the latest first, and read one by one', async (test) => {
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

  it('are those of the repository alone', async (test) => {
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

describe('a store that is new', () => {
  it('has no conversations', async (test) => {
    const {assistant} = await openTestAssistant(test, {root: await temporaryFolder(test)})
    assert.deepEqual(listConversations(assistant), [])
  })
})
