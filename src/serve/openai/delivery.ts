import {definedEntries, type Fields} from '../body.js'
import {type KeepAlive, readKeepAlive} from '../keep-alive.js'

/** How the reply is sent to the client. */
export interface Delivery {
  /** As in the request; default: the served model. */
  model?: string
  stream: boolean
  /** Whether a stream ends with a usage chunk. */
  includeUsage: boolean
  /** Number of replies per prompt. */
  n: number
  keepAlive?: KeepAlive
  /** Paths of unknown fields, for the log. */
  unknown: readonly string[]
}

/** Maximum replies per prompt. */
const maxReplies = 8

/** @throws bad_request */
export function readDelivery(body: Fields): Delivery {
  const stream = body.boolean('stream') ?? false
  const includeUsage = body.object('stream_options')?.boolean('include_usage') ?? false
  return {
    ...definedEntries({model: body.string('model') || undefined, keepAlive: readKeepAlive(body)}),
    stream,
    includeUsage: stream && includeUsage,
    n: body.integer('n', {min: 1, max: maxReplies}) ?? 1,
    unknown: body.unknown,
  }
}
