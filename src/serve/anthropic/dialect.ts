import {randomUUID} from 'node:crypto'
import {typedEventStream} from '../../net/index.js'
import type {Dialect, ReplyInfo} from '../dialect.js'
import {MessageStream} from './message-stream.js'
import {type MessagesRequest, readMessagesRequest} from './request.js'
import {type MessageHead, wholeMessage} from './response.js'

const headOf = ({model}: ReplyInfo): MessageHead => ({id: `msg_${randomUUID().replaceAll('-', '')}`, model})

const ping = 'event: ping\ndata: {"type":"ping"}\n\n'

/** `/v1/messages` */
export const messages: Dialect<MessagesRequest> = {
  read: readMessagesRequest,
  requestsOf: ({request}) => [request],
  whole(request, info, [reply]) {
    if (reply === undefined) throw new Error('A request of this API has one reply.')
    return wholeMessage(headOf(info), request, reply)
  },
  writer: (request, info) => new MessageStream(headOf(info), request),
  open: (reply) => typedEventStream(reply, ping),
}
