const levels = ['trace', 'debug', 'info', 'warn', 'error', 'off'] as const
type Level = (typeof levels)[number]

/** Minimum log level by target. */
export interface LogFilter {
  /** Level of a target, as named by pino. */
  level(target: string): Exclude<Level, 'off'> | 'silent'
  /** Invalid directives. */
  invalid: string[]
}

/**
 * Parses a filter such as `warn`, `speech_gpu=info` or `info,llm=debug` (the syntax of `RUST_LOG`). The longest
 * matching target wins; `llm=debug` also matches `llm.scheduler`. Other targets have the level without a target,
 * default `warn`.
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
