import {createInterface} from 'node:readline/promises'
import {addAbortSignal, type Readable, Writable} from 'node:stream'
import {SvcError} from '../errors/index.js'
import {onAbort} from '../process/index.js'

/** Maximum length of a secret, characters. */
const maxLineLength = 4096

/**
 * Reads a secret from the first line of standard input; on a terminal, prompts for it without echo.
 * @throws usage if there is none; the abort reason of the signal
 */
export async function readSecret(question: string, signal: AbortSignal): Promise<string> {
  const {stdin} = process
  const line = stdin.isTTY === true ? await lineOfTerminal(question, signal) : await lineOfPipe(stdin, signal)
  const secret = line.trim()
  if (secret === '' || secret.length > maxLineLength)
    throw new SvcError('usage', {reason: 'The first line of standard input contains no token.'})
  return secret
}

/** Stops after the maximum length: the input may be endless and have no newline. */
async function lineOfPipe(stdin: Readable, signal: AbortSignal): Promise<string> {
  let text = ''
  try {
    for await (const chunk of addAbortSignal(signal, stdin).setEncoding('utf8')) {
      text += chunk
      if (text.includes('\n') || text.length > maxLineLength) break
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
    onAbort(signal, reject)
    reader.once('line', resolve)
    reader.once('close', () => resolve(''))
  })
}
