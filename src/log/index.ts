/** Logging with pino to standard error, filtered by target, with secrets redacted. Results are never logged. */
export {type LogFilter, parseLogFilter} from './filter.js'
export {configureLog, type Logger, type LogOptions, logger} from './logger.js'
export {redact, redactedStream, registerSecret} from './redact.js'
