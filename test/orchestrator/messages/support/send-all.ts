/**
 * A sender in a process of its own: sends so many messages from anna to bert, each with its number. Prints the uuids, and
 * how many were there already. Arguments: the workspace, how many, and `keys` where each has a key of its own.
 */
import {openOrchestrator, sendMessage} from '../../../../src/orchestrator/index.js'
import {waitAtGate} from './gate.js'

const [root = '', count = '0', keys = ''] = process.argv.slice(2)
const orchestrator = await openOrchestrator({root, sources: {env: {SVC_DATA_DIR: `${root}/data`}}})
await waitAtGate(root)
const uuids: (string | null)[] = []
let duplicates = 0
for (let i = 0; i < Number(count); i++) {
  const message = {sender: 'anna', receiver: 'bert', type: 'progress_update', payload: String(i), route: 'db' as const}
  const sent = sendMessage(orchestrator, keys === 'keys' ? {...message, key: `k-${i}`} : message)
  uuids.push(sent.db_message_uuid)
  if (sent.duplicate) duplicates++
}
orchestrator.close()
process.stdout.write(JSON.stringify({uuids, duplicates}))
