/** Opens streams and counts their events: prints `ready`, then the number of events once all streams are complete. */
import {once} from 'node:events'
import {get, type IncomingMessage} from 'node:http'

const [url = '', count = '1', wanted = '1'] = process.argv.slice(2)
const expected = Number(count) * Number(wanted)
const mark = Buffer.from('event: change')
let received = 0

/** Counts the marks of a stream, including marks split between two chunks. */
function counter(): (chunk: Buffer) => void {
  let tail = Buffer.alloc(0)
  return (chunk) => {
    const bytes = Buffer.concat([tail, chunk])
    let end = 0
    for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, end)) {
      received++
      end = at + mark.length
    }
    tail = bytes.subarray(Math.max(end, bytes.length - mark.length + 1))
    if (received === expected) process.stdout.write(`${received}\n`)
  }
}

for (let i = 0; i < Number(count); i++) {
  const [response] = (await once(get(url, {agent: false}), 'response')) as [IncomingMessage]
  response.on('data', counter())
}
process.stdout.write('ready\n')
