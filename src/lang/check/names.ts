/** Converts `SessionEvent` to `session_event` and `HTTPRoute` to `http_route`. */
export const snakeCase = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()

/** Whether a table belongs to the store itself. */
export const isInternal = (sqlName: string): boolean => /^(sqlite_|svc_|codex_|_)/.test(sqlName)
