import {existsSync} from 'node:fs'
import {resolve} from 'node:path'
import {cwd} from 'node:process'
import {Args, Flags} from '@oclif/core'
import type {ChatModel, Conversation, Piece} from '../src/chat/index.js'
import {
  askTerminal,
  chooseLanguageModel,
  chosenDefaults,
  formatStats,
  holdChat,
  inGroup,
  LanguageModelCommand,
  LineHistory,
  LineReader,
  megabytes,
  readTextInput,
  replyFlags,
  settingFlags,
  ThinkingText,
} from '../src/cli/index.js'
import {engineSettings, hubSettings, serveSettings} from '../src/config/index.js'
import type {RunV1} from '../src/contracts/index.js'
import {counted, SvcError} from '../src/errors/index.js'
import type {Engine} from '../src/llm/index.js'

export default class Run extends LanguageModelCommand<typeof Run> {
  static override summary = 'Chat with a language model in the terminal.'
  static override description =
    `The model is a run directory, a model directory or the name of a model on Hugging Face. One that is not on this machine is
downloaded first; a terminal is asked, and elsewhere --yes is required. Without a model, the configured one is used, else the only
one on this machine, else the included guide.

On a terminal, each line is a message, and """ begins and ends a message of several lines. Ctrl-C stops a reply. /? lists the
commands, such as /set, /save and /load; /bye or Ctrl-D leaves. With a prompt, or if standard input is not a terminal, there is one
reply.

The lines that are typed are kept in $XDG_STATE_HOME/svc/chat-history (default: ~/.local/state), and saved conversations in
$XDG_DATA_HOME/svc/conversations (default: ~/.local/share). Only their owner can read them. --no-history neither reads nor writes
lines.

With --server, a server that is running generates the replies, and flags of the local model have no effect.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> Qwen/Qwen2.5-0.5B-Instruct',
    '<%= config.bin %> <%= command.id %> ./runs/r7 "Why is the sky blue?"',
    'cat question.txt | <%= config.bin %> <%= command.id %> ./my-model --format json',
    '<%= config.bin %> <%= command.id %> --server http://127.0.0.1:11435',
  ]
  static override args = {
    model: Args.string({description: 'Directory or name of a model. (default: the configured or only one)'}),
    prompt: Args.string({description: 'Prompt of a single reply; - reads standard input.'}),
  }
  static override flags = {
    yes: Flags.boolean({char: 'y', description: 'Download a missing model without asking.'}),
    history: Flags.boolean({
      description: 'Keep the lines that are typed on a terminal.',
      allowNo: true,
      default: true,
    }),
    ...replyFlags,
    ...settingFlags(engineSettings, 'threads', 'precision', 'numCtx', 'promptLookup', 'temperature', 'topK', 'topP'),
    ...settingFlags(hubSettings),
    ...inGroup('network', {
      server: Flags.string({
        description: 'Base URL of an inference server that generates the replies.',
        helpValue: 'URL',
        exclusive: ['base', 'no-adapter', 'chat-template', 'ignore-config-key', 'yes', 'stats'],
      }),
    }),
    ...inGroup('generation', {
      'max-tokens': Flags.integer({
        description: 'Maximum number of tokens of a reply. (default: until the context is full; env: SVC_MAX_TOKENS)',
        min: 1,
        helpValue: 'N',
      }),
    }),
    ...inGroup('output', {
      format: Flags.string({
        description: 'Format of the replies: json, or a file with a JSON Schema.',
        helpValue: 'json|FILE',
      }),
    }),
  }

  #loaded: {name: string; engine: Engine} | undefined

  protected override get whenUnread() {
    return 'fails' as const
  }

  async run(): Promise<void> {
    const prompt = await this.#prompt()
    const {readFormat, withSystemMessage} = await import('../src/chat/index.js')
    const {format, system = '', think} = this.flags
    const options = {
      ...(format === undefined ? {} : {format: await readFormat(format)}),
      ...(think === undefined ? {} : {think}),
    }
    const parameters = await this.#parameters()
    const model = this.flags.server === undefined ? await this.#loadChat() : await this.#connect(this.flags.server)
    try {
      const empty: Conversation = {
        model: this.args.model ?? model.name,
        messages: [],
        parameters,
        ...options,
      }
      const conversation = withSystemMessage(empty, system)
      if (prompt === undefined) await this.#chat(model, conversation)
      else await this.#reply(model, conversation, prompt)
    } finally {
      await model.close()
    }
  }

  /** The prompt of a single reply; undefined if the user types messages. */
  async #prompt(): Promise<string | undefined> {
    const {prompt} = this.args
    if (prompt === '-' || (prompt === undefined && process.stdin.isTTY !== true)) {
      const text = await readTextInput(this.signal)
      if (text.trim() === '') throw new SvcError('prompt_missing', {})
      return text
    }
    return prompt
  }

  /** The parameters that flags set, by the names of the Ollama API. */
  async #parameters(): Promise<Conversation['parameters']> {
    const flags = this.flags as typeof this.flags & Readonly<Record<string, number | undefined>>
    const settings = {
      temperature: flags.temperature,
      topK: flags['top-k'],
      topP: flags['top-p'],
      maxTokens: flags['max-tokens'],
    }
    const {parameters, stop} = await chosenDefaults(flags, settings)
    // A model in this process is loaded with it.
    const contextLength = flags.server === undefined ? 0 : flags['num-ctx']
    return {
      ...parameters,
      ...(stop === undefined ? {} : {stop: [...stop]}),
      ...(contextLength ? {num_ctx: contextLength} : {}),
    }
  }

  async #connect(url: string): Promise<ChatModel> {
    const {remoteModel} = await import('../src/chat/index.js')
    const {resolveEndpoint} = await import('../src/inference-client/index.js')
    const {endpoint, warnings} = resolveEndpoint(this.settingSources(), {url})
    this.report(warnings)
    return remoteModel(endpoint, this.args.model, this.signal)
  }

  async #loadChat(): Promise<ChatModel> {
    const {localModel} = await import('../src/chat/index.js')
    const name = await this.#findModel()
    const {prefixCache} = this.settings(serveSettings)
    const engine = await this.loadModel(name, {prefixBytes: prefixCache * 1_000_000})
    this.#loaded = {name, engine}
    const {description} = engine
    if (description.template === undefined && description.templateError === undefined)
      this.output.notice(
        `notice: ${description.name} has no chat template; it continues the conversation as plain text.`,
      )
    const {maxTokens: _, ...settings} = this.settings(engineSettings)
    try {
      const {system: __, ...chosen} = await this.chosenDefaults()
      return localModel(engine, chosen, settings)
    } catch (error) {
      await engine.close()
      throw error
    }
  }

  /** The model of the command, which is downloaded if it is not on this machine. */
  async #findModel(): Promise<string> {
    const {model: name} = this.args
    const notice = (text: string) => this.output.notice(text)
    const {hubCache} = this.settings(hubSettings)
    if (name === undefined)
      return chooseLanguageModel(this.settings(engineSettings).model, this.workspace.root, hubCache, notice)
    const {defaultRevision, parseModelName, snapshotPlace} = await import('../src/weights/index.js')
    const {id, file, revision = defaultRevision} = parseModelName(name)
    const snapshot = await snapshotPlace(id, revision, await this.cacheFolder())
    const isHere = existsSync(resolve(cwd(), name)) || (snapshot !== undefined && existsSync(snapshot))
    if (!isHere && snapshot !== undefined && file === undefined && id.includes('/'))
      await this.pullNamed(name, {only: 'language', confirm: (bytes) => this.#confirm(name, bytes)})
    return name
  }

  /** @throws unconfirmed */
  async #confirm(name: string, bytes: number): Promise<void> {
    const size = `${megabytes(bytes)} MB`
    if (this.flags.yes) return this.output.notice(`Downloading ${name}, ${size}.`)
    const answer = await askTerminal(`${name} is not on this machine. Download it, ${size}? [y/N] `, this.signal)
    this.signal.throwIfAborted()
    const {typedDecision} = await import('../src/contracts/index.js')
    if (answer === undefined || typedDecision(answer) !== true)
      throw new SvcError('unconfirmed', {what: `The download of ${name}, ${size},`})
  }

  async #chat(model: ChatModel, conversation: Conversation): Promise<void> {
    const history = this.flags.history ? new LineHistory('chat-history') : undefined
    const reader = new LineReader({prompt: '>>> ', history, signal: this.signal})
    this.output.notice('Type a message, /? for the commands, or /bye to leave.')
    try {
      await holdChat({
        model,
        conversation,
        reader,
        signal: this.signal,
        reply: async (current, question, stop) => {
          const reply = await this.#reply(model, current, question, stop)
          await this.output.piece('\n')
          return reply
        },
      })
    } finally {
      reader.close()
    }
  }

  /**
   * Prints the reply to a question.
   * @param stop ends the reply; what there is of it is returned
   */
  async #reply(model: ChatModel, conversation: Conversation, question: string, stop?: AbortSignal) {
    const {json} = this.output
    const shown = new ThinkingText(json ? false : this.flags['show-thinking'])
    const pieces = {thinking: '', text: ''}
    const started = performance.now()
    let firstTokenMs: number | undefined
    const print = async ({event, text}: Piece) => {
      firstTokenMs ??= performance.now() - started
      pieces[event] += text
      if (event === 'thinking') shown.print(text)
      else shown.end()
      await this.output.event({event, text} satisfies RunV1)
      if (event === 'text') await this.output.piece(text)
    }
    const signal = stop === undefined ? this.signal : AbortSignal.any([this.signal, stop])
    const end = await model.reply(conversation, question, print, signal).catch((error) => {
      if (this.signal.aborted || stop?.aborted !== true) throw error
      return undefined
    })
    shown.end()
    const {text: content, thinking} = pieces
    if (!content.endsWith('\n')) await this.output.piece('\n')
    await this.output.event({
      event: 'done',
      model: model.name,
      finish_reason: end?.finishReason ?? 'interrupted',
      ...(end && {prompt_tokens: end.promptTokens, completion_tokens: end.completionTokens}),
      ...(end?.summary && {cached_tokens: end.summary.cachedTokens}),
      ...(firstTokenMs !== undefined && {first_token_ms: Math.round(firstTokenMs * 10) / 10}),
    } satisfies RunV1)
    if (end?.finishReason === 'length')
      this.output.notice(`notice: The reply is truncated after ${counted(end.completionTokens, 'token')}.`)
    if (this.flags.stats && !json && this.#loaded !== undefined && end?.summary !== undefined) {
      const {name, engine} = this.#loaded
      this.output.notice(formatStats(await this.replyStats(name, engine, end.summary, firstTokenMs ?? 0)))
    }
    return thinking === '' ? {content} : {content, thinking}
  }
}
