import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {readModelText} from '../../../src/llm/model-text.js'
import {encodePrompt} from '../../../src/llm/prompt.js'
import {mergeAdapter, openRunDirectory, readJsonObject} from '../../../src/weights/index.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'
import {tinyAdapterFiles, tinyModelFiles} from '../../support/tiny-model.js'

const handoffName = 'external_serving_handoff_v1.json'
const messages = [
  {role: 'system', content: 'Be kind.'},
  {role: 'user', content: 'Hello there'},
] as const

const tools = {tools: [{name: 'clock'}], choice: 'auto', parallel: true} as const

/** The tokens of a conversation for the model in a folder, without and with tools. */
async function promptOf(folder: string): Promise<number[][]> {
  const text = await readModelText(await openRunDirectory(folder), {})
  const prompt = {kind: 'chat', messages, overflow: 'refuse'} as const
  return [{}, {tools}].map((reply) => encodePrompt({...text, contextLength: 512}, prompt, undefined, reply))
}

/** Merges a run with additional files; returns the prompt before and after, and the format in the hand-off file. */
async function merged(test: TestContext, files: Record<string, string>, full: boolean) {
  const folder = await temporaryFolder(test)
  const run = join(folder, 'run')
  await writeFiles(run, {...tinyModelFiles(), ...tinyAdapterFiles(), ...files})
  const before = await promptOf(run)
  const output = full ? 'merged' : 'apart/merged.safetensors'
  await mergeAdapter({
    source: {run, ignoreEvalGate: false, cwd: folder},
    ...{output, full, dtype: undefined, untie: false, overwrite: false},
  })
  const place = join(folder, full ? 'merged' : 'apart')
  const handoff = await readJsonObject(join(place, handoffName))
  return {before, after: full ? await promptOf(place) : before, handoff, folder}
}

const tokenizer = JSON.parse(tinyModelFiles()['tokenizer.json'] as string)
const chatmlToken = {id: 300, content: '<|im_start|>', special: true, normalized: false, lstrip: false, rstrip: false}
const cases: Record<string, {files: Record<string, string>; format: string}> = {
  'no template': {files: {}, format: 'none'},
  'a template in its configuration': {
    files: {
      'tokenizer_config.json': JSON.stringify({chat_template: '{% for m in messages %}<{{ m.content }}>{% endfor %}'}),
    },
    format: 'model',
  },
  'a template in its own file': {
    files: {'chat_template.jinja': '{% for m in messages %}[{{ m.role }}] {{ m.content }}{% endfor %}'},
    format: 'model',
  },
  'a template for tools in a file of its own': {
    files: {
      'chat_template.jinja': '{% for m in messages %}[{{ m.role }}] {{ m.content }}{% endfor %}',
      'additional_chat_templates/tool_use.jinja': '{{ tools[0].function.name }}{{ messages[-1].content }}',
    },
    format: 'model',
  },
  'ChatML tokens in the vocabulary': {
    files: {'tokenizer.json': JSON.stringify({...tokenizer, added_tokens: [...tokenizer.added_tokens, chatmlToken]})},
    format: 'qwen_chatml_im_start',
  },
  'ChatML in the hand-off file': {
    files: {[handoffName]: JSON.stringify({prompt_format: 'qwen_chatml_im_start'})},
    format: 'qwen_chatml_im_start',
  },
  'the format none in the hand-off file': {
    files: {
      'tokenizer.json': JSON.stringify({...tokenizer, added_tokens: [...tokenizer.added_tokens, chatmlToken]}),
      [handoffName]: JSON.stringify({prompt_format: 'none'}),
    },
    format: 'none',
  },
}

describe('a merged model', () => {
  for (const [name, {files, format}] of Object.entries(cases))
    it(`encodes prompts like base and adapter, with ${name}`, async (test) => {
      for (const full of [true, false]) {
        const {before, after, handoff} = await merged(test, files, full)
        assert.deepEqual(after, before)
        assert.equal(handoff.prompt_format, format)
      }
    })

  it('keeps the template of the run, whatever file the base has its own in', async (test) => {
    const folder = await temporaryFolder(test)
    const files = tinyAdapterFiles()
    const manifest = {...JSON.parse(files['adapter_manifest.json'] as string), base_model: '../base'}
    await writeFiles(join(folder, 'base'), {
      ...tinyModelFiles(),
      'chat_template.jinja': 'base',
      'special_tokens_map.json': '{"eos_token": "b"}',
      'generation_config.json': '{"top_k": 3, "temperature": 1}',
    })
    await writeFiles(join(folder, 'run'), {
      ...files,
      'adapter_manifest.json': JSON.stringify(manifest),
      'tokenizer_config.json': '{"chat_template": "{{ messages[0].content }}{{ eos_token }}"}',
      'generation_config.json': '{"temperature": 2}',
    })
    const run = join(folder, 'run')
    const choices = {full: true, dtype: undefined, untie: false, overwrite: false}
    await mergeAdapter({source: {run, ignoreEvalGate: false, cwd: folder}, output: 'merged', ...choices})
    const before = (await openRunDirectory(run)).declarations
    const after = (await openRunDirectory(join(folder, 'merged'))).declarations
    assert.deepEqual({...after, template: after.template?.declared}, {...before, template: before.template?.declared})
    assert.deepEqual(await promptOf(join(folder, 'merged')), await promptOf(run))
  })

  it('encodes prompts differently in other formats', async (test) => {
    const prompts = []
    for (const {files} of Object.values(cases)) prompts.push((await merged(test, files, true)).after.join())
    assert.equal(new Set(prompts).size, 5)
  })

  it('has the path of its base model in the hand-off file', async (test) => {
    const folder = await temporaryFolder(test)
    await writeFiles(join(folder, 'base'), tinyModelFiles())
    const files = tinyAdapterFiles()
    const manifest = {...JSON.parse(files['adapter_manifest.json'] as string), base_model: '../../base'}
    await writeFiles(join(folder, 'runs/a'), {...files, 'adapter_manifest.json': JSON.stringify(manifest)})
    const source = {run: join(folder, 'runs/a'), ignoreEvalGate: false, cwd: folder}
    const choices = {full: true, dtype: undefined, untie: false, overwrite: false}
    await mergeAdapter({source, output: 'elsewhere/deep/merged', ...choices})
    const handoff = await readJsonObject(join(folder, 'elsewhere/deep/merged', handoffName))
    assert.equal(handoff.base_model, join(folder, 'base'))
  })
})
