/** The secret that a page sends with its requests. It comes from the fragment of the address, `#token=…`. */

const stored = 'svc-token'
let key = keyOfAddress() ?? sessionStorage.getItem(stored) ?? undefined
addEventListener('hashchange', () => {
  key = keyOfAddress() ?? key
})

/** Takes the key out of the address bar, so that it is not in the history or in a copied address. */
function keyOfAddress() {
  const text = /^#token=(.+)$/.exec(location.hash)?.[1]
  if (text === undefined) return undefined
  history.replaceState(null, '', location.pathname)
  const found = decodeURIComponent(text)
  sessionStorage.setItem(stored, found)
  return found
}

/** Keeps a key for this tab. */
export function storeKey(next) {
  key = next
  sessionStorage.setItem(stored, next)
}

export const currentKey = () => key

/** Header with the key. */
export const authorization = () => (key === undefined ? {} : {authorization: `Bearer ${key}`})
