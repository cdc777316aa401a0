import type {FastifyReply} from 'fastify'
import type {GenerateEvent, GenerateRequest} from '../llm/index.js'
import type {Admission} from './admission.js'
import {Fields} from './body.js'
import type {Client, Clients} from './clients.js'
import type {ServerMetrics} from './metrics.js'
import type {ModelManagement} from './model-management.js'
import type {ModelPool} from './model-pool.js'
import type {EffectiveDevice, ModelEntry} from './served-model.js'

/** Shared by the routes of both protocols. */
export interface ServeContext {
  clients: Clients
  models: ModelPool
  /** Undefined if clients may not download and delete models. */
  management: ModelManagement | undefined
  /** Models of mounted routes. */
  otherModels(): Promise<readonly ModelEntry[]>
  metrics: ServerMetrics
  product: string
  device: EffectiveDevice
  /** Maximum body size of a request whose prompt is not shortened, bytes; a larger body is rejected before reading. */
  promptBodyLimit: number
}

/** The model that the body of a request names. @throws bad_request, body_missing */
export const requestedModel = (body: unknown): string | undefined => Fields.ofBody(body).string('model') || undefined

/** Header with the receipt of a reply; of several replies to a request, that of the first. */
export const receiptHeader = 'x-svc-receipt'

/** Sends the reply to an admitted request with its receipt in the headers, which precede it, and releases the model. */
export async function deliverAdmitted(
  reply: FastifyReply,
  admission: Admission,
  request: GenerateRequest,
  deliver: () => Promise<unknown>,
): Promise<unknown> {
  try {
    reply.header(receiptHeader, String(admission.receiptOf(request)))
    return await deliver()
  } catch (error) {
    // An error is not computed from anything.
    reply.removeHeader(receiptHeader)
    throw error
  } finally {
    admission.release()
  }
}

/** Who asks, and the model that answers. */
export interface Generating {
  context: ServeContext
  admission: Admission
  /** Undefined for a request without a client. */
  client: Client | undefined
}

/** Generates with a served model, and charges the client with the computed tokens. Records the time to the first token. */
export async function* generate(
  {context: {metrics}, admission, client}: Generating,
  request: GenerateRequest,
  signal: AbortSignal,
): AsyncGenerator<GenerateEvent, void, undefined> {
  const started = performance.now()
  let first = true
  const complete = {...request, ...(client === undefined ? {} : {client: client.queued})}
  let tokens: number | undefined
  let replied = 0
  try {
    for await (const event of admission.generate(complete, signal)) {
      if (first) metrics.firstToken((performance.now() - started) / 1000)
      first = false
      if (event.type === 'text') replied = event.tokens
      else if (event.type === 'done') tokens = event.promptTokens - event.cachedTokens + event.completionTokens
      yield event
    }
  } finally {
    // A refused request costs nothing.
    const cancelled = first && !signal.aborted ? 0 : estimatedTokens(complete) + replied
    client?.chargeTokens(tokens ?? cancelled)
  }
}

/** Characters per token, where tokens are not counted. */
const charactersPerToken = 4

/** What the prompt of a request is charged with that does not come to its end. */
const estimatedTokens = ({prompt}: GenerateRequest): number =>
  prompt.kind === 'tokens' ? prompt.tokens.length : Math.ceil(JSON.stringify(prompt).length / charactersPerToken)
