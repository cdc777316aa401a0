/** The arguments before any `--`, which may be flags. */
export function beforeSeparator(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--')
  return end === -1 ? argv : argv.slice(0, end)
}

/** True if `--json` occurs before any `--`, and is not switched off by `--json=false`. */
export const jsonRequested = (argv: readonly string[]): boolean =>
  /^--json(=(true|1|yes))?$/i.test(beforeSeparator(argv).findLast((word) => /^--json(=|$)/.test(word)) ?? '')
