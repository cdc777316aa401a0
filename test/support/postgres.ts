import {randomUUID} from 'node:crypto'
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import {tmpdir, userInfo} from 'node:os'
import {join} from 'node:path'
import {execaSync, type SyncOptions} from 'execa'
import pg from 'pg'
import {skipUnless} from './programs.js'
import {selfSigned} from './self-signed.js'

const installed = '/usr/lib/postgresql'

/** Folder of `initdb` and `postgres`, newest version first; undefined if they are not installed. */
const programs = (existsSync(installed) ? readdirSync(installed) : [])
  .sort((a, b) => Number(b) - Number(a))
  .map((version) => join(installed, version, 'bin'))
  .find((folder) => existsSync(join(folder, 'initdb')))

const given = process.env.SVC_TEST_POSTGRES_URL

/** For the `skip` option of a test. */
export const skipWithoutPostgres = skipUnless('PostgreSQL', programs !== undefined || given !== undefined)

/** PostgreSQL refuses to run as root: its user, or `nobody`, runs it instead. */
export function account(): Pick<SyncOptions, 'uid' | 'gid'> {
  if (userInfo().uid !== 0) return {}
  const idOf = (flag: string, user: string) => execaSync('id', [flag, user], {reject: false}).stdout ?? ''
  const user = idOf('-u', 'postgres') === '' ? 'nobody' : 'postgres'
  return {uid: Number(idOf('-u', user)), gid: Number(idOf('-g', user))}
}

/** Library with which the clock of a program can be moved; undefined if it is not installed. */
const fakeTime = ['x86_64', 'aarch64']
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`)
  .find((path) => existsSync(path))

/** Size of the file system of a small database, MiB. */
const smallMb = 32

/** Server with its own data, which listens only on a socket in a temporary folder. */
export class PostgresCluster {
  readonly #folder = mkdtempSync(join(tmpdir(), 'svc-postgres-'))
  readonly #account = account()
  readonly #environment: Readonly<Record<string, string>>
  readonly #isDurable: boolean
  readonly #port: number | undefined
  #mounted: string | undefined

  /**
   * @param hasOwnClock true for a clock that `setClock` moves, if that is possible here
   * @param isDurable true to flush every commit to disk, which only benchmarks need
   * @param port TCP port of localhost for connections with TLS and a password; otherwise, the server only has a socket
   */
  constructor({
    hasOwnClock = false,
    isDurable = false,
    port,
  }: {hasOwnClock?: boolean; isDurable?: boolean; port?: number} = {}) {
    this.#isDurable = isDurable
    this.#port = port
    this.#environment =
      hasOwnClock && fakeTime !== undefined
        ? {
            LD_PRELOAD: fakeTime,
            FAKETIME_TIMESTAMP_FILE: join(this.#folder, 'clock'),
            FAKETIME_NO_CACHE: '1',
            FAKETIME_DONT_FAKE_MONOTONIC: '1',
          }
        : {}
    if (this.setClock !== undefined) writeFileSync(join(this.#folder, 'clock'), '+0')
    const {uid, gid} = this.#account
    if (uid !== undefined && gid !== undefined) chownSync(this.#folder, uid, gid)
    this.#run('initdb', [
      '--pgdata',
      this.#data,
      '--username',
      'svc',
      '--auth',
      'trust',
      '--encoding',
      'UTF8',
      '--no-sync',
    ])
    if (port !== undefined) this.#secure()
    this.start()
    // A test that takes too long is terminated.
    process.once('SIGTERM', () => process.exit(143))
    process.once('exit', () => {
      this.stop('immediate')
      if (this.#mounted !== undefined) execaSync('umount', [this.#mounted], {reject: false})
      rmSync(this.#folder, {recursive: true, force: true})
    })
  }

  /** Sets the offset of the clock of the server, ms; undefined if it has no clock of its own. */
  get setClock(): ((ms: number) => Promise<void>) | undefined {
    if (this.#environment.LD_PRELOAD === undefined) return undefined
    return async (ms) => {
      const path = join(this.#folder, 'clock')
      writeFileSync(`${path}.new`, `${ms < 0 ? '-' : '+'}${Math.abs(ms) / 1000}`)
      renameSync(`${path}.new`, path)
    }
  }

  /**
   * Creates a database on a file system of its own, which can be filled; an ordinary one if this process must not mount
   * file systems.
   */
  async createSmallDatabase(name: string): Promise<{url: string; setFull?: (isFull: boolean) => Promise<void>}> {
    const url = this.urlOf(name)
    const folder = join(this.#folder, 'small')
    const {uid, gid} = this.#account
    mkdirSync(folder)
    const mounting = ['-t', 'tmpfs', '-o', `size=${smallMb}m`, 'tmpfs', folder]
    if (execaSync('mount', mounting, {reject: false}).exitCode !== 0) {
      await runSql(this.urlOf('postgres'), `CREATE DATABASE "${name}" TEMPLATE template0`)
      return {url}
    }
    this.#mounted = folder
    const data = join(folder, 'data')
    mkdirSync(data)
    if (uid !== undefined && gid !== undefined) chownSync(data, uid, gid)
    await runSql(this.urlOf('postgres'), `CREATE TABLESPACE "${name}" LOCATION '${data}'`)
    await runSql(this.urlOf('postgres'), `CREATE DATABASE "${name}" TEMPLATE template0 TABLESPACE "${name}"`)
    const filler = join(folder, 'filler')
    return {
      url,
      async setFull(isFull) {
        if (isFull) execaSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=64k'], {reject: false})
        else rmSync(filler, {force: true})
      },
    }
  }

  /** Certificate of the server, which signs itself. */
  get certificate(): string {
    return join(this.#data, 'server.crt')
  }

  #secure(): void {
    const {cert, key} = selfSigned()
    const {uid, gid} = this.#account
    const keyFile = join(this.#data, 'server.key')
    writeFileSync(this.certificate, cert)
    writeFileSync(keyFile, key, {mode: 0o600})
    if (uid !== undefined && gid !== undefined) chownSync(keyFile, uid, gid)
    writeFileSync(join(this.#data, 'pg_hba.conf'), 'local all all trust\nhostssl all all all scram-sha-256\n')
  }

  get #data(): string {
    return join(this.#folder, 'data')
  }

  get pid(): number {
    return Number.parseInt(readFileSync(join(this.#data, 'postmaster.pid'), 'utf8'), 10)
  }

  /** URL of a database of this server. */
  urlOf(database: string): string {
    const port = this.#port === undefined ? '' : `:${this.#port}`
    return `postgres://svc@${encodeURIComponent(this.#folder)}${port}/${database}`
  }

  /** Starts the server and waits until it accepts connections. */
  start(): void {
    const settings = [
      `unix_socket_directories=${this.#folder}`,
      ...(this.#port === undefined
        ? ['listen_addresses=']
        : ['listen_addresses=localhost', `port=${this.#port}`, 'ssl=on']),
      ...(this.#isDurable ? [] : ['fsync=off', 'full_page_writes=off']),
      'max_connections=300',
    ]
    const options = settings.map((setting) => `-c ${setting}`).join(' ')
    this.#run('pg_ctl', [
      'start',
      '--wait',
      '--pgdata',
      this.#data,
      '--log',
      join(this.#folder, 'log'),
      '--options',
      options,
    ])
  }

  /** @param mode `immediate` is like a crash */
  stop(mode: 'fast' | 'immediate'): void {
    this.#run('pg_ctl', ['stop', '--wait', '--pgdata', this.#data, '--mode', mode], false)
  }

  #run(program: string, args: readonly string[], reject = true): void {
    execaSync(join(programs ?? '', program), args, {
      ...this.#account,
      cwd: this.#folder,
      // The server would keep a pipe open.
      stdio: ['ignore', 'ignore', program === 'initdb' ? 'pipe' : 'ignore'],
      env: {LC_ALL: 'C.UTF-8', ...(program === 'pg_ctl' ? this.#environment : {})},
      reject,
    })
  }
}

let shared: PostgresCluster | undefined

/** URL of a database of the server that the tests of this process share. */
function sharedUrl(database: string): string {
  if (given === undefined) {
    shared ??= new PostgresCluster()
    return shared.urlOf(database)
  }
  const url = new URL(given)
  url.pathname = `/${database}`
  return url.href
}

/** Runs a statement in a database. */
export async function runSql<T extends pg.QueryResultRow>(url: string, sql: string): Promise<T[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query<T>(sql)).rows
  } finally {
    await client.end()
  }
}

/**
 * Creates a database.
 * @param template database to copy
 * @returns its URL
 */
export async function createDatabase({name = `svc_${randomUUID()}`, template = 'template0'} = {}): Promise<string> {
  await runSql(given ?? sharedUrl('postgres'), `CREATE DATABASE "${name}" TEMPLATE "${template}"`)
  return sharedUrl(name)
}
