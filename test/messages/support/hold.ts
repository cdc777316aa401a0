/** Claims all messages of bert, prints their number and never acknowledges them. Arguments: the workspace, the owner. */

import {readInbox} from '../../../src/messages/index.js'
import {openOrchestrator} from '../../../src/orchestrator/index.js'

const [root = '', owner = ''] = process.argv.slice(2)
const orchestrator = await openOrchestrator({root, sources: {env: {SVC_DATA_DIR: `${root}/data`}}})
const {messages} = readInbox(orchestrator, {agent: 'bert', source: 'db', claim: true}, {owner, limit: 256})
process.stdout.write(`${messages.length}\n`)
setInterval(() => undefined, 1000)
