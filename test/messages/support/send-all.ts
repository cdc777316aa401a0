/**
 * A sender process: sends numbered messages from anna to bert, each with its own key, then as many without a key.
 * Prints the uuids of both kinds and the numbers of duplicates. Arguments: the workspace, the number of messages.
 */

import {sendMessage} from '../../../src/messages/index.js'
import {openOrchestrator} from '../../../src/orchestrator/index.js'
import {waitAtGate} from './gate.js'

export interface AllSent {
  uuids: (string | null)[]
  duplicates: number
}

const [root = '', count = '0'] = process.argv.slice(2)
const orchestrator = await openOrchestrator({root, sources: {env: {SVC_DATA_DIR: `${root}/data`}}})
await waitAtGate(root)

function sendAll(keyOf: (i: number) => {key?: string}, name: string): AllSent {
  const sent = Array.from({length: Number(count)}, (_, i) =>
    sendMessage(orchestrator, {
      sender: 'anna',
      receiver: 'bert',
      type: 'progress_update',
      payload: `${name} ${i}`,
      route: 'db',
      ...keyOf(i),
    }),
  )
  return {uuids: sent.map((each) => each.db_message_uuid), duplicates: sent.filter((each) => each.duplicate).length}
}

const sent = {keys: sendAll((i) => ({key: `k-${i}`}), 'keys'), none: sendAll(() => ({}), 'none')}
orchestrator.close()
process.stdout.write(`${JSON.stringify(sent)}\n`)
