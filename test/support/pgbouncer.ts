import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {chown, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import type {TestContext} from 'node:test'
import {freePort} from '../../src/net/index.js'
import {account} from './postgres.js'
import {findProgram} from './programs.js'
import {temporaryFolder} from './temporary.js'

/**
 * Starts PgBouncer in front of the server of a database.
 * @param settings lines of its configuration, such as `pool_mode = session`
 * @returns the URL of the database through the proxy
 */
export async function startPgBouncer(test: TestContext, url: string, settings: readonly string[]): Promise<string> {
  const folder = await temporaryFolder(test)
  const {hostname, port, pathname, username, password} = new URL(url)
  const server = [
    `host=${decodeURIComponent(hostname)}`,
    ...(port === '' ? [] : [`port=${port}`]),
    ...(password === '' ? [] : [`password=${decodeURIComponent(password)}`]),
  ]
  const file = join(folder, 'pgbouncer.ini')
  const users = join(folder, 'users')
  const listenPort = await freePort()
  await writeFile(users, `"${username}" ""\n`)
  const lines = [
    '[databases]',
    `* = ${server.join(' ')}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${listenPort}`,
    'unix_socket_dir =',
    'auth_type = trust',
    `auth_file = ${users}`,
    ...settings,
  ]
  await writeFile(file, `${lines.join('\n')}\n`)
  // It refuses to run as root.
  const {uid, gid} = account()
  if (uid !== undefined && gid !== undefined) for (const path of [folder, file, users]) await chown(path, uid, gid)
  const child = spawn(findProgram('pgbouncer') ?? '', [file], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(uid === undefined || gid === undefined ? {} : {uid, gid}),
  })
  const ended = once(child, 'exit')
  test.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const log: string[] = []
  for await (const line of createInterface({input: child.stderr})) {
    log.push(line)
    if (line.includes('process up')) {
      child.stderr.resume()
      return `postgres://${username}@127.0.0.1:${listenPort}${pathname}`
    }
  }
  throw new Error(`PgBouncer did not start: ${log.join('\n')}`)
}
