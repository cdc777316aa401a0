/**
 * A process that sends one message in a workspace and prints the resulting history. Arguments: the workspace, the URL
 * of the inference server, the message.
 */
import {sendMessage} from '../../../src/assistant/index.js'
import {journeyOf, openTestAssistant, unstopped} from './open-test-assistant.js'

const [root = '', url = '', prompt = ''] = process.argv.slice(2)
const endings: (() => unknown)[] = []
const {assistant} = await openTestAssistant(
  {after: (ending) => void endings.push(ending as () => unknown)},
  {root, url},
)
const {history} = await sendMessage(assistant, {prompt}, journeyOf(), unstopped)
process.stdout.write(JSON.stringify(history))
for (const end of endings) end()
