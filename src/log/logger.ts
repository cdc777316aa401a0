import {type DestinationStream, destination, type Logger, pino} from 'pino'
import {parseLogFilter} from './filter.js'
import {redact, registerSecret} from './redact.js'
import {asTextLine} from './text.js'

export type {Logger} from 'pino'

export interface LogOptions {
  /** See `parseLogFilter`. */
  filter: string
  format: 'auto' | 'text' | 'json'
  /** Values that must never be printed. */
  secrets?: readonly string[]
  /** Default: standard error. */
  stream?: DestinationStream
}

interface Log {
  root: Logger
  level(target: string): string
}

let log: Log | undefined

/** Configures the log of the process. Existing loggers keep their settings. */
export function configureLog(options: LogOptions): void {
  for (const secret of options.secrets ?? []) registerSecret(secret)
  log = open(options)
  const {invalid} = parseLogFilter(options.filter)
  if (invalid.length > 0) logger('log').warn({invalid}, 'ignoring invalid parts of the log filter')
}

/**
 * Returns the logger of a target, such as `llm` or `svc.orchestrator.placement`.
 * @example logger('llm').info({tokens}, 'prefill done')
 */
export function logger(target: string): Logger {
  log ??= open({filter: 'warn', format: 'auto'})
  return log.root.child({target}, {level: log.level(target)})
}

function open({filter, format, stream = destination({fd: 2, sync: true})}: LogOptions): Log {
  const {level} = parseLogFilter(filter)
  const text = format === 'text' || (format === 'auto' && process.stderr.isTTY === true)
  const root = pino(
    {
      level: 'trace',
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {level: (label) => ({level: label})},
      hooks: {
        // Redact format arguments here, because pino converts them to text before `write`.
        logMethod(args, method) {
          const [first, ...formatted] = args
          method.apply(this, [first, ...formatted.map((arg) => redact(arg))] as typeof args)
        },
      },
    },
    {
      write(line: string) {
        const record = redact(JSON.parse(line))
        stream.write(text ? asTextLine(record) : `${JSON.stringify(record)}\n`)
      },
    },
  )
  return {root, level}
}
