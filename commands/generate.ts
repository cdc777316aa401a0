import {Args, Flags} from '@oclif/core'
import {readTextInput, SvcCommand, settingFlags, showQuantising, withProgress} from '../src/cli/index.js'
import {engineSettings} from '../src/config/index.js'
import type {GenerateV1} from '../src/contracts/index.js'
import {SvcError} from '../src/errors/index.js'
import type {Engine, GenerateRequest, GenerateSummary, Prompt} from '../src/llm/index.js'

export default class Generate extends SvcCommand<typeof Generate> {
  static override summary = 'Generate text from a prompt.'
  static override description =
    `The model directory contains config.json, tokenizer.json and safetensors shards, as produced by training or downloaded
from Hugging Face. No export or conversion is needed. The text is printed as it is generated.

If the model has a chat template, the prompt is formatted as a user message; --raw skips the template. The prompt is
required unless --raw is used. With --raw and no prompt, generation starts from the beginning-of-text token.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --model ./my-model "Once upon a time"',
    '<%= config.bin %> <%= command.id %> --model ./runs/r7 --base --temperature 0 "Hello"',
    'cat question.txt | <%= config.bin %> <%= command.id %> --model ./my-model --temperature 0 -',
    '<%= config.bin %> <%= command.id %> --model ./my-model --json "Hello" | jq .timings',
  ]
  static override args = {
    prompt: Args.string({description: 'Prompt; - reads standard input.'}),
  }
  static override flags = {
    model: Flags.string({
      char: 'm',
      description: 'Run directory, model directory, or id (owner/name) of a model in the local Hugging Face cache.',
      helpValue: 'MODEL',
      required: true,
    }),
    ...settingFlags(engineSettings),
    seed: Flags.integer({
      description: 'Sampling seed. (default: random)',
      min: 0,
      max: 2 ** 32 - 1,
      helpValue: 'N',
    }),
    stop: Flags.string({
      description: 'Stop sequence, not included in the output; may be repeated.',
      helpValue: 'TEXT',
      multiple: true,
      multipleNonGreedy: true,
    }),
    base: Flags.boolean({
      description: 'Run only the base model of a run directory, without the adapter or merged weights.',
    }),
    raw: Flags.boolean({description: 'Use the prompt as is, without the chat template.'}),
  }

  async run(): Promise<void> {
    const {model, base: baseOnly, stop = [], quiet} = this.flags
    const {threads, precision, numCtx, promptLookup, maxTokens, ...sampling} = this.settings(engineSettings)
    const seed = this.flags.seed ?? Math.floor(Math.random() * 2 ** 32)
    const prompt = await this.#prompt()

    const {defaultSampling} = await import('../src/sampling/index.js')
    const {startEngine} = await import('../src/llm/index.js')
    const load = {threads, precision, numCtx, promptLookup, baseOnly, onProgress: showQuantising}
    const options = {...load, log: this.logOptions(), signal: this.signal}
    const engine = await withProgress('Loading the model', !quiet, () => startEngine(model, options))
    try {
      const request = {prompt, maxTokens, stop, sampling: {...defaultSampling, ...sampling, seed}}
      const {text, summary} = await this.#print(engine, request)
      const result = toResult(engine, text, seed, summary)
      await this.output.result(result, () => (text.endsWith('\n') ? '' : '\n'))
    } finally {
      await engine.close()
    }
  }

  async #prompt(): Promise<Prompt> {
    const {raw} = this.flags
    const text = this.args.prompt === '-' ? await readTextInput(this.signal) : this.args.prompt
    if (text === undefined && !raw) throw new SvcError('prompt_missing', {})
    if (text === undefined) return {kind: 'beginning'}
    if (raw) return {kind: 'raw', text}
    return {kind: 'chat', messages: [{role: 'user', content: text}], overflow: 'refuse'}
  }

  async #print(engine: Engine, request: GenerateRequest): Promise<{text: string; summary: GenerateSummary}> {
    let text = ''
    for await (const event of engine.generate(request, this.signal)) {
      if (event.type === 'done') return {text, summary: event}
      text += event.text
      await this.output.piece(event.text)
    }
    throw new Error('The engine ended without a summary.')
  }
}

function toResult({description, loadMs}: Engine, text: string, seed: number, summary: GenerateSummary): GenerateV1 {
  const {finishReason, promptTokens, completionTokens, prefillMs, decodeMs} = summary
  const tenths = (ms: number) => Math.round(ms * 10) / 10
  return {
    model: description.name,
    text,
    finish_reason: finishReason,
    seed,
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    timings: {
      load_ms: tenths(loadMs),
      prefill_ms: tenths(prefillMs),
      decode_ms: tenths(decodeMs),
      decode_tokens_per_second: completionTokens < 2 ? null : tenths(((completionTokens - 1) / decodeMs) * 1000),
    },
  }
}
