import {definedEntries, type Fields} from '../body.js'

/** How the reply is sent to the client. */
export interface Delivery {
  /** As in the request; default: the served model. */
  model?: string
  stream: boolean
  /** Whether a stream ends with a usage chunk. */
  includeUsage: boolean
  /** Number of replies per prompt. */
  n: number
}

/** Maximum replies per prompt. */
const maxReplies = 8

/** @throws bad_request */
export function readDelivery(body: Fields): Delivery {
  const stream = body.boolean('stream') ?? false
  const includeUsage = body.object('stream_options')?.boolean('include_usage') ?? false
  return {
    ...definedEntries({model: body.string('model') || undefined}),
    stream,
    includeUsage: stream && includeUsage,
    n: body.integer('n', {min: 1, max: maxReplies}) ?? 1,
  }
}
