import {createHash} from 'node:crypto'
import {cpus} from 'node:os'
import {join} from 'node:path'
import {SvcError} from '../errors/index.js'
import {packageVersion} from '../files/index.js'
import {type Device, physicalCores, requireDevice, runtimeVersion} from '../onnx/index.js'
import {derivedFolder, derivedKey, prefixFolder, type RunDirectory, type TensorMap} from '../weights/index.js'
import type {ResidencyOptions} from './adapters/resident-adapters.js'
import {EngineCounters} from './counters.js'
import {openDecoder} from './decoder.js'
import {topCount} from './decoder-graph.js'
import {EventQueue} from './event-queue.js'
import {GrammarReader, grammarOptions} from './grammar-reader.js'
import type {Listener} from './job.js'
import type {LoadOptions} from './load-options.js'
import {ModelAdapters} from './model-adapters.js'
import type {ModelDescription} from './model-description.js'
import {readModelFiles} from './model-files.js'
import {withQuantised} from './precision.js'
import {PrefixCache} from './prefix-cache.js'
import {PrefixStore} from './prefix-store.js'
import {encodePrompt} from './prompt.js'
import {PromptLookup} from './prompt-lookup.js'
import {readEvents} from './reply/read-events.js'
import {ReplyConstraints} from './reply-constraint.js'
import {ReplyPlanner} from './reply-planner.js'
import type {GenerateEvent, GenerateRequest, TokenRequest} from './request.js'
import {rotaryFrequencies} from './rope.js'
import {Scheduler} from './scheduler.js'
import {cacheShapeOf} from './sequence-cache.js'
import {attentionsOf, type DecoderSpec} from './spec.js'

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
  /** Frees the memory of an adapter when no request uses it any more. */
  forgetAdapter(key: string): void
  /** Resolves when no request is running or waiting. */
  idle(): Promise<void>
  /** Frees the model; no request may be running. */
  release(): Promise<void>
}

/** Key of everything that keys and values depend on besides the tokens and the adapter, also of what only affects their rounding. */
function stateKey({config}: RunDirectory, weights: TensorMap, device: Device, positions: string): Promise<string> {
  const files = new Set([config, ...[...weights.values()].map(({file}) => file)])
  const machine = `${device} ${process.arch} ${cpus()[0]?.model} ${positions}`
  return derivedKey([...files].sort(), `prefix ${packageVersion()} ${runtimeVersion} ${machine}`)
}

/** The rotary frequencies, which may depend on the context length; empty if they do not. */
function positionsKey(spec: DecoderSpec, contextLength: number): string {
  const ropes = attentionsOf(spec).flatMap(({rope}) => rope ?? [])
  const frequencies = (length: number) => JSON.stringify(ropes.map((rope) => rotaryFrequencies(rope, length)))
  const own = frequencies(contextLength)
  return own === frequencies(0) ? '' : createHash('sha256').update(own).digest('hex')
}

const defaultSlots = 8
const defaultQueue = 512

/**
 * Loads a run directory or a model directory. The safetensors shards are mapped directly, without an export step.
 * @param model path of the directory, or id of a model in the local Hugging Face cache
 * @param onAdapters called when adapters have come into memory or gone
 * @throws every error of `openRunDirectory`, `readDecoderSpec`, `openDecoder` and `ModelAdapters.open`
 */
export async function loadLanguageModel(
  model: string,
  options: LoadOptions = {threads: 0, numCtx: 0},
  counters = new EngineCounters(),
  onAdapters?: ResidencyOptions['onChange'],
): Promise<LanguageModel> {
  const {threads, slots = defaultSlots, queueLimit = defaultQueue, device = 'cpu', ...others} = options
  const {prefixBytes = 0, prefixFileBytes = 0, promptLookup, onProgress} = others
  await requireDevice(device)
  const {directory, spec, text, rules, precision, description} = await readModelFiles(model, options)
  const {tokenizer, ends} = text
  const {tensors} = directory
  const {contextLength} = description
  const computeThreads = threads || physicalCores()
  const weights = await withQuantised(spec, tensors, precision, {
    folder: derivedFolder(process.env),
    model: directory.path,
    threads: computeThreads,
    onProgress,
  })
  const decoder = await openDecoder(spec, weights, {
    contextLength,
    threads: computeThreads,
    adapters: directory.adapter !== undefined || options.adapters !== undefined,
    adapterCopyBytes: options.adapters?.maxBytes,
    device,
  })
  const adapters =
    decoder.adapters &&
    (await ModelAdapters.open(decoder.adapters, directory, options, onAdapters).catch(async (error) => {
      await decoder.release()
      throw error
    }))
  const store =
    prefixBytes * prefixFileBytes === 0
      ? undefined
      : new PrefixStore({
          folder: join(derivedFolder(process.env), prefixFolder),
          maxBytes: prefixFileBytes,
          model: await stateKey(directory, weights, device, positionsKey(spec, contextLength)),
          shape: cacheShapeOf(spec),
          counters,
        })
  const prefixes =
    prefixBytes === 0 ? undefined : new PrefixCache(prefixBytes, (prefix, length) => store?.offer(prefix, length))
  for (const {tokens, adapter, state} of (await store?.load(prefixBytes)) ?? []) prefixes?.add(tokens, adapter, state)
  const scheduler = new Scheduler(
    decoder,
    {tokenizer, contextLength, endTokens: ends, topCount: topCount(spec), rules},
    {slots, queueLimit, prefixes, lookup: promptLookup ? new PromptLookup() : undefined},
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
    if (adapters === undefined && typeof request.adapter === 'object')
      throw new SvcError('bad_request', {reason: 'the model was loaded without adapters', param: 'model'})
    const adapter = adapters?.acquire(request.adapter)
    try {
      scheduler.submit(prompt, {...request, contextLength: available(request)}, listener, signal, constraint, adapter)
    } catch (error) {
      adapter?.release()
      throw error
    }
  }
  return {
    description,
    counters,
    encode,
    submit,
    forgetAdapter: (key) => adapters?.forget(key),
    async *generate(request, signal = new AbortController().signal) {
      signal.throwIfAborted()
      const abandoned = new AbortController()
      const queue = new EventQueue<GenerateEvent>(signal)
      const listener: Listener = {event: (event) => queue.push(event), fail: (error) => queue.fail(error)}
      const {tokens, layout, ...prepared} = await planner.plan(request, available(request))
      submit(tokens, {...request, ...prepared}, listener, AbortSignal.any([signal, abandoned.signal]))
      const {tools} = request
      const checked = tools && planner.check(tools, () => signal.throwIfAborted())
      checked?.catch(() => undefined)
      try {
        yield* readEvents(queue, layout, checked)
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
