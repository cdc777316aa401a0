import {createRequire} from 'node:module'
import type {DestinationStream, Logger as PinoLogger} from 'pino'
import {parseLogFilter} from './filter.js'
import {redact, registerSecret} from './redact.js'
import {asTextLine} from './text.js'

/** In ascending order. */
const methods = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const
type Method = (typeof methods)[number]

export type Logger = Pick<PinoLogger, Method | 'silent' | 'child' | 'level' | 'isLevelEnabled'>

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
  /** Returns the logger that writes. */
  root(): PinoLogger
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
  const {root, level: levelOf} = log
  const level = levelOf(target)
  const minLevel = level === 'silent' ? methods.length : methods.indexOf(level as Method)
  let opened: PinoLogger | undefined
  const writer = () => (opened ??= root().child({target}, {level}))
  const entries = methods.map((method, at) => [
    method,
    at < minLevel ? ignore : (...args: Parameters<PinoLogger[Method]>) => writer()[method](...args),
  ])
  return {
    ...(Object.fromEntries(entries) as Pick<PinoLogger, Method>),
    silent: ignore,
    child: (...args: Parameters<PinoLogger['child']>) => writer().child(...args),
    level,
    isLevelEnabled: (asked) => methods.indexOf(asked as Method) >= minLevel,
  } as Logger
}

const ignore = () => undefined

/** Loads pino for the first line: most commands write none. */
function open({filter, format, stream}: LogOptions): Log {
  const {level} = parseLogFilter(filter)
  let root: PinoLogger | undefined
  return {root: () => (root ??= openWriter(format, stream)), level}
}

/** Size of the lines that are kept in memory until standard error can be written again, bytes. */
const maxKeptBytes = 1 << 20

/**
 * A server continues if its log is on a full disk: some lines are written later, and the rest is dropped. Without a listener,
 * the call that logs would throw.
 */
function openStandardError(destination: typeof import('pino').destination): DestinationStream {
  const stream = destination({fd: 2, sync: true, maxLength: maxKeptBytes})
  stream.on('error', () => {})
  return stream
}

/**
 * What explains an error of the catalogue, unless it is a fault of this program: a stack would only hide it. This module must
 * not import the catalogue, so it recognises such errors by their name.
 */
function ofKnownError(error: unknown): object | undefined {
  if (!(error instanceof Error) || error.name !== 'SvcError') return undefined
  const {code, message, hint, status} = error as Error & {code: string; hint: string; status: number}
  return status >= 500 ? undefined : {code, message, hint}
}

function openWriter(format: LogOptions['format'], given: DestinationStream | undefined): PinoLogger {
  const load = createRequire(import.meta.url)
  const {pino, destination} = load('pino') as typeof import('pino')
  const stream = given ?? openStandardError(destination)
  const text = format === 'text' || (format === 'auto' && process.stderr.isTTY === true)
  return pino(
    {
      level: 'trace',
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: {err: (error: unknown) => ofKnownError(error) ?? pino.stdSerializers.err(error as Error)},
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
}
