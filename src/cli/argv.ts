/** True if `--json` occurs before any `--`. */
export function jsonRequested(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return (end === -1 ? argv : argv.slice(0, end)).includes('--json')
}
