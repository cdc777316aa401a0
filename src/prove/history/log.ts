import {createReadStream, createWriteStream} from 'node:fs'
import {createInterface} from 'node:readline'
import type {Call, Copy, LogLine, Observed, RunEvent} from './history.js'

export interface Log {
  call(call: Call): void
  /** Logs the proxy's view of a call, once it can no longer take effect. */
  passed(passed: {id: number; fault?: string; copies: readonly Copy[]}): void
  event(event: RunEvent): void
  /** Resolves when every line is in the file. */
  close(): Promise<void>
}

/** Opens a JSON Lines log for appending. */
export function openLog(path: string): Log {
  const file = createWriteStream(path, {flags: 'a'})
  const write = (line: LogLine) => void file.write(`${JSON.stringify(line)}\n`)
  return {
    call: (call) => write({line: 'call', ...call}),
    passed: (passed) => write({line: 'passed', ...passed}),
    event: (event) => write({line: 'event', ...event}),
    close: () =>
      new Promise((resolve, reject) => {
        file.once('error', reject)
        file.end(resolve)
      }),
  }
}

/** Reads a log and joins each call with the proxy's view of it. Calls are in the order of sending. */
export async function readLog(path: string): Promise<{calls: Observed[]; events: RunEvent[]}> {
  const calls: Call[] = []
  const passed = new Map<number, {fault?: string; copies: readonly Copy[]}>()
  const events: RunEvent[] = []
  for await (const text of createInterface({input: createReadStream(path)})) {
    const {line, ...facts} = JSON.parse(text) as LogLine
    if (line === 'call') calls.push(facts as Call)
    else if (line === 'event') events.push(facts as RunEvent)
    else {
      const {id, ...rest} = facts as {id: number; fault?: string; copies: readonly Copy[]}
      passed.set(id, rest)
    }
  }
  return {
    calls: calls.map((call) => ({...call, copies: [], ...passed.get(call.id)})).sort((a, b) => a.sent - b.sent),
    events: events.sort((a, b) => a.at - b.at),
  }
}
