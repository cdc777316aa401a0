import {createInterface} from 'node:readline/promises'
import {addAbortSignal, type Readable, Writable} from 'node:stream'
import {SvcError} from '../errors/index.js'

/** Longer lines are no secrets. */
const longestLine = 4096

/**
 * A secret from standard input, its first line: asked for on a terminal, which does not show it.
 * @throws usage where there is none; the reason of the signal
 */
export async function readSecret(question: string, signal: AbortSignal): Promise<string> {
  const {stdin} = process
  const line = stdin.isTTY === true ? await lineOfTerminal(question, signal) : await lineOfPipe(stdin, signal)
  const secret = line.trim()
  if (secret === '' || secret.length > longestLine)
    throw new SvcError('usage', {reason: 'Standard input has no token on its first line.'})
  return secret
}

/** The beginning of what may have no end and no lines. */
async function lineOfPipe(stdin: Readable, signal: AbortSignal): Promise<string> {
  let text = ''
  try {
    for await (const chunk of addAbortSignal(signal, stdin).setEncoding('utf8')) {
      text += chunk
      if (text.includes('\n') || text.length > longestLine) break
    }
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
  return text.split('\n')[0] ?? ''
}

async function lineOfTerminal(question: string, signal: AbortSignal): Promise<string> {
  const {stdin, stderr} = process
  const nowhere = new Writable({write: (_chunk, _encoding, done) => done()})
  const reader = createInterface({input: stdin, output: nowhere, terminal: true})
  const stopped = new AbortController()
  reader.once('SIGINT', () => stopped.abort(new SvcError('interrupted', {})))
  try {
    stderr.write(question)
    return await firstLine(reader, AbortSignal.any([signal, stopped.signal]))
  } finally {
    stderr.write('\n')
    reader.close()
    stdin.destroy()
  }
}

function firstLine(reader: ReturnType<typeof createInterface>, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    signal.addEventListener('abort', () => reject(signal.reason), {once: true})
    reader.once('line', resolve)
    reader.once('close', () => resolve(''))
  })
}
