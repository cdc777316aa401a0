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
  /** Resolves with the text when the request has ended, rejects when it has failed. */
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

/** Submits a request and keeps what it is told. */
function follow(model: LanguageModel, request: GenerateRequest): Followed {
  const events: GenerateEvent[] = []
  const abort = new AbortController()
  const ended = new Promise<string>((resolve, reject) => {
    let text = ''
    const event = (told: GenerateEvent) => {
      events.push(told)
      if (told.type === 'text') text += told.text
      else resolve(text)
    }
    submit(model, request, {event, fail: reject}, abort.signal)
  })
  return {events, ended, abort: () => abort.abort()}
}

/** Runs a request to its end and returns what it is told last. */
async function summaryOf(
  model: LanguageModel,
  request: GenerateRequest,
): Promise<Extract<GenerateEvent, {type: 'done'}>> {
  const {events, ended} = follow(model, request)
  await ended
  return events.at(-1) as Extract<GenerateEvent, {type: 'done'}>
}

describe('many requests on one model', () => {
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

  it('have the text they have alone, whatever their lengths, and whoever is cancelled beside them', async () => {
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

  it('beyond the slots and the queue are refused', async () => {
    const all = Array.from({length: 7}, () => follow(model, ask('x', 200)))
    assert.throws(() => submit(model, ask('x', 1), {event: () => {}, fail: () => {}}), {
      code: 'overloaded',
    })
    for (const {abort} of all) abort()
    await model.idle()
    assert.deepEqual([model.counters.get('running'), model.counters.get('waiting')], [0, 0])
    assert.equal((await follow(model, ask('x', 2)).ended).length > 0, true, 'there is room again')
  })

  it('whose prompt leaves no room for a token in the context are refused', async () => {
    const request = ask('prompt', 5)
    const promptTokens = (await summaryOf(model, request)).promptTokens
    const listener = {event: () => {}, fail: () => {}}
    const full = {...request, contextLength: promptTokens}
    assert.throws(() => submit(model, full, listener), {code: 'prompt_too_long'})
    const {completionTokens, finishReason} = await summaryOf(model, {...request, contextLength: promptTokens + 1})
    assert.deepEqual([completionTokens, finishReason], [1, 'length'])
  })

  it('go on while a long prompt is read', async () => {
    const stream = follow(model, ask('x', 1500))
    while (stream.events.length === 0) await new Promise((resolve) => setImmediate(resolve))
    const long = follow(model, ask('y'.repeat(2000), 1))
    const before = stream.events.length
    await long.ended
    assert.ok(stream.events.length > before, 'the stream was told something while the prompt was read')
    stream.abort()
    await model.idle()
  })

  it('get their first tokens in the order in which they came, however short those beside them are', async () => {
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

  it('that are cancelled are computed no further', async () => {
    const {events, abort} = follow(model, ask('x', 1500))
    while (events.length === 0) await new Promise((resolve) => setImmediate(resolve))
    abort()
    const told = events.length
    await model.idle()
    assert.ok(events.length <= told + 1, `${events.length - told} events after the end`)
  })

  it('fail alone when a listener breaks', async () => {
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

  it('are counted', async () => {
    const before = model.counters.snapshot()
    await Promise.all(['a', 'b', 'c'].map((text) => follow(model, ask(text, 10)).ended))
    const now = model.counters.snapshot()
    assert.equal(now.promptTokens - before.promptTokens, 6)
    assert.equal(now.completionTokens - before.completionTokens, 30)
    assert.ok(now.batchedRuns > before.batchedRuns)
    assert.ok(now.graphRuns - before.graphRuns < 33, 'fewer runs than tokens')
  })

  it('are counted, and leave their slot, before they emit their last event', async () => {
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

describe('a prompt that is scored', () => {
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
  /** Longer than the longest chunk. */
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

  /** The chances of what comes after so many tokens, as a generation from there has them. */
  async function chancesAfter(count: number) {
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

  it('has the chances that a generation from each of its beginnings has', async () => {
    const {logprobs = []} = await promptOf(scored())
    assert.equal(logprobs.length, tokens.length)
    assert.deepEqual([logprobs[0]?.logprob, logprobs[0]?.top, logprobs[0]?.bytes], [null, null, [tokens[0]]])
    for (const at of [1, 2, 3, 17, 100, 511, 512, 513, 599]) {
      const expected = await chancesAfter(at)
      const {bytes, logprob, top} = logprobs[at] as (typeof logprobs)[number]
      assert.deepEqual(bytes, [tokens[at]])
      const same = expected.find((chance) => chance.bytes[0] === tokens[at] && chance.bytes.length === 1)
      assert.ok(Math.abs((same?.logprob ?? 0) - (logprob as number)) < 1e-4, `position ${at}`)
      assert.deepEqual(top?.[0]?.token, expected[0]?.token)
      assert.ok(Math.abs((top?.[0]?.logprob ?? 0) - (expected[0]?.logprob ?? 1)) < 1e-4)
    }
  })

  it('has the same chances whoever is computed beside it, and nothing after it where 0 tokens are wanted', async () => {
    const alone = await promptOf(scored(1))
    const endless = {...defaultSampling, temperature: 0, logitBias: {256: -100}}
    const beside = follow(model, {...ask('x', 400), sampling: endless})
    while (beside.events.length === 0) await new Promise((resolve) => setImmediate(resolve))
    const {events, ended} = follow(model, scored(1))
    assert.equal(await ended, '')
    assert.deepEqual(
      events.map(({type}) => type),
      ['prompt', 'done'],
    )
    const {logprobs = []} = events[0] as typeof alone
    for (const [i, {logprob}] of logprobs.entries())
      assert.ok(Math.abs((logprob ?? 0) - (alone.logprobs?.[i]?.logprob ?? 0)) < 1e-4, `position ${i}`)
    beside.abort()
  })

  it('may fill the whole context where nothing is to follow', async () => {
    const full = {...scored(0), contextLength: tokens.length}
    assert.equal((await promptOf(full)).logprobs?.length, tokens.length)
    assert.throws(() => submit(model, {...full, maxTokens: 1}, {event: () => {}, fail: () => {}}), {
      code: 'prompt_too_long',
    })
  })

  it('is followed by the chance of the token that ends the text', async () => {
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

  it('is given as it was written, or decoded from its tokens', async () => {
    const text = async (request: Partial<GenerateRequest>) => (await promptOf({...ask('', 0), ...request})).text
    assert.equal(await text({prompt: {kind: 'raw', text: 'Hé'}, echo: 'Hé'}), 'Hé')
    assert.equal(await text({prompt: {kind: 'tokens', tokens: [...Buffer.from('Hé')]}, echo: true}), 'Hé')
  })
})

describe('the size of the next chunk of a prompt', () => {
  const cases: readonly [string, number, number, number][] = [
    ['doubles while there is time', 32, 10, 64],
    ['stays when it fits', 32, 120, 32],
    ['shrinks by as much as it was over', 64, 300, 32],
    ['is never less than a few tokens', 4, 5000, 4],
    ['is never more than a few hundred', 512, 1, 512],
  ]
  for (const [name, size, ms, expected] of cases) it(name, () => assert.equal(nextChunk(size, ms), expected))
})
