import {join} from 'node:path'
import type {Random} from '../../support/random.js'
import {writeTinyModel} from '../../support/tiny-model.js'
import type {Client, Service, Visit} from '../client.js'
import {randomText} from '../client.js'
import {HttpCaller} from '../http-caller.js'

/** Model server with a tiny model. */
export const serveService: Service = {
  name: 'serve',
  address: 'base_url',
  clients: 3,
  async prepare(folder) {
    const model = join(folder, 'tiny')
    await writeTinyModel(model)
    const caches = ['--prefix-cache', '1', '--prefix-files', '1']
    return ['serve', '--model', model, '--precision', 'w8', ...caches, '--threads', '1', '--port', '0']
  },
  async connect(visit) {
    return new ServeClient(visit)
  },
  /** Loads the model, which may have been unloaded, and checks that no slot is left in use. */
  async settle({address, tally}) {
    const http = new HttpCaller(address, tally)
    await http.send('POST', '/api/generate', {prompt: 'x', stream: false, options: {num_predict: 1}}, 200)
    const {text} = await http.send('GET', '/metrics', undefined, 200)
    for (const gauge of ['svc_requests_running', 'svc_requests_waiting', 'svc_slots_active'])
      if (!text.includes(`\n${gauge} 0\n`)) tally.fault(`${gauge} is not 0 without clients`)
    http.close()
  },
}

/** Beginning that many prompts share. */
const instructions = 'You are a helpful assistant. Answer in one sentence. '

/** Interval between requests to unload the model, ms. The next request loads it again. */
const unloadEveryMs = 30_000

const looks = ['/', '/health', '/metrics', '/api/version', '/api/tags', '/api/ps', '/v1/models', '/v1/models/tiny']

/** Invalid requests and their expected statuses. */
const refused: readonly [method: string, path: string, body: unknown, status: number][] = [
  ['GET', '/nowhere', undefined, 404],
  ['GET', '/api/chat', undefined, 405],
  ['POST', '/api/generate', '{"prompt": ', 400],
  ['POST', '/api/generate', {prompt: 7}, 400],
  ['POST', '/api/generate', {model: 'other', prompt: 'x'}, 404],
  ['POST', '/api/chat', {messages: 'none'}, 400],
  ['POST', '/api/chat', [], 400],
  ['POST', '/api/embed', {input: 'x'}, 400],
  ['POST', '/v1/chat/completions', {model: 'tiny', messages: []}, 400],
  ['POST', '/v1/chat/completions', {model: 'tiny', messages: [{role: 'user', content: 'x'}], n: 0}, 400],
  ['POST', '/v1/completions', {model: 'tiny', prompt: 'x', max_tokens: -2}, 400],
  ['POST', '/v1/completions', {model: 'tiny', prompt: 'too long '.repeat(1000)}, 400],
]

class ServeClient implements Client {
  readonly #http: HttpCaller
  readonly #random: Random
  readonly #unloads: boolean
  #unloadAtMs = performance.now() + unloadEveryMs

  constructor({address, index, random, tally}: Visit) {
    this.#unloads = index === 0
    this.#http = new HttpCaller(address, tally)
    this.#random = random
  }

  async step(): Promise<void> {
    const random = this.#random
    const at = random.below(100)
    if (this.#unloads && performance.now() > this.#unloadAtMs) {
      this.#unloadAtMs = performance.now() + unloadEveryMs
      await this.#http.send('POST', '/api/generate', {keep_alive: 0}, 200)
    } else if (at < 15) await this.#http.send('GET', random.pick(looks), undefined, 200)
    else if (at < 20) await this.#http.send('POST', '/api/show', {model: 'tiny'}, 200)
    else if (at < 35) {
      const [method, path, body, status] = random.pick(refused)
      await this.#http.send(method, path, body, status)
    } else if (at < 55) await this.#http.abort('POST', ...this.#generation(100), random)
    // 503: the queue is full.
    else await this.#http.send('POST', ...this.#generation(12), 200, 503)
  }

  async close(): Promise<void> {
    this.#http.close()
  }

  /** Request in one of the dialects with a maximum number of tokens, streamed or not. */
  #generation(max: number): [path: string, body: object] {
    const random = this.#random
    const stream = random.chance(0.6)
    const text = (random.chance(0.5) ? instructions : '') + randomText(random, 40)
    const tokens = 1 + random.below(max)
    const messages = [{role: 'user', content: text}]
    const ollama = {stream, options: {num_predict: tokens, temperature: random.pick([0, 1])}}
    const openai = {model: 'tiny', stream, max_tokens: tokens, seed: random.below(1000)}
    return random.pick<() => [string, object]>([
      () => ['/api/generate', {...ollama, prompt: text}],
      () => ['/api/generate', {...ollama, prompt: text, raw: true, logprobs: true, top_logprobs: 2}],
      () => ['/api/chat', {...ollama, messages}],
      () => ['/v1/chat/completions', {...openai, messages, n: random.pick([1, 2])}],
      () => ['/v1/completions', {...openai, prompt: text, stop: ['a']}],
    ])()
  }
}
