import assert from 'node:assert/strict'
import {readFile, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {contractViolations, type MeshTransferV1} from '../../src/contracts/index.js'
import {openAt} from '../mesh/store/sqlite/open-store.js'
import {createDatabase, skipWithoutPostgres} from '../support/postgres.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder} from '../support/temporary.js'

/** A folder with a mesh of one node in its default file, and a function that runs `svc mesh` there. */
async function withMesh(t: TestContext) {
  const folder = await temporaryFolder(t)
  const store = await openAt(t, join(folder, '.svc/mesh/mesh.db'))
  await store.join('', {id: 'n1', version: '1.0.0', capabilities: {}})
  await store.close()
  const run = (args: readonly string[], {env = {}, input = ''}: {env?: Record<string, string>; input?: string} = {}) =>
    svcInTurn(['mesh', ...args], {cwd: folder, env: {HOME: folder, ...env}, input})
  return {folder, run}
}

async function resultOf({exitCode, stdout, stderr}: Awaited<ReturnType<typeof svcInTurn>>): Promise<MeshTransferV1> {
  assert.equal(exitCode, 0, stderr)
  const result = JSON.parse(stdout)
  assert.deepEqual(await contractViolations('cli/mesh-transfer.v1', result), [])
  return result
}

describe('svc mesh export and svc mesh import', () => {
  it('copy a mesh through a file that only its owner can read', async (t) => {
    const {folder, run} = await withMesh(t)
    const file = join(folder, 'mesh.ndjson')
    const result = await resultOf(await run(['export', '-o', 'mesh.ndjson', '--json']))
    assert.equal(result.file, file)
    assert.equal(result.rows.mesh_nodes, 1)
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    assert.match((await run(['export', '-o', 'mesh.ndjson'])).stderr, /output_exists/)
    assert.equal((await run(['export', '-o', 'mesh.ndjson', '--overwrite'])).stdout, `${file}\n`)

    assert.equal((await run(['import', 'mesh.ndjson', '--db', 'copy.db'])).stdout, '2 rows imported\n')
    assert.equal((await run(['export', '--db', 'copy.db'])).stdout, await readFile(file, 'utf8'))
    const again = await run(['import', 'mesh.ndjson', '--db', 'copy.db'])
    assert.equal(again.exitCode, 4)
    assert.match(again.stderr, /copy\.db already contains a mesh.*mesh_not_empty/)
  })

  it('copy a mesh through a pipe to PostgreSQL and back', {skip: skipWithoutPostgres}, async (t) => {
    const {run} = await withMesh(t)
    const url = await createDatabase()
    const {stdout: input} = await run(['export', '--json'])
    const {rows} = await resultOf(await run(['import', '-', '--store', url, '--json'], {input}))
    assert.equal(rows.mesh_nodes, 1)
    assert.equal((await run(['export'], {env: {SVC_MESH_STORE_URL: url}})).stdout, input)
  })

  it('report damage with its line, and change nothing', async (t) => {
    const {run} = await withMesh(t)
    const {stdout} = await run(['export'])
    const {exitCode, stderr} = await run(['import', '-', '--db', 'copy.db'], {
      input: stdout.slice(0, -1).replace(/[^\n]*$/, ''),
    })
    assert.equal(exitCode, 2)
    assert.match(
      stderr,
      /Cannot import standard input, line 3: the file ends before its last line.*mesh_export_invalid/,
    )
    assert.equal((await run(['import', '-', '--db', 'copy.db'], {input: stdout})).exitCode, 0)
  })

  it('accept no password in a flag', async (t) => {
    const {run} = await withMesh(t)
    for (const command of [['export'], ['import', '-']]) {
      const {exitCode, stderr} = await run([...command, '--store', 'postgres://u:secret-word@127.0.0.1:1/db'])
      assert.equal(exitCode, 2)
      assert.match(stderr, /store_password_exposed/)
      assert.doesNotMatch(stderr, /secret-word/)
    }
  })
})
