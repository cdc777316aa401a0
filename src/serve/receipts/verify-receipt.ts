import {SvcError} from '../../errors/index.js'
import {
  describeModelFiles,
  type LoadOptions,
  ModelIdentity,
  modelParts,
  Receipt,
  type ReceiptPart,
  requestParts,
} from '../../llm/index.js'
import {FileDigests, mergeDefaults, openAdapter} from '../../weights/index.js'
import {receiptHeader} from '../context.js'
import {type ServerOptions, startServer} from '../server.js'
import type {Exchange} from './exchange.js'
import {ReceivedReply, type ReplyContent} from './reply-content.js'

type Precision = Exclude<LoadOptions['precision'], undefined>

/** An adapter that a server may have by name. */
interface NamedAdapter {
  name: string
  folder: string
}

export interface PartCheck {
  part: ReceiptPart
  /** `unchecked`: neither the files nor the request determine it. */
  state: 'same' | 'different' | 'unchecked'
  /** In the receipt. */
  stated: string
  /** As computed; null if it was not. */
  found: string | null
}

export interface ReplyCheck {
  state: 'same' | 'different'
  /** The first choice and byte that differ; null if none does. A choice that is missing differs at byte 0. */
  difference: {choice: number; byte: number} | null
}

export interface ReceiptReport {
  parts: readonly PartCheck[]
  /** Null without a request. */
  reply: ReplyCheck | null
}

export interface VerifyRequest {
  exchange: Exchange
  /** Path of the model. */
  model: string
  /** Adapters by name. The one of the receipt is used, else the model as it is, else the first. */
  adapters: readonly NamedAdapter[]
  /** Precision that the receipt must have; default: any. */
  precision: Precision | undefined
  /** How the server that answered was started. */
  server: Omit<ServerOptions, 'first' | 'precision' | 'adapters'>
  signal: AbortSignal
}

/**
 * Computes the parts of a receipt from files, of which all bytes are read. If the request is known, it is run again, alone
 * and without caches and drafts, and its reply is compared byte for byte.
 * @throws exchange_refused; what `describeModelFiles` and `startServer` throw
 */
export async function verifyReceipt(request: VerifyRequest): Promise<ReceiptReport> {
  const {receipt, asked} = request.exchange
  const precision = request.precision ?? (withoutBits(receipt.parts.precision) as Precision)
  const {adapter, identity} = await identify(request, precision)
  const rerun = asked && (await runAgain(request, adapter, precision, asked))
  const found: Partial<Record<ReceiptPart, string>> = {
    ...identity.parts,
    ...(rerun && {sampling: rerun.receipt.parts.sampling, seed: rerun.receipt.parts.seed}),
  }
  const isChosen = request.precision !== undefined
  return {
    parts: [...modelParts, ...requestParts].map((part) => checkOf(part, receipt.parts[part], found[part], isChosen)),
    reply: rerun === undefined || asked === undefined ? null : compare(asked.reply.choices, rerun.choices),
  }
}

/** A precision without the note on processors whose products of 8 bits saturate. */
const withoutBits = (precision: string): string => precision.replace(/-7bit$/, '')

function checkOf(part: ReceiptPart, stated: string, found: string | undefined, isPrecisionChosen: boolean): PartCheck {
  const isSame = stated === found || (part === 'bytes' && stated === 'batch_variant')
  // The receipt determines the precision that is compared with it.
  const isOpen = found === undefined || (part === 'precision' && isSame && !isPrecisionChosen)
  return {part, state: isOpen ? 'unchecked' : isSame ? 'same' : 'different', stated, found: found ?? null}
}

interface Identified {
  adapter: NamedAdapter | undefined
  identity: ModelIdentity
}

/** The model with the adapter of the receipt. */
async function identify({exchange, model, adapters, server}: VerifyRequest, precision: Precision): Promise<Identified> {
  const digests = new FileDigests(undefined)
  const {threads, numCtx, base, baseOnly, chatTemplate, ignoreConfigKeys, cacheFolder} = server
  const lookup = {threads, numCtx, base, baseOnly, chatTemplate, ignoreConfigKeys, cacheFolder}
  // Without caches and drafts, for which the most is claimed.
  const {sources, defaults} = await describeModelFiles(model, {...lookup, precision})
  const own = await ModelIdentity.of(sources, mergeDefaults(server.defaults, defaults), digests)
  const named: Identified[] = []
  for (const adapter of adapters) {
    const directory = await openAdapter(adapter.folder, ignoreConfigKeys)
    named.push({adapter, identity: await own.withAdapter(directory, (file) => digests.of(file))})
  }
  const asItIs = {adapter: undefined, identity: own}
  const stated = exchange.receipt.parts.adapter
  return [...named, asItIs].find(({identity}) => identity.parts.adapter === stated) ?? named[0] ?? asItIs
}

/** Sends the request to a server of its own. */
async function runAgain(
  {exchange: {receipt}, model, server, signal}: VerifyRequest,
  adapter: NamedAdapter | undefined,
  precision: Precision,
  {request, reply: {route}}: NonNullable<Exchange['asked']>,
): Promise<{receipt: Receipt; choices: readonly ReplyContent[]}> {
  const {ignoreConfigKeys} = server
  const options: ServerOptions = {
    ...server,
    first: {path: model, name: undefined},
    precision,
    promptLookup: false,
    prefixBytes: 0,
    adapters: adapter && {
      pinned: [adapter],
      folder: undefined,
      maxBytes: Number.POSITIVE_INFINITY,
      ignoreConfigKeys,
    },
  }
  const running = await startServer(options, signal)
  try {
    const response = await fetch(running.baseUrl + route, {
      method: 'POST',
      body: JSON.stringify({...withSeed(route, request, Number(receipt.parts.seed)), model: adapter?.name}),
      signal,
    })
    const body = await response.json()
    const reply = ReceivedReply.of(body)
    if (!response.ok || reply === undefined)
      throw new SvcError('exchange_refused', {status: response.status, reason: reasonIn(body)})
    return {receipt: Receipt.parse(response.headers.get(receiptHeader) ?? ''), choices: reply.choices}
  } finally {
    await running.close(0)
  }
}

/** The request for a complete reply of the only model, with the seed of the receipt unless it has one. */
function withSeed(route: string, request: Readonly<Record<string, unknown>>, seed: number): object {
  const {model: _, keep_alive: __, stream_options: ___, ...others} = request
  const isOllama = route.startsWith('/api/')
  const seeded = isOllama ? {options: {seed, ...(others.options as object | undefined)}} : {seed: others.seed ?? seed}
  return {...others, ...seeded, stream: false}
}

/** The sentence of an error, in either API. */
function reasonIn(body: unknown): string {
  const {error} = body as {error?: string | {message?: string}}
  return typeof error === 'string' ? error : (error?.message ?? 'its reply has no text')
}

function compare(received: readonly ReplyContent[], computed: readonly ReplyContent[]): ReplyCheck {
  for (let choice = 0; choice < Math.max(received.length, computed.length); choice++) {
    const [one, other] = [bytesOf(received[choice]), bytesOf(computed[choice])]
    if (one.equals(other)) continue
    const byte = one.findIndex((value, i) => value !== other[i])
    return {state: 'different', difference: {choice, byte: byte < 0 ? one.length : byte}}
  }
  return {state: 'same', difference: null}
}

/** The text first, so that the place of a difference is one in the text, if the texts differ. */
const bytesOf = (content: ReplyContent | undefined): Buffer =>
  content === undefined
    ? Buffer.alloc(0)
    : Buffer.from(`${content.text}${JSON.stringify({...content, text: undefined})}`)
