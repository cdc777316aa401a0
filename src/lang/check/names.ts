/** Converts `SessionEvent` to `session_event` and `HTTPRoute` to `http_route`. */
export const snakeCase = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()

/** Whether a table belongs to the store itself. */
export const isInternal = (sqlName: string): boolean => /^(sqlite_|svc_|codex_|_)/.test(sqlName)

const none: ReadonlySet<never> = new Set<never>()
/** Up to this number of items, a set costs more than comparing all. */
const few = 16

/** The items whose name an earlier item has, too. */
export function repeatedNames<I>(items: readonly I[], nameOf: (item: I) => string): ReadonlySet<I> {
  const names = items.map(nameOf)
  if (names.length > few ? new Set(names).size === names.length : names.every((name, i) => names.indexOf(name) === i))
    return none
  const seen = new Set<string>()
  return new Set(items.filter((_, i) => seen.size === seen.add(names[i] as string).size))
}
