import assert from 'node:assert/strict'
import {after, before, describe, it} from 'node:test'
import {Ollama} from 'ollama'
import OpenAI from 'openai'
import {type RunningServer, startServer} from '../support/server.js'
import {suiteFolder, writeFiles} from '../support/temporary.js'
import {byteTokenizer, tinyModelFiles} from '../support/tiny-model.js'

const markers = ['<|fim_prefix|>', '<|fim_suffix|>', '<|fim_middle|>', '<|fim_pad|>']
const pad = 257 + markers.indexOf('<|fim_pad|>')

/** A tokenizer with a token per byte and the tokens of Qwen 2.5 Coder, which are not special there. */
function coderTokenizer(): object {
  const tokenizer = byteTokenizer() as {added_tokens: object[]}
  const added = markers.map((content, i) => ({id: 257 + i, content, special: false, normalized: false}))
  return {...tokenizer, added_tokens: [...tokenizer.added_tokens, ...added]}
}

describe('svc serve with a model that can insert text', () => {
  const folder = suiteFolder()
  let server: RunningServer
  let openai: OpenAI
  let ollama: Ollama
  before(async () => {
    await writeFiles(folder, {
      ...tinyModelFiles({vocabSize: 257 + markers.length}),
      'tokenizer.json': JSON.stringify(coderTokenizer()),
      'chat_template.jinja': '{% for m in messages %}{{ m.content }}{% endfor %}',
    })
    server = await startServer(['--model', folder, '--model-name', 'coder'])
    openai = new OpenAI({baseURL: `${server.baseUrl}/v1`, apiKey: 'none', maxRetries: 0})
    ollama = new Ollama({host: server.baseUrl})
  })
  after(() => server?.stop())

  const [prompt, suffix] = ['def add(a, b):\n    return ', '\n\nprint(add(1, 2))']
  /** A token per byte, the beginning-of-text token, and three between the texts. */
  const promptTokens = prompt.length + suffix.length + 4

  it('lists that', async () => {
    const {capabilities} = await ollama.show({model: 'coder'})
    assert.deepEqual(capabilities, ['completion', 'tools', 'insert'])
  })

  it('writes both texts into the prompt of both APIs, and returns only what is between them', async () => {
    const body = {model: 'coder', prompt, suffix, max_tokens: 8, temperature: 0, logit_bias: {[pad]: -100}}
    const {choices, usage} = await openai.completions.create(body)
    assert.equal(usage?.prompt_tokens, promptTokens)
    const options = {temperature: 0, num_predict: 8, repeat_penalty: 1}
    const own = await ollama.generate({model: 'coder', prompt, suffix, options})
    assert.deepEqual([own.prompt_eval_count, own.context], [promptTokens, undefined])
    assert.equal(own.response, choices[0]?.text)
    assert.notEqual(own.response, '')
    const {choices: others} = await openai.completions.create({...body, suffix: `${suffix}.`})
    assert.notEqual(others[0]?.text, choices[0]?.text)
  })

  it('ends at the tokens that end an insertion', async () => {
    const body = {model: 'coder', prompt, suffix, max_tokens: 8, temperature: 0, logit_bias: {[pad]: 100}}
    const {choices} = await openai.completions.create(body)
    assert.deepEqual([choices[0]?.text, choices[0]?.finish_reason], ['', 'stop'])
    const {choices: plain} = await openai.completions.create({...body, suffix: ''})
    assert.equal(plain[0]?.finish_reason, 'length')
  })

  it('starts at the beginning of a text, and streams', async () => {
    const parts = []
    for await (const part of await ollama.generate({model: 'coder', prompt: '', suffix, stream: true})) parts.push(part)
    assert.equal(parts.at(-1)?.prompt_eval_count, promptTokens - prompt.length)
  })
})
