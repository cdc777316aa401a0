/** The log: pino on standard error, filtered by target, with secrets removed. Results never go here. */
export {type LogFilter, parseLogFilter} from './filter.js'
export {configureLog, type Logger, type LogOptions, logger} from './logger.js'
export {redact, redactedStream, registerSecret} from './redact.js'
