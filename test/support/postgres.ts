import {randomUUID} from 'node:crypto'
import {chownSync, existsSync, mkdtempSync, readdirSync, rmSync} from 'node:fs'
import {tmpdir, userInfo} from 'node:os'
import {join} from 'node:path'
import {execaSync, type SyncOptions} from 'execa'
import pg from 'pg'

const installed = '/usr/lib/postgresql'

/** Folder of `initdb` and `postgres`, newest version first; undefined if they are not installed. */
const programs = (existsSync(installed) ? readdirSync(installed) : [])
  .sort((a, b) => Number(b) - Number(a))
  .map((version) => join(installed, version, 'bin'))
  .find((folder) => existsSync(join(folder, 'initdb')))

const given = process.env.SVC_TEST_POSTGRES_URL

/** For the `skip` option of a test. Nothing is skipped in continuous integration. */
export const skipWithoutPostgres: string | false =
  programs !== undefined || given !== undefined || process.env.CI === 'true' ? false : 'needs PostgreSQL'

/** PostgreSQL refuses to run as root: its user, or nobody, runs it instead. */
function account(): Pick<SyncOptions, 'uid' | 'gid'> {
  if (userInfo().uid !== 0) return {}
  const idOf = (flag: string, user: string) => execaSync('id', [flag, user], {reject: false}).stdout ?? ''
  const user = idOf('-u', 'postgres') === '' ? 'nobody' : 'postgres'
  return {uid: Number(idOf('-u', user)), gid: Number(idOf('-g', user))}
}

/** Server with its own data, which listens only on a socket in a temporary folder. */
export class PostgresCluster {
  readonly #folder = mkdtempSync(join(tmpdir(), 'svc-postgres-'))
  readonly #account = account()

  constructor() {
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
    this.start()
    // A test that takes too long is terminated.
    process.once('SIGTERM', () => process.exit(143))
    process.once('exit', () => {
      this.stop('immediate')
      rmSync(this.#folder, {recursive: true, force: true})
    })
  }

  get #data(): string {
    return join(this.#folder, 'data')
  }

  /** URL of a database of this server. */
  urlOf(database: string): string {
    return `postgres://svc@${encodeURIComponent(this.#folder)}/${database}`
  }

  /** Starts the server and waits until it accepts connections. */
  start(): void {
    const settings = [
      `unix_socket_directories=${this.#folder}`,
      'listen_addresses=',
      'fsync=off',
      'full_page_writes=off',
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
      env: {LC_ALL: 'C.UTF-8'},
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
