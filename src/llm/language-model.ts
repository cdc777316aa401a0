import {createHash} from 'node:crypto'
import {readFile, stat} from 'node:fs/promises'
import {SvcError} from '../errors/index.js'
import {logger} from '../log/index.js'
import {type Device, physicalCores, requireDevice} from '../onnx/index.js'
import {ChatTemplate, chatml, createTokenizer, declaredTemplate, type Tokenizer} from '../text/index.js'
import {
  openRunDirectory,
  type RunDirectory,
  type RunLookup,
  readJsonObject,
  type TensorEntry,
} from '../weights/index.js'
import {EngineCounters} from './counters.js'
import {openDecoder} from './decoder.js'
import {EventQueue} from './event-queue.js'
import {readDecoderSpec} from './families/index.js'
import {encodePrompt, type PromptEncoder} from './prompt.js'
import type {GenerateEvent, GenerateRequest} from './request.js'
import {type Listener, Scheduler} from './scheduler.js'
import type {DecoderSpec} from './spec.js'

export interface LoadOptions extends Pick<RunLookup, 'base' | 'ignoreEvalGate'> {
  /** Threads that compute; 0 takes one per physical core. */
  threads: number
  /** Context length in tokens; 0 takes the model's own, up to 8192. Never more than the model's own. */
  numCtx: number
  /** The CPU where it is left out. */
  device?: Device
  /** Requests that are computed at once. */
  slots?: number
  /** Requests that may wait. */
  queueLimit?: number
}

/** What a loaded model is. */
export interface ModelDescription {
  name: string
  /** `model_type` of its configuration. */
  family: string
  contextLength: number
  embeddingLength: number
  blockCount: number
  headCount: number
  headCountKv: number
  parameterCount: number
  /** Of weights and adapter. */
  bytes: number
  dtype: string
  /** SHA-256 of the adapter file, or of the names, sizes and times of the shards where there is none. */
  digest: string
  modifiedAt: Date
  baseModel: string | undefined
  adapted: boolean
  /** Whether a training run left the directory behind. */
  trained: boolean
  /** The chat template as it is written, where there is one. */
  template: string | undefined
  /** Texts of the tokens that end a turn. */
  stop: string[]
}

/** A model that is loaded, in the calling thread: its computation blocks that thread run by run. */
export interface LanguageModel {
  readonly description: ModelDescription
  readonly counters: EngineCounters
  /** Queues a request; its events go to the listener. @throws what `encodePrompt` and `Scheduler.submit` throw */
  submit(request: GenerateRequest, listener: Listener, signal: AbortSignal): void
  /**
   * Generates text, piece by piece; the last event sums up.
   * @throws prompt_missing, prompt_empty, prompt_too_long, overloaded, chat_template_failed; the reason of the signal
   */
  generate(request: GenerateRequest, signal?: AbortSignal): AsyncGenerator<GenerateEvent, void, undefined>
  /** Resolves when nothing is computed. */
  idle(): Promise<void>
  /** Frees the model; nothing may be running. */
  release(): Promise<void>
}

const defaultContext = 8192
const defaultSlots = 8
const defaultQueue = 512

/**
 * Loads a run directory or a model directory: no export step, the shards are mapped as they are.
 * @param model path of the directory, or id of a model in the local Hugging Face cache
 * @throws every error of `openRunDirectory`, `readDecoderSpec` and `openDecoder`
 */
export async function loadLanguageModel(
  model: string,
  options: LoadOptions = {threads: 0, numCtx: 0},
  counters = new EngineCounters(),
): Promise<LanguageModel> {
  const {threads, numCtx, slots = defaultSlots, queueLimit = defaultQueue, device = 'cpu', ...lookup} = options
  await requireDevice(device)
  const directory = await openRunDirectory(model, lookup)
  const config = await readJsonObject(directory.config)
  const spec = readDecoderSpec(config, directory.config, (tensor) => directory.tensors.has(tensor))
  const {tokenizer, template, templateSource} = await readText(directory)
  const generationConfig =
    directory.generationConfig === undefined ? {} : await readJsonObject(directory.generationConfig)
  const decoder = await openDecoder(spec, directory.tensors, {
    contextLength: Math.min(numCtx || defaultContext, spec.contextLength),
    threads: threads || physicalCores(),
    adapter: directory.adapter,
    device,
  })
  const {contextLength} = decoder
  const encoder: PromptEncoder = {tokenizer, template, contextLength}
  const ends = endTokens(tokenizer, config, generationConfig)
  const scheduler = new Scheduler(decoder, {tokenizer, contextLength, endTokens: ends}, {slots, queueLimit}, counters)
  const tellNoTemplate = once(() => logger('llm').warn('The model has no chat template: the prompt is sent as it is.'))

  const submit: LanguageModel['submit'] = (request, listener, signal) => {
    const available = Math.min(contextLength, request.contextLength ?? contextLength)
    const tokens = encodePrompt({...encoder, contextLength: available}, request.prompt)
    if (request.prompt.kind === 'chat' && template === undefined) tellNoTemplate()
    const unknown = tokens.find((token) => token >= spec.vocabSize)
    if (unknown !== undefined)
      throw new SvcError('bad_request', {
        reason: `token ${unknown} is not in the vocabulary, which has ${spec.vocabSize}`,
        param: 'context',
      })
    scheduler.submit(tokens, {...request, contextLength: available}, listener, signal)
  }
  return {
    description: {
      ...(await describe(directory, spec)),
      contextLength,
      template: templateSource,
      stop: [...ends].map((id) => tokenizer.bytes(id).toString('utf8')),
    },
    counters,
    submit,
    async *generate(request, signal = new AbortController().signal) {
      signal.throwIfAborted()
      const abandoned = new AbortController()
      const queue = new EventQueue<GenerateEvent>(signal)
      const listener: Listener = {event: (event) => queue.push(event), fail: (error) => queue.fail(error)}
      submit(request, listener, AbortSignal.any([signal, abandoned.signal]))
      try {
        for await (const event of queue) {
          yield event
          if (event.type === 'done') return
        }
      } finally {
        abandoned.abort()
      }
    },
    idle: () => scheduler.idle(),
    release: () => decoder.release(),
  }
}

interface ModelText {
  tokenizer: Tokenizer
  template: ChatTemplate | undefined
  templateSource: string | undefined
}

/** The template is that of the model, else ChatML where the run or the vocabulary says so, else none. */
async function readText({
  tokenizer: file,
  tokenizerConfig,
  chatTemplate,
  promptFormat,
}: RunDirectory): Promise<ModelText> {
  const config = tokenizerConfig === undefined ? {} : await readJsonObject(tokenizerConfig)
  const tokenizer = createTokenizer(await readJsonObject(file), config, file)
  const isChatml = promptFormat === 'qwen_chatml_im_start' || tokenizer.id('<|im_start|>') !== undefined
  const written = chatTemplate === undefined ? declaredTemplate(config) : await readFile(chatTemplate, 'utf8')
  const templateSource = written ?? (isChatml ? chatml : undefined)
  const origin = chatTemplate ?? tokenizerConfig ?? file
  const template = templateSource === undefined ? undefined : new ChatTemplate(templateSource, origin)
  return {tokenizer, template, templateSource}
}

/** Ends of a text: what the configurations and the tokenizer name, and the ends of a turn that chat models share. */
function endTokens(tokenizer: Tokenizer, ...configs: readonly Readonly<Record<string, unknown>>[]): Set<number> {
  const declared = configs.flatMap(({eos_token_id: id}) => [id].flat())
  const known = [tokenizer.eos, '<|im_end|>', '<|endoftext|>', '<|eot_id|>'].map((token) =>
    token === undefined ? undefined : tokenizer.id(token),
  )
  return new Set([...declared, ...known].filter((id): id is number => Number.isSafeInteger(id)))
}

async function describe(
  {name, tensors, adapter, baseModel, trained}: RunDirectory,
  spec: DecoderSpec,
): Promise<Omit<ModelDescription, 'contextLength' | 'template' | 'stop'>> {
  const weights = [...tensors.values()]
  const files = [...new Set([...weights.map(({file}) => file), ...(adapter === undefined ? [] : [adapter.file])])]
  const stats = await Promise.all(files.map(async (file) => ({file, ...pick(await stat(file))})))
  const newest = Math.max(...stats.map(({mtimeMs}) => mtimeMs))
  const digest = createHash('sha256').update(
    adapter === undefined
      ? stats.map(({file, size, mtimeMs}) => `${file}\0${size}\0${mtimeMs}\n`).join('')
      : await readFile(adapter.file),
  )
  const {attention} = spec.layers[0] ?? {}
  return {
    name,
    family: spec.family,
    embeddingLength: spec.hiddenSize,
    blockCount: spec.layers.length,
    headCount: attention?.heads ?? 0,
    headCountKv: attention?.kvHeads ?? 0,
    parameterCount: weights.reduce((sum, {shape}) => sum + elements(shape), 0),
    bytes: stats.reduce((sum, {size}) => sum + size, 0),
    dtype: commonest(weights),
    digest: digest.digest('hex'),
    modifiedAt: new Date(newest),
    baseModel,
    adapted: adapter !== undefined,
    trained,
  }
}

const pick = ({size, mtimeMs}: {size: number; mtimeMs: number}) => ({size, mtimeMs})

const elements = (shape: readonly number[]) => shape.reduce((product, dim) => product * dim, 1)

/** The dtype that most elements have. */
function commonest(tensors: readonly TensorEntry[]): string {
  const counts = new Map<string, number>()
  for (const {dtype, shape} of tensors) counts.set(dtype, (counts.get(dtype) ?? 0) + elements(shape))
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 'F32'
}

function once(work: () => void): () => void {
  let done = false
  return () => {
    if (!done) work()
    done = true
  }
}
