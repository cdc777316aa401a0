/** Says how far the work is. */
export type ShowProgress = (detail: string) => void

/** How far some bytes of something are. */
export const byteProgress = (what: string, done: number, total: number): string =>
  `${what}, ${megabytes(done)} of ${megabytes(total)} MB`

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1)

let shown: ShowProgress | undefined

/**
 * Shows what a slow step is doing, on standard error and only on a terminal, and wipes it afterwards; elsewhere the
 * work just runs. A step inside of another one is shown in its line.
 *
 * @example const engine = await withProgress('Loading the model', !quiet, () => startEngine(model))
 */
export async function withProgress<T>(
  title: string,
  wanted: boolean,
  work: (show: ShowProgress) => Promise<T>,
): Promise<T> {
  if (!wanted || !process.stderr.isTTY) return work(() => undefined)
  if (shown !== undefined) return workWithin(shown, title, work)
  const {DefaultRenderer, Listr, ListrLogger, ProcessOutput} = await import('listr2')
  /** The library draws on standard output, which is for results, and only where that is a terminal. */
  class StderrRenderer extends DefaultRenderer {
    static override nonTTY = true
  }
  const logger = new ListrLogger({processOutput: new ProcessOutput(process.stderr, process.stderr)})
  const task = async (context: {result?: T}, line: {title: string}) => {
    shown = (detail) => {
      line.title = `${title}: ${detail}`
    }
    try {
      context.result = await work(shown)
    } finally {
      shown = undefined
    }
  }
  const tasks = new Listr<{result?: T}, typeof StderrRenderer>([{title, task}], {
    renderer: StderrRenderer,
    rendererOptions: {logger, clearOutput: true},
    registerSignalListeners: false,
  })
  const {result} = await tasks.run({})
  return result as T
}

function workWithin<T>(outer: ShowProgress, title: string, work: (show: ShowProgress) => Promise<T>): Promise<T> {
  const inner = title.charAt(0).toLowerCase() + title.slice(1)
  outer(inner)
  return work((detail) => outer(`${inner}: ${detail}`))
}
