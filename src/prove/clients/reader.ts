import {messagesOf} from '../history/history.js'
import {type Client, repeatUntilStopped} from './client-context.js'
import {receivers} from './sender.js'

const acts = {nodes: 3, page: 2, peek: 4, stats: 1} as const

/** Reads node lists, inbox pages and statistics. */
export const reader: Client = async (context) => {
  const {random, call} = context
  let cursor: string | undefined
  let before: number | undefined
  await repeatUntilStopped(context, async () => {
    const act = random.weighted(acts)
    if (act === 'stats') await call({operation: 'queue_stats'})
    else if (act === 'peek') {
      const page = {max_messages: random.integer(1, 400), ...(before === undefined ? {} : {before_message_id: before})}
      const inbox = await call({operation: 'a2a_inbox', body: {receiver_agent_id: random.pick(receivers), ...page}})
      before = messagesOf(inbox).at(-1)?.id
    } else {
      const from = act === 'page' && cursor !== undefined ? {cursor} : {}
      const list = await call({operation: 'list_nodes', body: {limit: random.integer(1, 30), ...from}})
      const {next_cursor: next} = list.body ?? {}
      cursor = typeof next === 'string' ? next : undefined
    }
  })
}
