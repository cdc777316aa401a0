import {cpus} from 'node:os'
import {join} from 'node:path'
import {SvcError} from '../errors/index.js'
import {packageVersion} from '../files/index.js'
import {type Device, physicalCores, requireDevice, runtimeVersion} from '../onnx/index.js'
import {
  derivedFolder,
  derivedKey,
  openRunDirectory,
  prefixFolder,
  type QuantizeProgress,
  type RunDirectory,
  type RunLookup,
  type TensorMap,
} from '../weights/index.js'
import {abilitiesOf} from './abilities.js'
import {EngineCounters} from './counters.js'
import {openDecoder} from './decoder.js'
import {topCount} from './decoder-graph.js'
import {EventQueue} from './event-queue.js'
import {readDecoderSpec} from './families/index.js'
import {GrammarReader, grammarOptions} from './grammar-reader.js'
import {describeModel, type ModelDescription, recommendedSampling} from './model-description.js'
import {readModelText} from './model-text.js'
import {choosePrecision, type Precision, withQuantised} from './precision.js'
import {PrefixCache} from './prefix-cache.js'
import {PrefixStore} from './prefix-store.js'
import {encodePrompt} from './prompt.js'
import {readEvents} from './reply/read-events.js'
import {ReplyConstraints} from './reply-constraint.js'
import {ReplyPlanner} from './reply-planner.js'
import {readReplyRules} from './reply-rules-config.js'
import type {GenerateEvent, GenerateRequest, TokenRequest} from './request.js'
import {type Listener, Scheduler} from './scheduler.js'

export interface LoadOptions
  extends Pick<RunLookup, 'base' | 'ignoreEvalGate' | 'baseOnly' | 'ignoreConfigKeys' | 'cacheFolder'> {
  /** Compute threads; 0 is one per physical core. */
  threads: number
  /** Context length in tokens, limited by that of the model; 0 is the model's, up to 8192. */
  numCtx: number
  /** Default: `cpu`. */
  device?: Device
  /** Default: f32. See `choosePrecision` for `auto`. */
  precision?: Precision | 'auto'
  /** Maximum number of concurrent requests. */
  slots?: number
  /** Maximum number of waiting requests. */
  queueLimit?: number
  /** Maximum size of the saved beginnings of prompts, bytes; default 0: none. */
  prefixBytes?: number
  /** Whether repeated text is drafted and verified in one run; default false. */
  promptLookup?: boolean
  /** File with a chat template that replaces the model's; `none` disables it. */
  chatTemplate?: string | undefined
  /** Called while weights are quantised, which happens when the model is first loaded with a precision. */
  onProgress?: ((progress: QuantizeProgress) => void) | undefined
  /** Maximum size of files with beginnings of prompts, bytes; default 0: none. They require `prefixBytes`. */
  prefixFileBytes?: number
}

/** A model loaded in the calling thread. Each graph run blocks that thread. */
export interface LanguageModel {
  readonly description: ModelDescription
  readonly counters: EngineCounters
  /** The tokens of a request's prompt. @throws what `encodePrompt` throws */
  encode(request: GenerateRequest): number[]
  /**
   * Queues a request; its events are sent to the listener.
   * @throws bad_request, grammar_limit, grammar_unsatisfiable; what `Scheduler.submit` throws
   */
  submit(prompt: readonly number[], request: TokenRequest, listener: Listener, signal: AbortSignal): void
  /**
   * Generates text as a stream of events; the last one is the summary.
   * @throws prompt_missing, prompt_empty, prompt_too_long, overloaded, chat_template_failed; what `formatGrammar` throws; the
   *   reason of the signal
   */
  generate(request: GenerateRequest, signal?: AbortSignal): AsyncGenerator<GenerateEvent, void, undefined>
  /** Resolves when no request is running or waiting. */
  idle(): Promise<void>
  /** Frees the model; no request may be running. */
  release(): Promise<void>
}

/** Key of everything that keys and values depend on besides the tokens, also of what only affects their rounding. */
function stateKey({config, adapter}: RunDirectory, weights: TensorMap, device: Device): Promise<string> {
  const files = new Set([config, ...[...weights.values()].map(({file}) => file)])
  if (adapter !== undefined) files.add(adapter.file)
  const machine = `${device} ${process.arch} ${cpus()[0]?.model}`
  return derivedKey([...files].sort(), `prefix ${packageVersion()} ${runtimeVersion} ${machine}`)
}

/** For models whose chat template does not write calls, or in an unknown form. */
const toolNote =
  'The chat template has no known form of tool calls. Tools are described in a message, and calls are JSON in <tool_call> tags.'

const defaultContext = 8192
const defaultSlots = 8
const defaultQueue = 512

/**
 * Loads a run directory or a model directory. The safetensors shards are mapped directly, without an export step.
 * @param model path of the directory, or id of a model in the local Hugging Face cache
 * @throws every error of `openRunDirectory`, `readDecoderSpec` and `openDecoder`
 */
export async function loadLanguageModel(
  model: string,
  options: LoadOptions = {threads: 0, numCtx: 0},
  counters = new EngineCounters(),
): Promise<LanguageModel> {
  const {threads, numCtx, slots = defaultSlots, queueLimit = defaultQueue, device = 'cpu', ...others} = options
  const {
    precision: requested = 'f32',
    prefixBytes = 0,
    prefixFileBytes = 0,
    promptLookup,
    onProgress,
    chatTemplate,
    ...lookup
  } = others
  await requireDevice(device)
  const directory = await openRunDirectory(model, lookup)
  const declared = await directory.readConfig()
  const config = directory.untied ? {...declared, tie_word_embeddings: false} : declared
  const spec = readDecoderSpec(
    config,
    directory.config,
    (tensor) => directory.tensors.has(tensor),
    lookup.ignoreConfigKeys,
  )
  const text = await readModelText(directory, config, chatTemplate)
  const {tokenizer, template, templateSource, style, ends} = text
  const {tensors} = directory
  const {generation} = directory.declarations
  const rules = readReplyRules(generation, directory)
  const computeThreads = threads || physicalCores()
  const precision = choosePrecision(requested, tensors, device)
  const weights = await withQuantised(spec, tensors, precision, {
    folder: derivedFolder(process.env),
    model: directory.path,
    threads: computeThreads,
    onProgress,
  })
  const decoder = await openDecoder(spec, weights, {
    contextLength: Math.min(numCtx || defaultContext, spec.contextLength),
    threads: computeThreads,
    adapter: directory.adapter,
    device,
  })
  const {contextLength} = decoder
  const store =
    prefixBytes * prefixFileBytes === 0
      ? undefined
      : new PrefixStore({
          folder: join(derivedFolder(process.env), prefixFolder),
          maxBytes: prefixFileBytes,
          model: await stateKey(directory, weights, device),
          layers: spec.layers.map(({attention}) => attention),
          counters,
        })
  const prefixes =
    prefixBytes === 0 ? undefined : new PrefixCache(prefixBytes, (prefix, length) => store?.offer(prefix, length))
  for (const {tokens, adapted, state} of (await store?.load(prefixBytes)) ?? []) prefixes?.add(tokens, adapted, state)
  const scheduler = new Scheduler(
    decoder,
    {tokenizer, contextLength, endTokens: ends, topCount: topCount(spec), rules},
    {slots, queueLimit, prefixes, lookup: promptLookup},
    counters,
  )
  const constraints = new ReplyConstraints(tokenizer, ends)
  const planner = new ReplyPlanner(text, new GrammarReader(grammarOptions(directory, tokenizer, ends)))
  const available = ({contextLength: wanted = contextLength}: Pick<GenerateRequest, 'contextLength'>) =>
    Math.min(contextLength, wanted)
  const encode: LanguageModel['encode'] = (request) =>
    encodePrompt({...text, contextLength: available(request)}, request.prompt, undefined, request)
  const submit: LanguageModel['submit'] = (prompt, request, listener, signal) => {
    const unknown = prompt.find((token) => token >= spec.vocabSize)
    if (unknown !== undefined)
      throw new SvcError('bad_request', {
        reason: `token ${unknown} is not in the vocabulary, which has ${spec.vocabSize}`,
        param: 'prompt',
      })
    const {prepared, limit} = request
    const constraint = prepared === undefined ? undefined : constraints.start(prepared, limit)
    scheduler.submit(prompt, {...request, contextLength: available(request)}, listener, signal, constraint)
  }
  return {
    description: {
      ...(await describeModel(directory, spec)),
      contextLength,
      precision,
      template: templateSource,
      templateError: template?.error?.toRecord(),
      abilities: abilitiesOf(text),
      toolNote: style?.isNative === false ? toolNote : undefined,
      stop: [...ends].map((id) => tokenizer.bytes(id).toString('utf8')),
      longestToken: tokenizer.longestToken,
      recommended: recommendedSampling(generation),
    },
    counters,
    encode,
    submit,
    async *generate(request, signal = new AbortController().signal) {
      signal.throwIfAborted()
      const abandoned = new AbortController()
      const queue = new EventQueue<GenerateEvent>(signal)
      const listener: Listener = {event: (event) => queue.push(event), fail: (error) => queue.fail(error)}
      const {tokens, layout, ...prepared} = await planner.plan(request, available(request))
      submit(tokens, {...request, ...prepared}, listener, AbortSignal.any([signal, abandoned.signal]))
      try {
        yield* readEvents(queue, layout)
      } finally {
        abandoned.abort()
      }
    },
    idle: () => scheduler.idle(),
    async release() {
      await store?.close()
      await decoder.release()
    },
  }
}
