import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {after, before, describe, it} from 'node:test'
import {Ajv2020} from 'ajv/dist/2020.js'
import type {GenerateEvent, GenerateRequest, GenerateSummary, LanguageModel} from '../../../src/llm/index.js'
import {loadLanguageModel} from '../../../src/llm/index.js'
import {defaultSampling} from '../../../src/sampling/index.js'
import {projectFile} from '../../support/project.js'
import {suiteFolder, writeFiles} from '../../support/temporary.js'
import {writeTinyModel} from '../../support/tiny-model.js'

type ToolUse = NonNullable<GenerateRequest['tools']>

const weather = {
  name: 'get_weather',
  description: 'Returns the weather',
  parameters: {
    type: 'object',
    properties: {city: {enum: ['Oslo', 'Rome', 'Bern']}, days: {type: 'integer', minimum: 1, maximum: 9}},
    required: ['city'],
  },
}
const clock = {name: 'clock', parameters: {type: 'object', properties: {zone: {enum: ['utc', 'local']}}}}

const use = (changes: Partial<ToolUse> = {}): ToolUse => ({
  tools: [weather, clock],
  choice: 'required',
  parallel: false,
  ...changes,
})

const asking = (changes: Partial<GenerateRequest>, seed = 0): GenerateRequest => ({
  prompt: {kind: 'chat', messages: [{role: 'user', content: 'Hi'}], overflow: 'refuse'},
  maxTokens: 300,
  stop: [],
  sampling: {...defaultSampling, temperature: 1.5, topK: 0, topP: 1, seed},
  ...changes,
})

interface Reply {
  thinking: string
  text: string
  calls: {id: string; name: string; arguments: string; isComplete: boolean}[]
  summary: GenerateSummary
}

async function replyOf(model: LanguageModel, request: GenerateRequest): Promise<Reply> {
  const reply: Omit<Reply, 'summary'> = {thinking: '', text: '', calls: []}
  for await (const event of model.generate(request)) {
    if (event.type === 'done') return {...reply, summary: event}
    addTo(reply, event)
  }
  throw new Error('The reply has no summary.')
}

function addTo(reply: Omit<Reply, 'summary'>, event: GenerateEvent): void {
  if (event.type === 'thinking') reply.thinking += event.text
  if (event.type === 'text') reply.text += event.text
  if (event.type === 'call') reply.calls.push({id: event.id, name: event.name, arguments: '', isComplete: false})
  const call = reply.calls.at(-1)
  if (event.type !== 'arguments' || call === undefined) return
  call.arguments += event.text
  call.isComplete ||= event.isLast
}

const seeds = Array.from({length: 12}, (_, seed) => seed)
const validators = new Map([weather, clock].map(({name, parameters}) => [name, new Ajv2020().compile(parameters)]))

/** A model with a token per byte and the chat template of Qwen 3. */
describe('a reply with tools', () => {
  const folder = suiteFolder()
  let model: LanguageModel
  before(async () => {
    await writeTinyModel(folder, {contextLength: 2048})
    const template = await readFile(projectFile('test/fixtures/jinja/templates/qwen3.jinja'), 'utf8')
    await writeFiles(folder, {'generation_config.json': '{"eos_token_id": 256}', 'chat_template.jinja': template})
    model = await loadLanguageModel(folder, {threads: 1, numCtx: 0})
  })
  after(() => model.release())

  const off = {thinking: {enabled: false}}

  it('is a call with valid arguments if one is required', async () => {
    const names = new Set<string>()
    for (const seed of seeds) {
      const {text, calls, summary} = await replyOf(model, asking({tools: use(), ...off}, seed))
      assert.deepEqual([text, calls.length, summary.finishReason], ['', 1, 'tool_calls'])
      const [call] = calls
      assert.ok(call?.isComplete)
      assert.match(call.id, /^call_[a-z0-9]{4}$/)
      assert.ok(validators.get(call.name)?.(JSON.parse(call.arguments)), call.arguments)
      names.add(call.name)
    }
    assert.equal(names.size, 2)
  })

  it('calls the tool that is named', async () => {
    for (const seed of seeds.slice(0, 4)) {
      const {calls} = await replyOf(model, asking({tools: use({choice: {name: 'clock'}}), ...off}, seed))
      assert.equal(calls[0]?.name, 'clock')
    }
  })

  it('may have several calls', async () => {
    const all = await Promise.all(
      seeds.map((seed) => replyOf(model, asking({tools: use({parallel: true}), ...off}, seed))),
    )
    assert.ok(all.some(({calls}) => calls.length > 1))
    for (const {calls} of all)
      for (const {name, arguments: text} of calls.filter(({isComplete}) => isComplete))
        assert.ok(validators.get(name)?.(JSON.parse(text)), text)
  })

  it('is text or a call if the model decides, and text has no tags', async () => {
    for (const bias of [{}, {60: 20}]) {
      const sampling = {...defaultSampling, temperature: 1.5, topK: 0, topP: 1, logitBias: bias}
      for (const seed of seeds.slice(0, 6)) {
        const request = {
          ...asking({tools: use({choice: 'auto'}), ...off}),
          sampling: {...sampling, seed},
          maxTokens: 60,
        }
        const {text, calls} = await replyOf(model, request)
        assert.doesNotMatch(text, /<\/?(think|tool_call)>/)
        for (const {arguments: own, name, isComplete} of calls)
          if (isComplete) assert.ok(validators.get(name)?.(JSON.parse(own)))
      }
    }
  })
})

/** A model with the chat template of Qwen 3 Coder, which writes strings as plain text. */
describe('a tool that is called again', () => {
  const folder = suiteFolder()
  let model: LanguageModel
  before(async () => {
    await writeTinyModel(folder, {contextLength: 2048})
    const template = await readFile(projectFile('test/fixtures/calls/qwen-coder.jinja'), 'utf8')
    await writeFiles(folder, {'generation_config.json': '{"eos_token_id": 256}', 'chat_template.jinja': template})
    model = await loadLanguageModel(folder, {threads: 1, numCtx: 0})
  })
  after(() => model.release())

  it('gets its plain texts as JSON strings, too', async () => {
    const parameters = {type: 'object', properties: {path: {type: 'string', maxLength: 9}}, required: ['path']}
    const request = asking({tools: use({tools: [{name: 'open', parameters}]})})
    const replies = [await replyOf(model, request), await replyOf(model, request)]
    const [first, second] = replies.map(({calls}) => calls[0]?.arguments ?? '')
    assert.equal(typeof (JSON.parse(first ?? '') as {path: unknown}).path, 'string')
    assert.equal(second, first)
  })
})
