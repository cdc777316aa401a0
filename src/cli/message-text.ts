import type {Message} from '../messages/index.js'
import {age, beginning, time} from './cell-text.js'
import {type Column, formatTable, type TableView, wide, wrapped} from './table.js'

/** `A-03` */
type DisplayAgent = (id: number) => string

/** The messages of an inbox. @param displayAgent imported lazily by the command */
export const formatInbox = (messages: readonly Message[], displayAgent: DisplayAgent, view?: TableView): string =>
  formatMessages(
    ['MESSAGE', 'FROM', 'TYPE', 'PRIORITY', 'AGE', wide('SENT'), 'DELIVERED', wrapped('PAYLOAD')],
    messages,
    view,
    (message) => [
      messageId(message),
      agent(message.sender, displayAgent),
      message.msg_type,
      message.priority,
      age(message.timestamp_ms),
      time(message.timestamp_ms),
      `${message.delivery_attempts ?? 0}${message.dead_lettered ? ', dead' : ''}`,
      beginning(message.payload),
    ],
  )

/** Messages between agents. @param displayAgent imported lazily by the command */
export const formatHistory = (messages: readonly Message[], displayAgent: DisplayAgent, view?: TableView): string =>
  formatMessages(
    ['MESSAGE', 'FROM', 'TO', 'TYPE', 'AGE', wide('SENT'), 'STATE', wrapped('PAYLOAD')],
    messages,
    view,
    (message) => [
      messageId(message),
      agent(message.sender, displayAgent),
      agent(message.receiver ?? 'all', displayAgent),
      message.msg_type,
      age(message.timestamp_ms),
      time(message.timestamp_ms),
      stateOf(message),
      beginning(message.payload),
    ],
  )

const formatMessages = (
  columns: readonly Column[],
  messages: readonly Message[],
  view: TableView | undefined,
  cells: (message: Message) => string[],
): string => formatTable(columns, messages.map(cells), view, 'No messages.')

/** The id that svc a2a ack accepts: 12 for a durable message, else M-000012 or mesh:12. */
const messageId = ({id, display_id: displayId}: Message): string => displayId ?? String(id)

const agent = (id: number | string, displayAgent: DisplayAgent): string =>
  typeof id === 'number' ? displayAgent(id) : id

function stateOf({acknowledged, dead_lettered: isDead}: Message): string {
  if (acknowledged) return 'acknowledged'
  return isDead ? 'dead' : 'unread'
}
