import {createInterface, type Interface} from 'node:readline'
import {Writable} from 'node:stream'
import {onAbort} from '../process/index.js'
import {type LineHistory, maxLines} from './line-history.js'

interface LineReaderOptions {
  prompt: string
  /** Of lines that are typed on a terminal. */
  history?: LineHistory | undefined
  signal: AbortSignal
}

/** Number of lines of a file or a pipe that are read before they are wanted. */
const maxWaiting = 1000

/** Terminals mark pasted text between these modes. */
const markPastes = '\x1b[?2004h'
const unmarkPastes = '\x1b[?2004l'

/**
 * Reads lines from standard input. On a terminal, they can be edited, and Ctrl-C clears the line, or ends the input if it is
 * empty. The lines of a pasted text are one line of the input.
 */
export class LineReader {
  readonly isTerminal = process.stdin.isTTY === true
  readonly #prompt: string
  readonly #history: LineHistory | undefined
  readonly #screen = new Screen()
  readonly #lines: Interface
  readonly #typed: string[] = []
  readonly #undo: (() => void)[] = []
  #pasted: string[] = []
  #isPasting = false
  #isClosed = false
  #wake = () => {}
  /** Cancels the work that runs. */
  #working: AbortController | undefined

  constructor({prompt, history, signal}: LineReaderOptions) {
    const {stdin} = process
    this.#prompt = prompt
    this.#history = this.isTerminal ? history : undefined
    this.#lines = createInterface({
      input: stdin,
      output: this.#screen,
      terminal: this.isTerminal,
      historySize: maxLines,
      removeHistoryDuplicates: true,
      ...(this.#history && {history: [...this.#history.lines]}),
    })
    this.#lines.on('line', (line) => this.#receive(line))
    this.#lines.on('close', () => {
      this.#isClosed = true
      this.#working?.abort()
      this.#wake()
    })
    this.#undo.push(onAbort(signal, () => this.#lines.close()))
    if (this.isTerminal) this.#readKeys()
  }

  /** The next line, without its line break; undefined at the end of the input. */
  async next(prompt = this.#prompt): Promise<string | undefined> {
    const isWaiting = this.#typed.length === 0
    if (this.isTerminal && !this.#isClosed) {
      this.#lines.setPrompt(prompt)
      // The line may have been begun during the work.
      if (isWaiting) this.#lines.prompt(true)
    }
    if (isWaiting && !this.isTerminal && !this.#isClosed) this.#lines.resume()
    if (isWaiting && !this.#isClosed)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    const line = this.#typed.shift()
    if (line !== undefined && !isWaiting && this.isTerminal) process.stderr.write(`${prompt}${line}\n`)
    return line
  }

  /**
   * Does work. What is typed meanwhile is not shown, but kept for the next line.
   * @param work its signal aborts on Ctrl-C, or at the end of the input
   */
  async during<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const working = new AbortController()
    this.#working = working
    if (this.#isClosed && this.isTerminal) working.abort()
    this.#screen.isMuted = true
    try {
      return await work(working.signal)
    } finally {
      this.#working = undefined
      this.#screen.isMuted = false
    }
  }

  close(): void {
    for (const undo of this.#undo) undo()
    this.#lines.close()
  }

  #receive(line: string): void {
    if (this.#isPasting) {
      this.#pasted.push(line)
      return
    }
    const whole = [...this.#pasted, line].join('\n')
    this.#pasted = []
    for (const each of whole.split('\n')) this.#history?.add(each)
    this.#typed.push(whole)
    if (!this.isTerminal && this.#typed.length >= maxWaiting) this.#lines.pause()
    this.#wake()
  }

  #readKeys(): void {
    const {stdin, stderr} = process
    const onKey = (_: string | undefined, {name}: {name?: string | undefined}) => {
      if (name === 'paste-start') this.#isPasting = true
      if (name === 'paste-end') this.#isPasting = false
    }
    stdin.on('keypress', onKey)
    this.#lines.on('SIGINT', () => this.#interrupt())
    stderr.write(markPastes)
    this.#undo.push(() => {
      stdin.off('keypress', onKey)
      stderr.write(unmarkPastes)
    })
  }

  #interrupt(): void {
    if (this.#working !== undefined) {
      this.#working.abort()
      return
    }
    const isEmpty = this.#lines.line === '' && this.#pasted.length === 0
    this.#pasted = []
    process.stderr.write('^C\n')
    if (isEmpty) {
      this.#lines.close()
      return
    }
    // Ctrl-U and Ctrl-K delete what is before and after the cursor.
    this.#lines.write(null, {ctrl: true, name: 'u'})
    this.#lines.write(null, {ctrl: true, name: 'k'})
  }
}

/** Standard error, as a terminal that can be muted. */
class Screen extends Writable {
  isMuted = false

  constructor() {
    super({
      write: (chunk, _encoding, done) => {
        if (this.isMuted) done()
        else process.stderr.write(chunk, done)
      },
      decodeStrings: false,
    })
    process.stderr.on('resize', () => this.emit('resize'))
  }

  get columns(): number | undefined {
    return process.stderr.columns
  }
}
