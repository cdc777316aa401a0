import assert from 'node:assert/strict'
import {after, before, describe, it} from 'node:test'
import {loadLanguageModel} from '../../src/llm/index.js'
import {defaultSampling} from '../../src/sampling/index.js'
import {type RunningServer, startServer} from '../support/server.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder, writeFiles} from '../support/temporary.js'
import {byteTokenizer, tinyModelFiles} from '../support/tiny-model.js'

const vocabSize = 1000
const sampling = {...defaultSampling, temperature: 2, topK: 0, topP: 1}
const maxTokens = 6

type Json = Record<string, unknown>

interface Reply {
  text: string
  reason: string
  /** Tokens with log-probabilities. */
  scored?: string[]
}

/** A seed with which a model generates different words that are longer than a byte. */
async function findWords(folder: string): Promise<{seed: number; ids: number[]}> {
  const model = await loadLanguageModel(folder, {threads: 1, numCtx: 0})
  try {
    for (let seed = 0; seed < 1000; seed++) {
      const prompt = {kind: 'raw', text: 'Hi'} as const
      for await (const event of model.generate({prompt, maxTokens, stop: [], sampling: {...sampling, seed}})) {
        if (event.type !== 'done') continue
        const ids = event.tokens.slice(event.promptTokens)
        if (ids.every((id) => id > 256) && new Set(ids).size === maxTokens) return {seed, ids}
      }
    }
    throw new Error('No seed was found.')
  } finally {
    await model.idle()
    await model.release()
  }
}

describe('stop strings with special tokens', () => {
  const [plain, folder] = [suiteFolder(), suiteFolder()]
  let server: RunningServer
  let seed: number
  /** Texts of the tokens; the third one is special. */
  let words: string[]
  before(async () => {
    const files = tinyModelFiles({vocabSize})
    await writeFiles(plain, {...files, 'tokenizer.json': JSON.stringify(byteTokenizer(vocabSize))})
    const found = await findWords(plain)
    seed = found.seed
    const special = found.ids[2] as number
    words = found.ids.map((id) => (id === special ? '<|x|>' : `w${id - 257}`))
    const tokenizer = byteTokenizer(vocabSize) as {added_tokens: object[]; model: {vocab: Record<string, number>}}
    delete tokenizer.model.vocab[`w${special - 257}`]
    tokenizer.model.vocab['<|x|>'] = special
    tokenizer.added_tokens.push({id: special, content: '<|x|>', special: true, normalized: false})
    await writeFiles(folder, {...files, 'tokenizer.json': JSON.stringify(tokenizer)})
    server = await startServer(['--model', folder, '--precision', 'f32'])
  })
  after(() => server?.stop())

  const post = async (path: string, body: Json) => {
    const response = await fetch(server.baseUrl + path, {method: 'POST', body: JSON.stringify(body)})
    const text = await response.text()
    assert.equal(response.status, 200, text)
    return text
  }
  const options = () => ({temperature: 2, top_k: 0, top_p: 1, seed, num_predict: maxTokens})
  const openai = () => ({temperature: 2, top_p: 1, seed, max_tokens: maxTokens})
  const messages = [{role: 'user', content: 'Hi'}]
  /** Joins the objects of a stream. */
  const linesOf = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  const eventsOf = (text: string) =>
    text.split('\n\n').flatMap((event) => (event.startsWith('data: {') ? [JSON.parse(event.slice(6))] : []))
  const ollamaReply = (parts: readonly Json[], textOf: (part: Json) => unknown): Reply => ({
    text: parts.map(textOf).join(''),
    reason: String(parts.at(-1)?.done_reason),
    scored: parts.flatMap(({logprobs}) => ((logprobs ?? []) as {token: string}[]).map(({token}) => token)),
  })

  const surfaces: Readonly<Record<string, (stop: string) => Promise<Reply>>> = {
    '/api/generate': async (stop) => {
      const asked = {prompt: 'Hi', raw: true, stream: false, logprobs: true, options: {...options(), stop}}
      return ollamaReply(linesOf(await post('/api/generate', asked)), ({response}) => response)
    },
    '/api/generate, streamed': async (stop) => {
      const asked = {prompt: 'Hi', raw: true, logprobs: true, options: {...options(), stop}}
      return ollamaReply(linesOf(await post('/api/generate', asked)), ({response}) => response)
    },
    '/api/chat, streamed': async (stop) => {
      const parts = linesOf(await post('/api/chat', {messages, logprobs: true, options: {...options(), stop}}))
      return ollamaReply(parts, ({message}) => (message as Json).content)
    },
    '/v1/chat/completions': async (stop) => {
      const {choices} = JSON.parse(await post('/v1/chat/completions', {messages, ...openai(), stop, logprobs: true}))
      const [{message, finish_reason: reason, logprobs}] = choices
      return {text: message.content, reason, scored: logprobs?.content.map(({token}: {token: string}) => token) ?? []}
    },
    '/v1/chat/completions, streamed': async (stop) => {
      const asked = {messages, ...openai(), stop, logprobs: true, stream: true}
      const choices = eventsOf(await post('/v1/chat/completions', asked)).map(({choices: [choice]}) => choice)
      return {
        text: choices.map(({delta}) => delta.content ?? '').join(''),
        reason: choices.at(-1).finish_reason,
        scored: choices.flatMap(({logprobs}) => (logprobs?.content ?? []).map(({token}: {token: string}) => token)),
      }
    },
    '/v1/completions': async (stop) => {
      const {choices} = JSON.parse(await post('/v1/completions', {prompt: 'Hi', ...openai(), stop, logprobs: 0}))
      const [{text, finish_reason: reason, logprobs}] = choices
      return {text, reason, scored: logprobs?.tokens ?? []}
    },
    'generate --stop': async (stop) => {
      const numbers = [
        '--temperature',
        '2',
        '--top-k',
        '0',
        '--top-p',
        '1',
        '--seed',
        `${seed}`,
        '--max-tokens',
        `${maxTokens}`,
      ]
      const {stdout} = await svcInTurn([
        'generate',
        '--model',
        folder,
        ...numbers,
        '--raw',
        '--json',
        '--stop',
        stop,
        'Hi',
      ])
      const {text, finish_reason: reason} = JSON.parse(stdout)
      return {text, reason}
    },
  }

  /** The stop string, the text before it, and how many tokens begin in that text. */
  const cases: Readonly<Record<string, (words: string[]) => [stop: string, text: string, tokens: number]>> = {
    'a token': ([a, b, x]) => [`${x}`, `${a}${b}`, 2],
    'a token and text after it': ([a, b, x, d]) => [`${x}${d}`, `${a}${b}`, 2],
    'a token and text before it': ([a, b, x]) => [`${b}${x}`, `${a}`, 1],
    'a part of a token': ([a, b]) => ['x|', `${a}${b}`, 2],
    'the end of a text and a part of a token': ([a, b]) => [`${b?.at(-1)}<|`, `${a}${b?.slice(0, -1)}`, 2],
    'the start of a later text': ([a, b, , d, e]) => [`${e}`, `${a}${b}${d}`, 4],
    'texts on both sides of a token': ([a, b, , d, e, f]) => [`${b}${d}`, `${a}${b}${d}${e}${f}`, 6],
  }
  for (const [what, expectedFor] of Object.entries(cases))
    it(`end the text, and its log-probabilities, before ${what}`, async () => {
      const [stop, text, count] = expectedFor(words)
      const reason = count === maxTokens ? 'length' : 'stop'
      const expected = {text, reason, scored: words.slice(0, count)}
      for (const [surface, ask] of Object.entries(surfaces)) {
        const {scored = expected.scored, ...reply} = await ask(stop)
        assert.deepEqual({...reply, scored}, expected, surface)
      }
    })
})
