import assert from 'node:assert/strict'
import {after, before, describe, it} from 'node:test'
import {defaultSampling} from '../../src/decode/index.js'
import {type GenerateEvent, type GenerateRequest, type LanguageModel, loadLanguageModel} from '../../src/llm/index.js'
import {nextChunk} from '../../src/llm/scheduler.js'
import {suiteFolder} from '../support/temporary.js'
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
