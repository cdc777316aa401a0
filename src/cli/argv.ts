/** The arguments before any `--`, which may be flags. */
export function beforeSeparator(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--')
  return end === -1 ? argv : argv.slice(0, end)
}

/** True if `--json` occurs before any `--`. */
export const jsonRequested = (argv: readonly string[]): boolean => beforeSeparator(argv).includes('--json')
