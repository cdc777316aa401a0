import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import pg from 'pg'
import {openPostgresMeshStore} from '../../../../src/mesh/store/postgres/open.js'
import {splitUrl} from '../../../../src/mesh/store/postgres/server-settings.js'
import {exportPostgresMesh} from '../../../../src/mesh/store/postgres/transfer.js'
import {startPgBouncer} from '../../../support/pgbouncer.js'
import {createDatabase, runSql, skipWithoutPostgres} from '../../../support/postgres.js'
import {skipWithoutProgram} from '../../../support/programs.js'
import {until} from '../../../support/until.js'
import {message, refused} from '../conformance/story.js'
import {limits, newStoreDatabase, openAt} from './open-store.js'

/** The usual setting of PgBouncer for drivers that send these parameters. */
const ignored = 'ignore_startup_parameters = extra_float_digits, statement_timeout, idle_in_transaction_session_timeout'

/** Starts a proxy with these settings for a database with the tables of a store. */
async function proxied(t: TestContext, ...settings: string[]): Promise<{direct: string; url: string}> {
  const direct = await newStoreDatabase()
  return {direct, url: await startPgBouncer(t, direct, settings)}
}

const timeouts = `SELECT current_setting('statement_timeout') AS statement,
  current_setting('idle_in_transaction_session_timeout') AS idle`

/** Opens another connection, which may end before or after the proxy. */
async function connect(t: TestContext, url: string): Promise<pg.Client> {
  const client = new pg.Client(url).on('error', () => undefined)
  await client.connect()
  t.after(() => client.end())
  return client
}

/** Records both timeouts at each delivery, as the connection of the pool has them. */
const recordTimeouts = `CREATE TABLE timeouts (statement text, idle text);
CREATE FUNCTION record() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO timeouts ${timeouts}; RETURN new; END $$;
CREATE TRIGGER record BEFORE INSERT ON mesh_messages FOR EACH ROW EXECUTE FUNCTION record()`

const skip = skipWithoutPostgres || skipWithoutProgram('pgbouncer')

describe('a PostgreSQL mesh store behind PgBouncer', {skip}, () => {
  for (const settings of [['pool_mode = session'], ['pool_mode = session', ignored]])
    it(`keeps its limits of time with ${settings.join(' and ')}`, async (t) => {
      const {direct, url} = await proxied(t, ...settings)
      await runSql(direct, recordTimeouts)
      const store = await openAt(t, url, {statementTimeoutMs: 7000})
      await store.deliver('', message())
      assert.deepEqual(await runSql(direct, 'SELECT * FROM timeouts'), [{statement: '7s', idle: '7s'}])
    })

  it('exchanges notifications with other stores, and ignores its own', async (t) => {
    const {direct, url} = await proxied(t, 'pool_mode = session')
    const [here, there] = [await openAt(t, url), await openAt(t, direct)]
    const own: unknown[] = []
    here.onArrival?.((arrival) => own.push(arrival))
    const arrived = new Promise((resolve) => there.onArrival?.(resolve))
    await here.deliver('', message())
    await arrived
    const back = new Promise((resolve) => here.onArrival?.(resolve))
    await there.deliver('', message())
    await back
    assert.equal(own.length, 1)
    assert.equal((await here.replicas()).length, 2)
    await here.close()
    // The proxy keeps the connection, without the lock of this session.
    await until(async () => (await there.replicas()).length === 1, 'the closed store is not listed')
  })

  it('uses the search path of its URL', async (t) => {
    const direct = await createDatabase()
    await runSql(direct, 'CREATE SCHEMA mesh')
    const url = await startPgBouncer(t, direct, ['pool_mode = session', 'ignore_startup_parameters = options'])
    const store = await openAt(t, `${url}?options=-c%20search_path%3Dmesh`)
    await store.deliver('', message())
    assert.deepEqual(await runSql(direct, 'SELECT count(*)::int FROM mesh.mesh_messages'), [{count: 1}])
  })

  for (const mode of ['transaction', 'statement'])
    it(`is refused with ${mode} pooling, whose sessions do not last`, async (t) => {
      const {url} = await proxied(t, `pool_mode = ${mode}`, ignored)
      // Another client of the same pool, so that it has several connections.
      const other = await connect(t, url)
      for (let i = 0; i < 3; i++) {
        const statements = other.query('SELECT 1')
        await refused(openPostgresMeshStore(url, limits), 'store_session_missing')
        await statements
      }
      await refused(exportPostgresMesh(url, true).next(), 'store_session_missing')
      await assert.rejects(openPostgresMeshStore(url, limits), /does not keep sessions/)
    })

  it('is refused in time if the proxy has no free connection', async (t) => {
    const {url} = await proxied(t, 'pool_mode = session', 'default_pool_size = 1')
    const other = await connect(t, url)
    await other.query('SELECT 1')
    const opening = openPostgresMeshStore(url, limits, {connectTimeoutMs: 200})
    await assert.rejects(opening, /a proxy may have no free connection/)
  })

  it('reconnects after the proxy has ended its connections', async (t) => {
    const {direct, url} = await proxied(t, 'pool_mode = session')
    const [here, there] = [await openAt(t, url), await openAt(t, direct)]
    const arrived = new Promise((resolve) => here.onArrival?.(resolve))
    await runSql(
      direct,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND client_port = -1
  AND pid <> pg_backend_pid()`,
    )
    await arrived
    await there.deliver('', message()).catch(() => there.deliver('', message()))
    assert.equal((await here.peek('', {receiver: '2', limit: 9})).length, 1)
  })
})

describe('splitUrl', () => {
  const base = 'postgres://svc@host/db'
  it('separates the settings of the server from the URL', () => {
    const options = encodeURIComponent('-c search_path=a\\ b,c --statement-timeout=1 -cjit=on')
    assert.deepEqual(splitUrl(`${base}?sslmode=verify-full&options=${options}&lock_timeout=5&statement_timeout=9`), {
      connectionString: `${base}?sslmode=verify-full`,
      settings: {search_path: 'a b,c', statement_timeout: '9', jit: 'on', lock_timeout: '5'},
    })
    assert.deepEqual(splitUrl(base), {connectionString: base, settings: {}})
  })

  it('refuses options that are not settings', () => {
    for (const options of ['-e', 'search_path=a', '-c', '-c%20a'])
      assert.throws(() => splitUrl(`${base}?options=${options}`), /may only contain settings/)
  })
})
