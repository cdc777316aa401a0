/** Views of a page by the fragment of its address: `#/tasks/12?status=Failed`. */

/** The segments and parameters of the current address. */
export function currentRoute() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?')
  return {segments: path.split('/').filter(Boolean).map(decodeURIComponent), query: new URLSearchParams(query)}
}

/** Address of a view. @param query values by name; empty ones are left out */
export function addressOf(segments, query = {}) {
  const values = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(values).toString()
  return `#/${segments.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`
}

/** Calls a function with the route now and whenever it changes. */
export function onRoute(show) {
  addEventListener('hashchange', () => show(currentRoute()))
  show(currentRoute())
}
