import {type Fields, given} from '../body.js'

/** How the reply is to reach the client. */
export interface Delivery {
  /** As the client wrote it; absent asks for the served model. */
  model?: string
  stream: boolean
  /** A stream ends with a chunk that counts tokens. */
  includeUsage: boolean
  /** Replies to generate to each prompt. */
  n: number
}

/** Most replies to one prompt. */
const mostReplies = 8

/** @throws bad_request */
export function readDelivery(body: Fields): Delivery {
  const stream = body.boolean('stream') ?? false
  const includeUsage = body.object('stream_options')?.boolean('include_usage') ?? false
  return {
    ...given({model: body.string('model') || undefined}),
    stream,
    includeUsage: stream && includeUsage,
    n: body.integer('n', {min: 1, max: mostReplies}) ?? 1,
  }
}
