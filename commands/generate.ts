import {stat} from 'node:fs/promises'
import {Args, Flags} from '@oclif/core'
import {
  chooseLanguageModel,
  formatFlags,
  formatStats,
  inGroup,
  LanguageModelCommand,
  readReplyFormat,
  readTextInput,
  readTools,
  replyFlags,
  settingFlags,
  ThinkingText,
  toolFlags,
  withoutBaseSwitch,
} from '../src/cli/index.js'
import {engineSettings, hubSettings} from '../src/config/index.js'
import type {GenerateV1} from '../src/contracts/index.js'
import {SvcError} from '../src/errors/index.js'
import type {Engine, GenerateRequest, GenerateSummary, Prompt} from '../src/llm/index.js'
import type {ModelDefaults} from '../src/weights/index.js'

export default class Generate extends LanguageModelCommand<typeof Generate> {
  static override summary = 'Generate text from a prompt.'
  static override description =
    `The model directory contains config.json, tokenizer.json and safetensors shards, as produced by training or downloaded
from Hugging Face. A GGUF file is a model by itself. No export or conversion is needed. The text is printed as it is generated. Without --model, the only
model in models/, runs/ and the local Hugging Face cache is used; if there is none, the included guide.
The guide is a small example: it knows 60 facts about svc. For help, use svc ask.

If the model has a chat template, the prompt is formatted as a user message; --raw skips the template. The prompt is
required unless --raw is used. With --raw and no prompt, generation starts from the beginning-of-text token.

With --schema, --regex, --choice or --grammar, the text is certain to match, unless it is truncated by --max-tokens or --stop. A
schema or grammar that cannot be enforced as a whole is refused.

With --suffix, the model inserts text between the prompt and the suffix, if its tokenizer has tokens for that.

With --tools, the model may call tools instead. Each call is a line with a JSON object that has the name and the arguments, which
are valid for the schema of the tool.

On a terminal, what the model thinks is shown dim before the text. Elsewhere, --show-thinking prints it to standard error.

--stats prints speed, memory, precision and types of weights to standard error after the text. With --json, they are in the result.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> "How do I transcribe a recording?"',
    '<%= config.bin %> <%= command.id %> --model ./my-model "Once upon a time"',
    '<%= config.bin %> <%= command.id %> --model ./runs/r7 --no-adapter --temperature 0 "Hello"',
    'cat question.txt | <%= config.bin %> <%= command.id %> --model ./my-model --temperature 0 -',
    '<%= config.bin %> <%= command.id %> --model ./my-model --json "Hello" | jq .timings',
    '<%= config.bin %> <%= command.id %> --model ./my-model --stats "Hello"',
    '<%= config.bin %> <%= command.id %> --model ./my-model --schema person.json "Invent a person."',
    '<%= config.bin %> <%= command.id %> --model ./my-model --choice yes,no "Is water wet?"',
    '<%= config.bin %> <%= command.id %> --model ./my-model --tools tools.json "How is the weather in Oslo?"',
  ]
  static override args = {
    prompt: Args.string({description: 'Prompt; - reads standard input.'}),
  }
  static override flags = {
    ...replyFlags,
    ...settingFlags(engineSettings),
    ...inGroup('generation', {
      raw: Flags.boolean({
        description: 'Use the prompt as is, without the chat template.',
        exclusive: ['chat-template', 'system', 'think'],
      }),
      suffix: Flags.string({
        description: 'Text after the reply; the model inserts text between the prompt and it.',
        helpValue: 'TEXT',
        exclusive: ['raw', 'chat-template', 'system', 'tools'],
      }),
    }),
    ...inGroup('structured output', {...formatFlags, ...toolFlags}),
  }

  protected override get whenUnread() {
    return 'fails' as const
  }

  protected override async init(): Promise<void> {
    const given = this.argv
    this.argv = withoutBaseSwitch(given)
    let isSwitch = this.argv.some((word, i) => word !== given[i])
    await super.init()
    const {base} = this.flags
    if (base !== undefined && this.args.prompt === undefined && !(await isDirectory(base))) {
      isSwitch = true
      this.args.prompt = base
      this.flags.base = undefined
      this.flags['no-adapter'] = true
    }
    if (isSwitch) this.output.notice('notice: --base without a directory is deprecated. Use --no-adapter.')
  }

  async run(): Promise<void> {
    const {think} = this.flags
    const {model: configured, ...settings} = this.settings(engineSettings)
    const chosen = await this.chosenDefaults()
    const prompt = await this.#prompt()
    const format = await readReplyFormat(this.flags, this.signal)
    const tools = await readTools(this.flags, this.signal)
    const notice = (text: string) => this.output.notice(text)
    const model = await chooseLanguageModel(
      configured,
      this.workspace.root,
      this.settings(hubSettings).hubCache,
      notice,
    )

    const {declaredRequest, mergeDefaults, thinkingOf, withDefaults} = await import('../src/llm/index.js')
    const engine = await this.loadModel(model)
    try {
      const {thinking, variables} = thinkingOf(engine.description, think)
      const defaults = mergeDefaults(chosen, engine.description.defaults)
      const request: GenerateRequest = {
        ...declaredRequest(defaults, settings),
        prompt: withDefaults(
          prompt.kind === 'chat' && variables !== undefined ? {...prompt, variables} : prompt,
          defaults,
        ),
        ...(thinking === undefined ? {} : {thinking}),
        ...(format === undefined ? {} : {format}),
        ...(tools === undefined ? {} : {tools}),
      }
      const {text, thinking: thoughts, calls, summary, firstTokenMs} = await this.#print(engine, request)
      const result: GenerateV1 = {
        model: engine.description.name,
        text,
        ...(this.output.json ? {receipt: await receiptOf(engine, request, defaults)} : {}),
        ...(thoughts === '' ? {} : {thinking: thoughts}),
        ...(calls.length === 0 ? {} : {tool_calls: calls}),
        seed: request.sampling.seed,
        ...(await this.replyStats(model, engine, summary, firstTokenMs)),
      }
      await this.output.result(result, () => {
        const lines = calls.map((call) => `${JSON.stringify(call)}\n`).join('')
        return text.endsWith('\n') || (text === '' && lines !== '') ? lines : `\n${lines}`
      })
      if (this.flags.stats && !this.output.json) this.output.notice(formatStats(result))
    } finally {
      await engine.close()
    }
  }

  async #prompt(): Promise<Prompt> {
    const {raw, suffix = '', schema, grammar, tools} = this.flags
    const files = [schema, grammar, tools].filter((file) => file === '-')
    if (files.length > (this.args.prompt === '-' ? 0 : 1)) throw new SvcError('stdin_used_twice', {})
    const text = this.args.prompt === '-' ? await readTextInput(this.signal) : this.args.prompt
    if (text === undefined && !raw) throw new SvcError('prompt_missing', {})
    if (text === undefined) return {kind: 'beginning'}
    if (raw) return {kind: 'raw', text}
    if (suffix !== '') return {kind: 'insertion', text, suffix}
    return {kind: 'chat', messages: [{role: 'user', content: text}], overflow: 'refuse'}
  }

  async #print(engine: Engine, request: GenerateRequest): Promise<Generated> {
    let text = ''
    let thinking = ''
    const calls: GeneratedCall[] = []
    let call = {name: '', arguments: ''}
    const started = performance.now()
    let firstTokenMs: number | undefined
    const shown = new ThinkingText(this.output.json ? false : this.flags['show-thinking'])
    for await (const event of engine.generate(request, this.signal)) {
      firstTokenMs ??= performance.now() - started
      if (event.type === 'thinking') {
        thinking += event.text
        shown.print(event.text)
      } else shown.end()
      if (event.type === 'done') return {text, thinking, calls, firstTokenMs, summary: event}
      if (event.type === 'call') call = {name: event.name, arguments: ''}
      if (event.type === 'arguments') {
        call.arguments += event.text
        if (event.isLast) calls.push({name: call.name, arguments: JSON.parse(call.arguments)})
      }
      if (event.type !== 'text') continue
      text += event.text
      await this.output.piece(event.text)
    }
    throw new Error('The engine ended without a summary.')
  }
}

/** What the text was computed from. The digests of large files take time, so it is computed only if it is printed. */
async function receiptOf(engine: Engine, request: GenerateRequest, defaults: ModelDefaults): Promise<string> {
  const {ModelIdentity} = await import('../src/llm/index.js')
  const {derivedFolder, FileDigests} = await import('../src/weights/index.js')
  const {sources, contextLength} = engine.description
  const identity = await ModelIdentity.of(sources, defaults, new FileDigests(derivedFolder(process.env)))
  return String(identity.receiptOf(request, contextLength))
}

const isDirectory = (path: string) =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

type GeneratedCall = NonNullable<GenerateV1['tool_calls']>[number]

interface Generated {
  text: string
  thinking: string
  calls: GeneratedCall[]
  /** From the request to the first event. */
  firstTokenMs: number
  summary: GenerateSummary
}
