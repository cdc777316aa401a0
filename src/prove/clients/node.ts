import {type Client, repeatUntilStopped} from './client-context.js'
import {createMember} from './member.js'

const acts = {heartbeat: 14, swapped: 3, rejoin: 1, leave: 0.5} as const

/**
 * Joins, sends heartbeats, some of them out of order, leaves and restarts. Two of the nodes are processes with the same
 * node id.
 */
export const node: Client = async (context) => {
  const {random, call} = context
  const member = createMember(context, idOf(context.who))
  await member.join()
  await repeatUntilStopped(context, async () => {
    const act = random.weighted(acts)
    if (act === 'swapped') {
      const [first, second] = [member.heartbeat(), member.heartbeat()]
      const later = call(second)
      await context.pause(random.integer(0, 5))
      await Promise.all([later, call(first)])
    } else if (act === 'leave') await member.leave()
    else {
      const answer = await (act === 'heartbeat' ? call(member.heartbeat()) : member.join())
      if (answer.code === 'node_not_found') await member.join()
      // A newer process uses the id; this one restarts after a while.
      if (answer.code === 'duplicate_node_id') {
        await context.pause(random.integer(50, 200))
        await member.join()
      }
    }
  })
}

/** `node-3` and `node-4` share the id `twin`. */
const idOf = (who: string) => (who === 'node-3' || who === 'node-4' ? 'twin' : who)
