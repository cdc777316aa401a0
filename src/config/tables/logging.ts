import {settings} from '../setting.js'
import {choice, text} from '../types.js'

export const loggingSettings = settings('log', () => ({
  filter: {
    type: text('a level, or a comma-separated list of target=level'),
    env: ['SVC_LOG', 'RUST_LOG'],
    toml: ['log.filter'],
    default: 'warn',
    doc: 'Log filter: a level (error, warn, info, debug, trace, off) or a list such as info,llm=debug.',
  },
  format: {
    type: choice('auto', 'text', 'json'),
    env: ['SVC_LOG_FORMAT'],
    toml: ['log.format'],
    default: 'auto',
    doc: 'Format of log lines; auto is text on a terminal and JSON elsewhere.',
  },
}))
