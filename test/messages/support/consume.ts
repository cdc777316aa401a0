/**
 * A consumer process: claims messages of bert, a few at a time, and acknowledges them until none is unread. Prints the
 * payload and the number of deliveries of each. Arguments: the workspace, the owner.
 */
import {setTimeout as sleep} from 'node:timers/promises'
import {readInbox} from '../../../src/messages/index.js'
import {openOrchestrator} from '../../../src/orchestrator/index.js'
import {ackHere} from './agents.js'
import {waitAtGate} from './gate.js'

const [root = '', owner = ''] = process.argv.slice(2)
const orchestrator = await openOrchestrator({root, sources: {env: {SVC_DATA_DIR: `${root}/data`}}})
await waitAtGate(root)
const seen: [payload: string, deliveries: number | undefined][] = []
for (;;) {
  const request = {agent: 'bert', source: 'db' as const, claim: true, limit: 3}
  const {messages, unread_count} = readInbox(orchestrator, request, {owner, limit: 256})
  for (const {uuid = '', payload, delivery_attempts} of messages) {
    seen.push([payload, delivery_attempts])
    ackHere(orchestrator, {agent: 'bert', message: uuid}, owner)
  }
  if (unread_count === 0) break
  await sleep(1)
}
orchestrator.close()
process.stdout.write(`${JSON.stringify(seen)}\n`)
