/** Settings of a PostgreSQL server, by name. */
export type ServerSettings = Readonly<Record<string, string>>

/** Parameters of a URL that `pg` sends in the startup message. */
const startupParameters = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']

/**
 * Removes the server settings from the URL of a database: those of `options` (or else `PGOPTIONS`), and the timeouts.
 * @throws if `options` contains anything else
 */
export function splitUrl(url: string): {connectionString: string; settings: ServerSettings} {
  const [address = '', ...rest] = url.split('?')
  const query = new URLSearchParams(rest.join('?'))
  const options = settingsOf(query.get('options') ?? process.env.PGOPTIONS ?? '')
  const own = startupParameters.flatMap((name): [string, string][] => {
    const value = query.get(name)
    return value === null ? [] : [[name, value]]
  })
  for (const name of ['options', ...startupParameters]) query.delete(name)
  const kept = query.toString()
  return {
    connectionString: kept === '' ? address : `${address}?${kept}`,
    settings: {...options, ...Object.fromEntries(own)},
  }
}

/** Reads `-c name=value` and `--name=value`. A backslash precedes a blank within a value, as in libpq. */
function settingsOf(options: string): ServerSettings {
  const words = [...options.matchAll(/(?:\\.|[^\s\\])+/gs)].map(([word]) => word.replace(/\\(.)/gs, '$1'))
  const settings: Record<string, string> = {}
  for (let i = 0; i < words.length; i++) {
    const word = words[i] === '-c' ? `-c${words[++i] ?? ''}` : (words[i] as string)
    const [, name, value] = /^(?:-c|--)([\w.-]+)=(.*)$/s.exec(word) ?? []
    if (name === undefined || value === undefined)
      throw new Error(`its options may only contain settings, such as -c search_path=mesh, not ${word}`)
    settings[name.replaceAll('-', '_')] = value
  }
  return settings
}
