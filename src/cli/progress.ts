import type {QuantizeProgress} from '../weights/index.js'

export type ShowProgress = (detail: string) => void

/** `model.safetensors, 12.5 of 290.4 MB` */
export const byteProgress = (name: string, done: number, total: number): string =>
  `${name}, ${megabytes(done)} of ${megabytes(total)} MB`

export const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1)

let current: ShowProgress | undefined

/**
 * Runs a slow step and shows its progress in one line on standard error, which is cleared afterwards. Shows nothing if
 * standard error is not a terminal. A nested step is shown in the line of the outer one.
 *
 * @example const engine = await withProgress('Loading the model', !quiet, () => startEngine(model))
 */
export async function withProgress<T>(
  title: string,
  isEnabled: boolean,
  work: (show: ShowProgress) => Promise<T>,
): Promise<T> {
  if (!isEnabled || !process.stderr.isTTY) return work(() => undefined)
  if (current !== undefined) return workWithin(current, title, work)
  const {DefaultRenderer, Listr, ListrLogger, ProcessOutput} = await import('listr2')
  /** Draws on standard error even if standard output, on which listr2 decides by default, is not a terminal. */
  class StderrRenderer extends DefaultRenderer {
    static override nonTTY = true
  }
  const logger = new ListrLogger({processOutput: new ProcessOutput(process.stderr, process.stderr)})
  const task = async (context: {result?: T}, line: {title: string}) => {
    current = (detail) => {
      line.title = `${title}: ${detail}`
    }
    try {
      context.result = await work(current)
    } finally {
      current = undefined
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

/** Shows in the progress line, if there is one, that a model is loaded with fewer bits for the first time. */
export const showQuantising = ({done, total}: QuantizeProgress): void =>
  current?.(`quantising the weights, ${Math.floor((100 * done) / total)} %`)

function workWithin<T>(outer: ShowProgress, title: string, work: (show: ShowProgress) => Promise<T>): Promise<T> {
  const inner = title.charAt(0).toLowerCase() + title.slice(1)
  outer(inner)
  return work((detail) => outer(`${inner}: ${detail}`))
}
