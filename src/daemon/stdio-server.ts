import {setTimeout as sleep} from 'node:timers/promises'
import {Connection} from './connection.js'
import type {Server} from './server.js'
import type {Service} from './service.js'

/** Serves the parent process over standard input and output, which must not be used otherwise. */
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
      // Wait until the last output is flushed before the process may exit.
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
      // An open input would keep the process alive.
      input.destroy()
    },
  }
}
