import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {performance} from 'node:perf_hooks'
import {median, round} from '../../src/bench/measure.js'
import type {GenerateEvent} from '../../src/llm/index.js'
import {messages} from '../../src/serve/anthropic/dialect.js'
import type {RequestDefaults} from '../../src/serve/defaults.js'
import type {Dialect, DialectRequest} from '../../src/serve/dialect.js'
import {chat} from '../../src/serve/ollama/dialects.js'
import {chatCompletions} from '../../src/serve/openai/dialects.js'
import {responses} from '../../src/serve/responses/dialect.js'
import {createTokenizer} from '../../src/text/index.js'
import {guideRun} from '../support/guide.js'
import {projectFile} from '../support/project.js'
import {startServer} from '../support/server.js'
import {processFolder, writeFiles} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'

const defaults: RequestDefaults = {maxTokens: 512, sampling: {temperature: 0}, numCtx: 8192, stop: [], seed: () => 1}
const conversation = [{role: 'user', content: 'Hi'}]
const tokens = 20_000
const rounds = 15
const countedTokens = 100_000

const counts = {promptTokens: 5, cachedTokens: 0}
const events: GenerateEvent[] = [
  {type: 'prompt', text: '', ...counts},
  ...Array.from({length: tokens}, (_, i): GenerateEvent => ({type: 'text', text: ' word', tokens: i + 1})),
]

/** Time to turn an event of the engine into bytes of a stream, µs. */
function perToken<R extends DialectRequest>(dialect: Dialect<R>, body: object): () => number {
  const info = {model: 'm', fingerprint: 'f', started: 0, loadMs: 0}
  const request = dialect.read({...body, stream: true}, defaults)
  return () => {
    const writer = dialect.writer(request, info, 1)
    let bytes = 0
    const started = performance.now()
    for (const event of events) for (const value of writer.write(event, 0)) bytes += JSON.stringify(value).length
    const us = ((performance.now() - started) * 1000) / tokens
    if (bytes < tokens) throw new Error('Nothing was written.')
    return us
  }
}

/** The dialects are measured in turns, because the speed of the machine varies. */
function writing() {
  const measured = {
    chat_completions: perToken(chatCompletions, {messages: conversation}),
    responses: perToken(responses, {input: conversation}),
    messages: perToken(messages, {messages: conversation}),
    ollama_chat: perToken(chat, {messages: conversation}),
  }
  const names = Object.keys(measured) as (keyof typeof measured)[]
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]]))
  for (let i = 0; i < rounds; i++) for (const name of names) times[name]?.push(measured[name]())
  return Object.fromEntries(names.map((name) => [name, median((times[name] ?? []).slice(3))]))
}

/** Time of `count_tokens`, and of the tokenizer alone, for a prompt of 100,000 tokens, ms. */
async function counting() {
  const folder = processFolder()
  await writeTinyModel(folder, {contextLength: 131_072, vocabSize: 1536})
  const file = await readFile(join(guideRun, 'tokenizer.json'), 'utf8')
  await writeFiles(folder, {'tokenizer.json': file})
  const tokenizer = createTokenizer(JSON.parse(file), {}, 'tokenizer.json')
  const page = await readFile(projectFile('docs/serve.md'), 'utf8')
  const encode = (text: string) => tokenizer.encode(text, {special: false})
  const text = tokenizer.decode(encode(page.repeat(20)).slice(0, countedTokens))
  const server = await startServer(['--model', folder], {isAlone: true})
  const body = JSON.stringify({messages: [{role: 'user', content: text}]})
  const count = async () => {
    const started = performance.now()
    const response = await fetch(`${server.baseUrl}/v1/messages/count_tokens`, {method: 'POST', body})
    const {input_tokens: counted} = (await response.json()) as {input_tokens: number}
    if (counted < 0.99 * countedTokens) throw new Error(`${counted} tokens were counted.`)
    return performance.now() - started
  }
  const alone = () => {
    const started = performance.now()
    encode(text)
    return performance.now() - started
  }
  try {
    const [served, encoded]: [number[], number[]] = [[], []]
    for (let i = 0; i < rounds; i++) {
      served.push(await count())
      encoded.push(alone())
    }
    return {served: median(served.slice(3)), encoded: median(encoded.slice(3))}
  } finally {
    await server.stop()
  }
}

/** Cost of each dialect per streamed token, and of counting tokens. */
export async function dialects() {
  const us = writing()
  const {served, encoded} = await counting()
  const ratio = (name: string) => round((us[name] as number) / (us.chat_completions as number), 2)
  return {
    us_per_token: Object.fromEntries(Object.entries(us).map(([name, time]) => [name, round(time, 2)])),
    ratio_responses: ratio('responses'),
    ratio_messages: ratio('messages'),
    ratio_ollama_chat: ratio('ollama_chat'),
    count_tokens_ms: round(served, 1),
    tokenizer_ms: round(encoded, 1),
    ratio_count_tokens: round(served / encoded, 2),
  }
}
