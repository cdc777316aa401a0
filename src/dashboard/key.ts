import {randomBytes} from 'node:crypto'
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs'
import {dirname, join} from 'node:path'

/** The file with the key of the dashboard of a workspace. Deleting it makes the next start create another key. */
export const keyPath = (root: string): string => join(root, '.svc', 'dashboard.key')

const keyForm = /^[\w-]{24}$/

/**
 * The key of the dashboard of a workspace: a secret in a file that only its owner can read. It stays the same, so that an
 * open page works again after a restart of the server. If the file cannot be written, the key is a new one.
 */
export function dashboardKey(root: string): string {
  const path = keyPath(root)
  const key = randomBytes(18).toString('base64url')
  try {
    mkdirSync(dirname(path), {recursive: true, mode: 0o700})
    writeFileSync(path, `${key}\n`, {flag: 'wx', mode: 0o600})
    return key
  } catch {
    return readKey(path) ?? key
  }
}

function readKey(path: string): string | undefined {
  try {
    const key = readFileSync(path, 'utf8').trim()
    return keyForm.test(key) ? key : undefined
  } catch {
    return undefined
  }
}
