import assert from 'node:assert/strict'
import {randomUUID} from 'node:crypto'
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {inspect} from 'node:util'
import pg from 'pg'
import {migrate} from '../../../../src/mesh/store/postgres/migrate.js'
import {openPostgresMeshStore} from '../../../../src/mesh/store/postgres/open.js'
import {version} from '../../../../src/mesh/store/postgres/schema.js'
import {freePort} from '../../../../src/net/index.js'
import {createDatabase, PostgresCluster, runSql, skipWithoutPostgres} from '../../../support/postgres.js'
import {temporaryFolder} from '../../../support/temporary.js'
import {until} from '../../../support/until.js'
import {message, refused} from '../conformance/story.js'
import {limits, newStoreDatabase, openAt} from './open-store.js'

describe('a PostgreSQL mesh store', {skip: skipWithoutPostgres}, () => {
  it('is created once by stores that open an empty database together', async (t) => {
    const url = await createDatabase()
    const stores = await Promise.all(Array.from({length: 5}, () => openAt(t, url)))
    for (const store of stores) await store.deliver('', message())
    assert.equal((await stores[0]?.queueStats(''))?.pending_count, 5)
    const rows = await runSql(url, 'SELECT version FROM mesh_schema')
    assert.deepEqual(rows, [{version}])
  })

  it('is migrated from the previous version with its messages', async (t) => {
    const url = await newStoreDatabase()
    const before = await openAt(t, url)
    const {message_id: id} = await before.deliver('', message({requirements: {npu: true}}))
    await before.close()
    await runSql(
      url,
      `UPDATE mesh_schema SET version = 2;
DROP FUNCTION mesh_includes, mesh_suits, mesh_is_ready, mesh_may_settle;
CREATE OR REPLACE FUNCTION mesh_meets(offered jsonb, needed jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE RETURN false`,
    )
    const store = await openAt(t, url)
    await store.join('', {id: 'n1', version: '1.0.0', capabilities: {npu: true}})
    assert.equal((await store.claim('', {receiver: '2', claimer: 'n1'}))?.id, id)
    assert.deepEqual(await runSql(url, 'SELECT version FROM mesh_schema'), [{version}])
  })

  it('is refused if a newer program has migrated it', async () => {
    const url = await newStoreDatabase()
    await runSql(url, 'UPDATE mesh_schema SET version = version + 1')
    await refused(openPostgresMeshStore(url, limits), 'store_newer')
  })

  it('is refused if the encoding is not UTF8', async () => {
    const name = `svc_${randomUUID()}`
    const url = await createDatabase()
    await runSql(url, `CREATE DATABASE "${name}" TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'`)
    const other = new URL(url)
    other.pathname = `/${name}`
    await refused(openPostgresMeshStore(other.href, limits), 'store_server_unsupported')
  })

  it('is refused if the server is too old', async () => {
    const old = {query: async () => ({rows: [{version: '14.11 (Debian)', encoding: 'UTF8'}]})}
    await refused(migrate(old as unknown as pg.Client, 'server'), 'store_server_unsupported')
  })

  it('is opened with TLS and a password from the URL, the environment or a file', async (t) => {
    const port = await freePort()
    const cluster = new PostgresCluster({port})
    await runSql(cluster.urlOf('postgres'), "ALTER ROLE svc PASSWORD 'right-word'")
    const urlWith = (password: string, query: string) => `postgres://svc${password}@localhost:${port}/postgres?${query}`
    const verified = `sslmode=verify-full&sslrootcert=${cluster.certificate}`
    const failed = async (url: string, reason: RegExp) => {
      const error = inspect(await openPostgresMeshStore(url, limits).catch((error) => error))
      assert.match(error, /store_unreachable/)
      assert.match(error, reason)
      assert.doesNotMatch(error, /wrong-word/)
    }
    await failed(urlWith(':right-word', 'sslmode=verify-full'), /self-signed certificate/)
    await failed(urlWith(':right-word', 'sslmode=disable'), /no encryption/)
    await failed(urlWith(':wrong-word', verified), /password authentication failed/)
    await openAt(t, urlWith(':right-word', verified))
    const passwords = join(await temporaryFolder(t), 'passwords')
    await writeFile(passwords, `localhost:${port}:*:svc:right-word\n`, {mode: 0o600})
    for (const [name, value] of [
      ['PGPASSWORD', 'right-word'],
      ['PGPASSFILE', passwords],
    ] as const) {
      process.env[name] = value
      try {
        await openAt(t, urlWith('', verified))
      } finally {
        delete process.env[name]
      }
    }
    const connections = await runSql<{ssl: boolean}>(
      cluster.urlOf('postgres'),
      "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'svc mesh'",
    )
    assert.ok(connections.length >= 3 && connections.every(({ssl}) => ssl))
  })

  it('is refused if the user must not create tables', async () => {
    const url = await createDatabase()
    const role = `svc_${randomUUID()}`
    await runSql(url, `CREATE ROLE "${role}" LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC`)
    await refused(openPostgresMeshStore(url.replace('//svc@', `//${role}@`), limits), 'store_rights_missing')
  })

  for (const [what, url] of [
    ['host', 'postgres://svc:secret-word@127.0.0.1:1/db'],
    ['password file entry', 'postgres://svc@127.0.0.1:1/db?passfile=secret-word'],
  ] as const)
    it(`names only the server if it is not reachable, with a ${what}`, async () => {
      await assert.rejects(openPostgresMeshStore(url, limits), (error: Error & {code: string; hint: string}) => {
        assert.equal(error.code, 'store_unreachable')
        assert.match(error.message, /^Cannot connect to the database 127\.0\.0\.1:1\/db: /)
        assert.doesNotMatch(`${error.message} ${error.hint} ${error.stack}`, /secret-word/)
        return true
      })
    })

  it('is refused with an invalid URL, which is not printed', async () => {
    const end = await openPostgresMeshStore('postgres://svc:secret-word@[/db', limits).catch(inspect)
    assert.match(String(end), /store_url_invalid/)
    assert.doesNotMatch(String(end), /secret-word/)
  })

  it('repeats statements that fail because of others, a limited number of times', async (t) => {
    const url = await newStoreDatabase()
    const store = await openAt(t, url)
    await runSql(
      url,
      `CREATE SEQUENCE failures;
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  CASE nextval('failures')
    WHEN 1 THEN RAISE EXCEPTION 'deadlock' USING ERRCODE = '40P01';
    WHEN 2 THEN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001';
    WHEN 3 THEN RETURN new;
    ELSE RAISE EXCEPTION 'conflict' USING ERRCODE = '40001';
  END CASE;
END $$;
CREATE TRIGGER fail BEFORE INSERT ON mesh_messages FOR EACH ROW EXECUTE FUNCTION fail()`,
    )
    await store.deliver('', message())
    await refused(store.deliver('', message()), 'store_unavailable')
    assert.equal((await store.peek('', {receiver: '2', limit: 9})).length, 1)
  })

  it('reports an unknown outcome if the server ends the connection during a statement', async (t) => {
    const url = await newStoreDatabase()
    const store = await openAt(t, url)
    await store.deliver('', message())
    const admin = new pg.Client(url)
    await admin.connect()
    t.after(() => admin.end())
    await admin.query('BEGIN; SELECT FROM mesh_inboxes FOR UPDATE')
    const delivery = refused(store.deliver('', message()), 'store_outcome_unknown')
    const blocked = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    await until(async () => (await runSql(url, `SELECT pid ${blocked}`)).length === 1, 'the delivery waits')
    await runSql(url, `SELECT pg_terminate_backend(pid) ${blocked}`)
    await delivery
    await admin.query('ROLLBACK')
    await store.deliver('', message())
    assert.equal((await store.peek('', {receiver: '2', limit: 9})).length, 2)
  })

  it('reports an outage at once, and works again after it', async (t) => {
    const cluster = new PostgresCluster()
    const url = cluster.urlOf('postgres')
    const store = await openAt(t, url)
    const arrivals: string[] = []
    store.onArrival?.((arrival) => arrival('', '2') && arrivals.push('2'))
    await store.join('', {id: 'n1', version: '1.0.0', capabilities: {}}, {incarnation: 7, seq: 0})
    const {message_id: id} = await store.deliver('', message({idempotency_key: 'key'}))
    cluster.stop('immediate')
    await refused(store.deliver('', message()), 'store_unavailable')
    await refused(store.claim('', {receiver: '2', claimer: 'n1'}), 'store_unavailable')
    await refused(store.heartbeat('', {facts: {id: 'n1'}, isFull: false}), 'store_unavailable')
    cluster.start()
    assert.deepEqual(await store.deliver('', message({idempotency_key: 'key'})), {
      accepted: true,
      message_id: id,
      duplicate: true,
    })
    // A crash of the server deletes the last heartbeats; the node counts as just seen.
    const before = store.now()
    const {record} = await store.heartbeat('', {
      facts: {id: 'n1', cpu_usage_pct: 5},
      isFull: false,
      incarnation: 7,
      seq: 1,
    })
    const {last_seen_unix_ms: seen, cpu_usage_pct: cpu} = JSON.parse(record)
    assert.ok(seen >= before)
    assert.equal(cpu, 5)
    assert.equal((await store.claim('', {receiver: '2', claimer: 'n1'}))?.id, id)
  })
})
