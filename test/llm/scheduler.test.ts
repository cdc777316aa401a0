import assert from 'node:assert/strict'
import {after, before, describe, it} from 'node:test'
import {type GenerateEvent, type GenerateRequest, type LanguageModel, loadLanguageModel} from '../../src/llm/index.js'
import {nextChunk} from '../../src/llm/scheduler.js'
import {defaultSampling} from '../../src/sampling/index.js'
import {suiteFolder, writeFiles} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'

const ask = (text: string, maxTokens: number): GenerateRequest => ({
  prompt: {kind: 'raw', text},
  maxTokens,
  stop: [],
  sampling: {...defaultSampling, temperature: 0},
})

interface Followed {
  events: GenerateEvent[]
  /** Resolves with the text when the request ends, rejects if it fails. */
  ended: Promise<string>
  abort(): void
}

function submit(
  model: LanguageModel,
  request: GenerateRequest,
  listener: Parameters<LanguageModel['submit']>[2],
  signal = new AbortController().signal,
): void {
  model.submit(model.encode(request), request, listener, signal)
}

/** Submits a request and collects its events. */
function follow(model: LanguageModel, request: GenerateRequest): Followed {
  const events: GenerateEvent[] = []
  const abort = new AbortController()
  const ended = new Promise<string>((resolve, reject) => {
    let text = ''
    const event = (received: GenerateEvent) => {
      events.push(received)
      if (received.type === 'text') text += received.text
      else resolve(text)
    }
    submit(model, request, {event, fail: reject}, abort.signal)
  })
  return {events, ended, abort: () => abort.abort()}
}

/** Runs a request to its end and returns the summary. */
async function summaryOf(
  model: LanguageModel,
  request: GenerateRequest,
): Promise<Extract<GenerateEvent, {type: 'done'}>> {
  const {events, ended} = follow(model, request)
  await ended
  return events.at(-1) as Extract<GenerateEvent, {type: 'done'}>
}

describe('Scheduler with concurrent requests', () => {
  const folder = suiteFolder()
  let model: LanguageModel
  before(async () => {
    await writeTinyModel(folder, {contextLength: 2048})
    model = await loadLanguageModel(folder, {threads: 1, numCtx: 0, slots: 3, queueLimit: 4})
  })
  after(async () => {
    await model.idle()
    await model.release()
  })

  it('returns the same texts as for single requests, also when others are cancelled', async () => {
    const prompts = Array.from({length: 7}, (_, i) => `${'prompt '.repeat(1 + 9 * i)}${i}`)
    const alone: string[] = []
    for (const [i, prompt] of prompts.entries()) alone.push(await follow(model, ask(prompt, 10 + 7 * i)).ended)
    for (const cancelled of [[], [0], [2, 5], [6]]) {
      const all = prompts.map((prompt, i) => follow(model, ask(prompt, 10 + 7 * i)))
      await new Promise((resolve) => setTimeout(resolve, 3))
      for (const i of cancelled) all[i]?.abort()
      for (const [i, {ended}] of all.entries()) if (!cancelled.includes(i)) assert.equal(await ended, alone[i])
    }
  })

  it('returns the same texts for clients whose requests overtake each other', async () => {
    const prompts = Array.from({length: 7}, (_, i) => `${'prompt '.repeat(60 - 8 * i)}${i}`)
    const alone: string[] = []
    for (const [i, prompt] of prompts.entries()) alone.push(await follow(model, ask(prompt, 5 + 3 * i)).ended)
    const all = prompts.map((prompt, i) => {
      const client = {id: `client ${i % 3}`, weight: 1 + (i % 3), share: 1}
      return follow(model, {...ask(prompt, 5 + 3 * i), client})
    })
    for (const [i, {ended}] of all.entries()) assert.equal(await ended, alone[i])
  })

  it('prefers the client that was served least, for slots and for prefill', async () => {
    const order: string[] = []
    const run = async (id: string, prompt: string) => {
      await follow(model, {...ask(prompt, 3), client: {id, weight: 1, share: 1}}).ended
      order.push(id)
    }
    const many = Array.from({length: 6}, (_, i) => run('many', `${i} ${'word '.repeat(200)}`))
    await Promise.all([...many, run('few', 'a short prompt')])
    assert.ok(order.indexOf('few') < 3, order.join())
  })

  it('interrupts replies of a client that has more than its part of the slots', async () => {
    const prompts = Array.from({length: 5}, (_, i) => `${i} and so on`)
    const alone: string[] = []
    for (const prompt of prompts) alone.push(await follow(model, ask(prompt, 60)).ended)
    const clientOf = (id: string) => ({id, weight: 1, share: 1})
    const order: string[] = []
    const replies = prompts.map(async (prompt) => {
      const text = await follow(model, {...ask(prompt, 60), client: clientOf('many')}).ended
      order.push('many')
      return text
    })
    await new Promise((resolve) => setImmediate(resolve))
    const runs = model.counters.get('graphRuns')
    const few = follow(model, {...ask('a short prompt', 4), client: clientOf('few')})
    await few.ended
    // Each of its tokens needs a step, and each prompt a run, also of the requests that wait.
    assert.ok(model.counters.get('graphRuns') - runs <= 20, String(model.counters.get('graphRuns') - runs))
    assert.deepEqual(order, [])
    assert.deepEqual(await Promise.all(replies), alone)
  })

  it('lets a client fill only its part of the queue', async () => {
    const half = {id: 'half', weight: 1, share: 0.5}
    const all = Array.from({length: 5}, () => follow(model, {...ask('x', 200), client: half}))
    const listener = {event: () => {}, fail: () => {}}
    assert.throws(() => submit(model, {...ask('x', 1), client: half}, listener), {code: 'overloaded'})
    const other = follow(model, {...ask('x', 1), client: {...half, id: 'other'}})
    for (const {abort} of all) abort()
    await other.ended
  })

  it('rejects requests beyond the slots and the queue', async () => {
    const all = Array.from({length: 7}, () => follow(model, ask('x', 200)))
    assert.throws(() => submit(model, ask('x', 1), {event: () => {}, fail: () => {}}), {
      code: 'overloaded',
    })
    for (const {abort} of all) abort()
    await model.idle()
    assert.deepEqual([model.counters.get('running'), model.counters.get('waiting')], [0, 0])
    assert.equal((await follow(model, ask('x', 2)).ended).length > 0, true, 'requests are accepted again')
  })

  it('rejects a prompt that leaves no room for a token in the context', async () => {
    const request = ask('prompt', 5)
    const promptTokens = (await summaryOf(model, request)).promptTokens
    const listener = {event: () => {}, fail: () => {}}
    const full = {...request, contextLength: promptTokens}
    assert.throws(() => submit(model, full, listener), {code: 'prompt_too_long'})
    const {completionTokens, finishReason} = await summaryOf(model, {...request, contextLength: promptTokens + 1})
    assert.deepEqual([completionTokens, finishReason], [1, 'length'])
  })

  it('continues a stream during the prefill of a long prompt', async () => {
    const stream = follow(model, ask('x', 1500))
    while (stream.events.length === 0) await new Promise((resolve) => setImmediate(resolve))
    const long = follow(model, ask('y'.repeat(2000), 1))
    const before = stream.events.length
    await long.ended
    assert.ok(stream.events.length > before, 'the stream received events during the prefill')
    stream.abort()
    await model.idle()
  })

  it('returns first tokens in order of arrival, regardless of the length of other requests', async () => {
    const order: number[] = []
    let last = 0
    await new Promise<void>((resolve, reject) => {
      const next = () => {
        const id = ++last
        const event = ({type}: GenerateEvent) => {
          if (!order.includes(id)) order.push(id)
          if (type !== 'done') return
          if (last < 60) next()
          else if (order.length === last) resolve()
        }
        submit(model, ask('x', 1 + (id % 3)), {event, fail: reject})
      }
      for (let i = 0; i < 5; i++) next()
    })
    assert.deepEqual(
      order,
      order.map((_, i) => i + 1),
    )
  })

  it('stops the computation of cancelled requests', async () => {
    const {events, abort} = follow(model, ask('x', 1500))
    while (events.length === 0) await new Promise((resolve) => setImmediate(resolve))
    abort()
    const received = events.length
    await model.idle()
    assert.ok(events.length <= received + 1, `${events.length - received} events after the abort`)
  })

  it('fails only the request whose listener throws', async () => {
    const other = follow(model, ask('other', 30))
    const failure = await new Promise<unknown>((resolve) => {
      const event = () => {
        throw new Error('broken')
      }
      submit(model, ask('x', 10), {event, fail: resolve})
    })
    assert.match(String(failure), /broken/)
    assert.ok((await other.ended).length > 0)
  })

  it('counts tokens and runs', async () => {
    const before = model.counters.snapshot()
    await Promise.all(['a', 'b', 'c'].map((text) => follow(model, ask(text, 10)).ended))
    const now = model.counters.snapshot()
    assert.equal(now.promptTokens - before.promptTokens, 6)
    assert.equal(now.completionTokens - before.completionTokens, 30)
    assert.ok(now.batchedRuns > before.batchedRuns)
    assert.ok(now.graphRuns - before.graphRuns < 33, 'fewer runs than tokens')
  })

  it('updates the counters and frees the slot before the last event', async () => {
    const before = model.counters.get('completionTokens')
    const atEnd = await new Promise<number[]>((resolve, reject) => {
      const event = ({type}: GenerateEvent) => {
        const {running, completionTokens} = model.counters.snapshot()
        if (type === 'done') resolve([running, completionTokens - before])
      }
      submit(model, ask('x', 5), {event, fail: reject})
    })
    assert.deepEqual(atEnd, [0, 5])
  })
})

describe('Scheduler with echo and logprobs', () => {
  const folder = suiteFolder()
  let model: LanguageModel
  before(async () => {
    await writeTinyModel(folder, {contextLength: 1024})
    await writeFiles(folder, {'generation_config.json': '{"eos_token_id": 256}'})
    model = await loadLanguageModel(folder, {threads: 1, numCtx: 0, slots: 3, queueLimit: 4})
  })
  after(async () => {
    await model.idle()
    await model.release()
  })
  const vocabulary = 257
  /** Longer than the maximum chunk. */
  const tokens = Array.from({length: 600}, (_, i) => (i * 31 + (i >> 3)) % 256)
  const scored = (topLogprobs = vocabulary): GenerateRequest => ({
    ...ask('', 0),
    prompt: {kind: 'tokens', tokens},
    topLogprobs,
    echo: true,
  })

  async function promptOf(request: GenerateRequest): Promise<Extract<GenerateEvent, {type: 'prompt'}>> {
    const {events, ended} = follow(model, request)
    await ended
    return events[0] as Extract<GenerateEvent, {type: 'prompt'}>
  }

  /** The log-probabilities of the token after `count` tokens, according to a generation from there. */
  async function logprobsAfter(count: number) {
    const {events, ended} = follow(model, {
      ...ask('', 1),
      prompt: {kind: 'tokens', tokens: tokens.slice(0, count)},
      topLogprobs: vocabulary,
      sampling: {...defaultSampling, temperature: 0, logitBias: {65: 100}},
    })
    await ended
    const first = events[0]
    assert.equal(first?.type, 'text')
    return (first as Extract<GenerateEvent, {type: 'text'}>).logprobs?.[0]?.top ?? []
  }

  it('returns the log-probabilities of a generation from each position of the prompt', async () => {
    const {logprobs = []} = await promptOf(scored())
    assert.equal(logprobs.length, tokens.length)
    assert.deepEqual([logprobs[0]?.logprob, logprobs[0]?.top, logprobs[0]?.bytes], [null, null, [tokens[0]]])
    for (const at of [1, 2, 3, 17, 100, 511, 512, 513, 599]) {
      const expected = await logprobsAfter(at)
      const {bytes, logprob, top} = logprobs[at] as (typeof logprobs)[number]
      assert.deepEqual(bytes, [tokens[at]])
      const same = expected.find((token) => token.bytes[0] === tokens[at] && token.bytes.length === 1)
      assert.ok(Math.abs((same?.logprob ?? 0) - (logprob as number)) < 1e-4, `position ${at}`)
      assert.deepEqual(top?.[0]?.token, expected[0]?.token)
      assert.ok(Math.abs((top?.[0]?.logprob ?? 0) - (expected[0]?.logprob ?? 1)) < 1e-4)
    }
  })

  it('returns the same log-probabilities next to other requests, and no text with 0 tokens', async () => {
    const alone = await promptOf(scored(1))
    const endless = {...defaultSampling, temperature: 0, logitBias: {256: -100}}
    const other = follow(model, {...ask('x', 400), sampling: endless})
    while (other.events.length === 0) await new Promise((resolve) => setImmediate(resolve))
    const {events, ended} = follow(model, scored(1))
    assert.equal(await ended, '')
    assert.deepEqual(
      events.map(({type}) => type),
      ['prompt', 'done'],
    )
    const {logprobs = []} = events[0] as typeof alone
    for (const [i, {logprob}] of logprobs.entries())
      assert.ok(Math.abs((logprob ?? 0) - (alone.logprobs?.[i]?.logprob ?? 0)) < 1e-4, `position ${i}`)
    other.abort()
  })

  it('accepts a prompt that fills the context with 0 tokens', async () => {
    const full = {...scored(0), contextLength: tokens.length}
    assert.equal((await promptOf(full)).logprobs?.length, tokens.length)
    assert.throws(() => submit(model, {...full, maxTokens: 1}, {event: () => {}, fail: () => {}}), {
      code: 'prompt_too_long',
    })
  })

  it('includes the log-probability of the end token', async () => {
    const sampling = {...defaultSampling, temperature: 0, logitBias: {256: 100}}
    const ending = {...scored(1), maxTokens: 5, sampling}
    const logprobsOf = async (request: GenerateRequest) => {
      const {events, ended} = follow(model, request)
      await ended
      return events.flatMap((event) => (event.type === 'text' ? (event.logprobs ?? []) : [])).map(({token}) => token)
    }
    assert.deepEqual(await logprobsOf(ending), ['<s>'])
    const {echo: _, ...plain} = ending
    assert.deepEqual(await logprobsOf(plain), [])
  })

  it('returns the given text of the prompt, or decodes it from the tokens', async () => {
    const text = async (request: Partial<GenerateRequest>) => (await promptOf({...ask('', 0), ...request})).text
    assert.equal(await text({prompt: {kind: 'raw', text: 'Hé'}, echo: 'Hé'}), 'Hé')
    assert.equal(await text({prompt: {kind: 'tokens', tokens: [...Buffer.from('Hé')]}, echo: true}), 'Hé')
  })
})

describe('nextChunk', () => {
  const cases: readonly [string, number, number, number][] = [
    ['doubles the size if the chunk was fast', 32, 10, 64],
    ['keeps the size near the target', 32, 120, 32],
    ['shrinks the size in proportion to the excess', 64, 300, 32],
    ['returns at least the minimum', 4, 5000, 4],
    ['returns at most the maximum', 256, 1, 256],
  ]
  for (const [name, size, ms, expected] of cases) it(name, () => assert.equal(nextChunk(size, ms), expected))

  it('permits longer pauses of slow streams', () => assert.equal(nextChunk(64, 400, 600), 64))
})
