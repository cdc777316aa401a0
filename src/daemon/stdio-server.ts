import {setTimeout as sleep} from 'node:timers/promises'
import {Connection} from './connection.js'
import type {Server} from './server.js'
import type {Service} from './service.js'

/** Serves whoever started this process, over its standard input and output, which carry nothing else. */
export function serveStdio(service: Service): Server {
  const {stdin: input, stdout: output} = process
  let end: () => void = () => undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const connection = new Connection({
    service,
    transport: {
      name: 'stdio',
      input,
      output,
      // What is written last is out before the process is allowed to end.
      end: () => output.write('', () => end()),
      destroy: () => end(),
    },
  })
  input.once('end', () => connection.finish())
  input.once('error', () => connection.finish())
  output.once('error', () => end())
  return {
    address: undefined,
    ended,
    async close(graceMs) {
      connection.finish()
      await Promise.race([ended, sleep(graceMs, undefined, {ref: false})])
      connection.abandon()
      // An input that is read keeps the process alive.
      input.destroy()
    },
  }
}
