const levels = ['trace', 'debug', 'info', 'warn', 'error', 'off'] as const
type Level = (typeof levels)[number]

/** From which level each target is logged. */
export interface LogFilter {
  /** The level of a target, in pino's words. */
  level(target: string): Exclude<Level, 'off'> | 'silent'
  /** Directives that could not be read. */
  invalid: string[]
}

/**
 * Reads a filter such as `warn`, `speech_gpu=info` or `info,llm=debug`, the form of `RUST_LOG`. The longest matching
 * target wins (`llm=debug` also covers `llm.scheduler`); targets that nothing names follow the bare level, `warn` when
 * there is none.
 */
export function parseLogFilter(filter: string): LogFilter {
  const byTarget = new Map<string, Level>()
  const invalid: string[] = []
  let base: Level = 'warn'
  for (const directive of filter
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)) {
    const [left = '', right] = directive.split('=', 2).map((part) => part.trim())
    const level = toLevel(right ?? left)
    if (level === undefined || left === '') invalid.push(directive)
    else if (right === undefined) base = level
    else byTarget.set(left, level)
  }
  const targets = [...byTarget.keys()].sort((a, b) => b.length - a.length)
  return {
    invalid,
    level(target) {
      const match = targets.find((name) => target === name || target.startsWith(`${name}.`))
      const level = match === undefined ? base : (byTarget.get(match) ?? base)
      return level === 'off' ? 'silent' : level
    },
  }
}

const toLevel = (word: string): Level | undefined => levels.find((level) => level === word.toLowerCase())
