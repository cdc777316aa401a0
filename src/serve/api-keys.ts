import {readFile, stat} from 'node:fs/promises'
import {SvcError} from '../errors/index.js'

/** A client that may use the server. */
export interface ClientKey {
  name: string
  key: string
  /** Part of the model that it gets while others wait, in relation to their weights. */
  weight: number
  requestsPerMinute?: number
  tokensPerMinute?: number
}

const maxKeys = 1000
const maxBytes = 1 << 20
const minKeyLength = 16
const maxWeight = 1000
const nameForm = /^[\w.-]{1,64}$/
const fields = new Set(['key', 'weight', 'requests_per_minute', 'tokens_per_minute'])

/**
 * Reads a TOML file with a table `[keys.NAME]` per client: `key`, `weight`, `requests_per_minute`, `tokens_per_minute`.
 * @throws api_keys_invalid, file_not_found
 */
export async function readApiKeys(path: string): Promise<ClientKey[]> {
  const refuse = (reason: string): never => {
    throw new SvcError('api_keys_invalid', {path, reason})
  }
  const {mode, size} = await stat(path).catch((error: unknown) => {
    throw SvcError.from(error)
  })
  // Windows has no such permissions.
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    refuse('other users can read it; restrict it with chmod 600')
  if (size > maxBytes) refuse(`it has more than ${maxBytes} bytes`)
  const {parse} = await import('smol-toml')
  const text = await readFile(path, 'utf8')
  let parsed: Record<string, unknown> = {}
  try {
    parsed = parse(text)
  } catch {
    // The message of the parser quotes the line, which may contain a key.
    refuse('it is not TOML')
  }
  const {keys, ...others} = parsed
  const [other] = Object.keys(others)
  if (other !== undefined) refuse(`${other} is not a known table`)
  const tables = Object.entries(Object(keys) as Record<string, unknown>)
  if (tables.length === 0 || tables.length > maxKeys) refuse(`it has no table [keys.NAME], or more than ${maxKeys}`)
  const read = tables.map(([name, table]) => readKey(name, Object(table) as Record<string, unknown>, refuse))
  const isRepeated = ({key}: ClientKey, i: number) => read.findIndex((other) => other.key === key) !== i
  const repeated = read.find(isRepeated)
  if (repeated !== undefined) refuse(`${repeated.name} has the same key as another name`)
  return read
}

function readKey(name: string, table: Record<string, unknown>, refuse: (reason: string) => never): ClientKey {
  const {key, weight = 1, requests_per_minute: requests, tokens_per_minute: tokens} = table
  const unknown = Object.keys(table).find((field) => !fields.has(field))
  if (!nameForm.test(name)) refuse('a name has other characters than letters, digits, _, . and -')
  if (unknown !== undefined) refuse(`${name} has the unknown field ${unknown}`)
  if (typeof key !== 'string' || !/^[\x21-\x7e]+$/.test(key) || key.length < minKeyLength)
    return refuse(`the key of ${name} is not a text of at least ${minKeyLength} visible ASCII characters`)
  const count = (value: unknown, field: string, max: number): number =>
    Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= max
      ? Number(value)
      : refuse(`${field} of ${name} is not an integer from 1 to ${max}`)
  return {
    name,
    key,
    weight: count(weight, 'weight', maxWeight),
    ...(requests === undefined ? {} : {requestsPerMinute: count(requests, 'requests_per_minute', 1e9)}),
    ...(tokens === undefined ? {} : {tokensPerMinute: count(tokens, 'tokens_per_minute', 1e12)}),
  }
}
