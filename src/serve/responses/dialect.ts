import {typedEventStream} from '../../net/index.js'
import type {Dialect, ReplyInfo} from '../dialect.js'
import {newId} from './items.js'
import {type ResponsesRequest, readResponsesRequest} from './request.js'
import {type ResponseHead, wholeResponse} from './response.js'
import {ResponseStream} from './response-stream.js'

const headOf = ({model}: ReplyInfo): ResponseHead => ({
  id: newId('resp'),
  created: Math.floor(Date.now() / 1000),
  model,
})

/** `/v1/responses` */
export const responses: Dialect<ResponsesRequest> = {
  read: readResponsesRequest,
  requestsOf: ({request}) => [request],
  whole(request, info, [reply]) {
    if (reply === undefined) throw new Error('A request of this API has one reply.')
    return wholeResponse(headOf(info), request, reply)
  },
  writer: (request, info) => new ResponseStream(headOf(info), request),
  open: (reply) => typedEventStream(reply),
}
