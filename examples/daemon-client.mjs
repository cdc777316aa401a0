// A client of the daemon: JSON-RPC 2.0, one message per line. Start a daemon first, in the folder of the workspace:
//   svc daemon start && node examples/daemon-client.mjs "Explain what subtitles need"
import {readFileSync} from 'node:fs'
import {connect} from 'node:net'
import {createInterface} from 'node:readline'

const {addr} = JSON.parse(readFileSync('.svc/daemon.json', 'utf8'))
const socket = connect({host: addr.replace(/:\d+$/, ''), port: Number(addr.replace(/^.*:/, ''))})
const answers = new Map()
let events = () => {}

createInterface({input: socket}).on('line', (line) => {
  const message = JSON.parse(line)
  if (message.id === undefined) return events(message.params.event)
  const {resolve, reject} = answers.get(message.id)
  answers.delete(message.id)
  if (message.error) reject(new Error(`${message.error.message} ${message.error.data?.remediation ?? ''}`))
  else resolve(message.result)
})

let next = 1
const call = (method, params = {}) =>
  new Promise((resolve, reject) => {
    const id = next++
    answers.set(id, {resolve, reject})
    socket.write(`${JSON.stringify({jsonrpc: '2.0', id, method, params})}\n`)
  })

const token = process.env.SVC_DAEMON_TOKEN
const {server_version: version} = await call('orch.hello', {client: 'example', ...(token && {token})})
process.stdout.write(`daemon ${version} at ${addr}\n`)
await call('orch.events.subscribe', {types: ['task_started', 'task_completed', 'task_failed', 'task_cancelled']})
const {task_id: id, display_id: task} = await call('orch.submit_task', {
  description: process.argv[2] ?? 'Say hello',
  processor: 'external',
})
events = ({kind}) => {
  if (kind.task_id !== id) return
  process.stdout.write(`${task}: ${kind.type}\n`)
  if (kind.type !== 'task_started') socket.destroy()
}
// This client does the work itself: it claims the task, and completes it under its claim.
const {generation} = await call('orch.claim_task', {owner: 'example'})
await call('orch.complete_task', {task_id: id, generation, attestation: {completion_summary: 'Hello.'}})
