import {randomBytes} from 'node:crypto'
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs'
import {dirname} from 'node:path'
import {writeFileAtomicSync} from '../files/index.js'

const keyForm = /^[\w-]{24}$/

/**
 * The key of a page: a secret in a file that only its owner can read. It stays the same, so that an open page works again
 * after a restart of its server. Deleting the file makes the next start create another key. If the file cannot be written,
 * the key is a new one.
 */
export function pageKey(path: string): string {
  const key = randomBytes(18).toString('base64url')
  try {
    mkdirSync(dirname(path), {recursive: true, mode: 0o700})
    writeFileSync(path, `${key}\n`, {flag: 'wx', mode: 0o600})
    return key
  } catch {
    return readKey(path) ?? replaceKey(path, key)
  }
}

/** Replaces a file without a whole key, which a full disk or a crash has left. */
function replaceKey(path: string, key: string): string {
  try {
    writeFileAtomicSync(path, `${key}\n`, {mode: 0o600})
  } catch {
    // The key then holds as long as its server.
  }
  return key
}

function readKey(path: string): string | undefined {
  try {
    const key = readFileSync(path, 'utf8').trim()
    return keyForm.test(key) ? key : undefined
  } catch {
    return undefined
  }
}
