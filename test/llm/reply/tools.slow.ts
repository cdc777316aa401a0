import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {Ajv2020} from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type {GenerateRequest, LanguageModel} from '../../../src/llm/index.js'
import {defaultSampling, randomSource} from '../../../src/sampling/index.js'
import {manyTools} from '../../support/many-tools.js'
import {projectFile} from '../../support/project.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'
import {byteTokenizer, tinyModelFiles} from '../../support/tiny-model.js'
import {loadModel} from '../load-model.js'
import {boundedSchema} from '../support/schema-campaign.js'

/** Templates by family, and the special tokens in their tags. */
const families: readonly (readonly [name: string, file: string, specials: readonly string[]])[] = [
  ['hermes', 'jinja/templates/qwen3.jinja', []],
  ['qwen-coder', 'calls/qwen-coder.jinja', []],
  ['glm', 'calls/glm.jinja', ['<tool_call>', '</tool_call>', '<arg_key>', '</arg_key>', '<arg_value>', '</arg_value>']],
  ['mistral', 'calls/mistral.jinja', ['[TOOL_CALLS]']],
  ['mistral-args', 'calls/mistral-args.jinja', ['[TOOL_CALLS]', '[ARGS]']],
  ['lfm', 'calls/lfm.jinja', ['<|tool_call_start|>', '<|tool_call_end|>']],
  ['functiongemma', 'calls/functiongemma.jinja', ['<start_function_call>', '<end_function_call>', '<escape>']],
  ['gemma-4', 'calls/gemma-4.jinja', []],
  ['llama', 'calls/llama.jinja', []],
  ['harmony', 'calls/harmony.jinja', ['<|channel|>', '<|constrain|>', '<|message|>', '<|start|>', '<|end|>']],
]

/** A tokenizer with a token per byte, an end token, and special tokens. */
function tokenizerWith(specials: readonly string[]): object {
  const tokenizer = byteTokenizer() as {added_tokens: object[]}
  const rest = {single_word: false, lstrip: false, rstrip: false, normalized: false, special: true}
  const added = specials.map((content, i) => ({id: 257 + i, content, ...rest}))
  return {...tokenizer, added_tokens: [...tokenizer.added_tokens, ...added]}
}

function randomTools(random: () => number) {
  return Array.from({length: 3}, (_, i) => {
    const names = ['path', 'count', 'é', 'has "quotes"'].filter(() => random() < 0.6)
    return {
      name: `tool_${i}`,
      description: 'Runs <tool_call> in a text',
      parameters: {
        type: 'object',
        properties: Object.fromEntries(names.map((name) => [name, boundedSchema(random, 1)])),
        required: names.filter(() => random() < 0.7),
      },
    }
  })
}

type Tools = readonly ReturnType<typeof randomTools>[number][]

async function check(model: LanguageModel, tools: Tools, seed: number): Promise<number> {
  const choice = seed % 3 === 0 ? 'auto' : 'required'
  const request: GenerateRequest = {
    prompt: {kind: 'chat', messages: [{role: 'user', content: `Hi ${seed}`}], overflow: 'refuse'},
    maxTokens: 250,
    stop: [],
    sampling: {...defaultSampling, temperature: 1.5, topK: 0, topP: 1, seed},
    tools: {tools, choice, parallel: true},
    thinking: {enabled: false},
  }
  const calls: {name: string; arguments: string; ended: boolean}[] = []
  let text = ''
  for await (const event of model.generate(request)) {
    if (event.type === 'text') text += event.text
    if (event.type === 'call') calls.push({name: event.name, arguments: '', ended: false})
    const last = calls.at(-1)
    if (event.type === 'arguments' && last !== undefined) {
      last.arguments += event.text
      last.ended ||= event.isLast
    }
  }
  assert.doesNotMatch(
    text,
    /<tool_call>|\[TOOL_CALLS\]|<\|channel\|>|<\|tool_call(_start)?\|?>|<start_function_call>|[\ud800-\udfff]/u,
  )
  if (choice === 'required') assert.equal(text, '')
  const complete = calls.filter(({ended}) => ended)
  for (const {name, arguments: json} of complete) {
    const {parameters} = tools.find((tool) => tool.name === name) ?? assert.fail(name)
    const isValid = addFormats.default(new Ajv2020({strict: false})).compile(parameters)
    assert.ok(isValid(JSON.parse(json)), `${JSON.stringify(parameters)}: ${json}`)
  }
  return complete.length
}

describe('calls of random tools by a model that writes at random', () => {
  for (const [name, file, specials] of families)
    it(`have valid arguments: ${name}`, async (t) => {
      const folder = await temporaryFolder(t)
      await writeFiles(folder, {
        ...tinyModelFiles({contextLength: 4096, vocabSize: 257 + specials.length}),
        'tokenizer.json': JSON.stringify(tokenizerWith(specials)),
        'generation_config.json': '{"eos_token_id": 256}',
        'chat_template.jinja': await readFile(projectFile(`test/fixtures/${file}`), 'utf8'),
      })
      const model = await loadModel(t, folder, {slots: 6})
      const random = randomSource(7)
      const counts = await Promise.all(Array.from({length: 63}, (_, seed) => check(model, randomTools(random), seed)))
      assert.ok(counts.reduce((sum, count) => sum + count, 0) > 14, `${counts}`)
    })
})

describe('500 tools', () => {
  it('can be called in one request', async (t) => {
    const folder = await temporaryFolder(t)
    await writeFiles(folder, {
      ...tinyModelFiles({contextLength: 4096}),
      'generation_config.json': '{"eos_token_id": 256}',
      // Without the tools, which would not fit in this context.
      'chat_template.jinja':
        '{% for tool in tools or [] %}{{ tool.function.name if loop.first }}{% endfor %}{% for m in messages %}{{ m.content or "" }}' +
        '{% for call in m.tool_calls %}<tool_call>\n{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}\n' +
        '</tool_call>{% endfor %}{% endfor %}',
    })
    const model = await loadModel(t, folder, {})
    const tools: Tools = manyTools(500, {type: 'string', maxLength: 9})
    const counts = await Promise.all([1, 2, 4].map((seed) => check(model, tools, seed)))
    assert.ok(
      counts.every((count) => count > 0),
      `${counts}`,
    )
  })
})
