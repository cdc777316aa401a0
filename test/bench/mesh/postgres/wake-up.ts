import {loadavg} from 'node:os'
import {setTimeout as sleep} from 'node:timers/promises'
import {round} from '../../../../src/bench/measure.js'
import {routes} from '../../../../src/mesh/index.js'
import {connect} from '../load.js'
import {nodeId} from '../servers.js'
import {createMesh, startReplica} from './servers.js'

const warmUp = 10
const times = 300

/**
 * Time from the delivery of a message to one control plane until a long poll at another one is answered. Notifications
 * of a process are at least 50 ms apart, so the messages are sent at random intervals.
 */
export async function meshPostgresWakeUp() {
  const url = await createMesh(1)
  const replicas = [await startReplica(url), await startReplica(url)] as const
  const [sender, receiver] = await Promise.all([connect(replicas[0]), connect(replicas[1])])
  const post = async (connection: typeof sender, path: string, body: object) => {
    const answer = await connection.post(path, JSON.stringify(body))
    return answer === '' ? undefined : JSON.parse(answer)
  }
  const taken: number[] = []
  try {
    for (let n = -warmUp; n < times; n++) {
      const inbox = {receiver_agent_id: '1', claimer_node_id: nodeId(0)}
      const polled = post(receiver, routes.a2a_inbox.path, {...inbox, wait_ms: 30_000})
      await sleep(20 + 80 * Math.random())
      const message = {sender_agent_id: '2', receiver_agent_id: '1', message_type: 'free_form', payload: 'x'}
      const started = performance.now()
      await post(sender, routes.a2a_deliver.path, message)
      const {messages} = await polled
      if (n >= 0) taken.push(performance.now() - started)
      await post(receiver, routes.a2a_ack.path, {...inbox, message_id: messages[0].id})
    }
  } finally {
    sender.end()
    receiver.end()
    await Promise.all(replicas.map((replica) => replica.stop()))
  }
  taken.sort((a, b) => a - b)
  const at = (share: number) => round(taken[Math.ceil(taken.length * share) - 1] as number)
  return {messages: times, p50_ms: at(0.5), p99_ms: at(0.99), load: round(loadavg()[0] as number)}
}
