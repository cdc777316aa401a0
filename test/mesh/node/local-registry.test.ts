import assert from 'node:assert/strict'
import {readdir, readFile, stat, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {isErrorOf} from '../../../src/errors/index.js'
import {type NodeRecord, publishNode, readLocalRegistry, registryPath} from '../../../src/mesh/index.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'

const nowMs = 1_790_000_000_000
const day = 24 * 3600 * 1000

const node = (id: string, more: Partial<NodeRecord> = {}): NodeRecord => ({
  id,
  version: '1.0.0',
  capabilities: {},
  last_seen_unix_ms: nowMs,
  ...more,
})

const registryIn = async (test: TestContext) =>
  join(await temporaryFolder(test), 'cache', 'mesh', 'local-registry.json')

const idsIn = async (path: string) => (await readLocalRegistry(path)).nodes.map(({id}) => id)

describe('local registry', () => {
  it('is in the home folder by default', () => {
    assert.equal(registryPath({env: {HOME: '/home/anna'}}), '/home/anna/.svc/cache/mesh/local-registry.json')
    assert.equal(registryPath({env: {USERPROFILE: '/users/anna'}}), '/users/anna/.svc/cache/mesh/local-registry.json')
    assert.equal(
      registryPath({env: {HOME: '/home/anna', SVC_MESH_REGISTRY_PATH: '/tmp/nodes.json'}}),
      '/tmp/nodes.json',
    )
  })

  it('is empty if the file does not exist', async (t) => {
    assert.deepEqual(await readLocalRegistry(await registryIn(t)), {schema_version: 1, nodes: []})
  })

  it('has the format of a node list, indented', async (t) => {
    const path = await registryIn(t)
    await publishNode(path, node('b'), nowMs)
    await publishNode(path, node('a', {capabilities: {cpu_cores: 4, labels: ['pool=x']}}), nowMs)
    const text = await readFile(path, 'utf8')
    assert.deepEqual(JSON.parse(text), {
      schema_version: 1,
      nodes: [node('a', {capabilities: {cpu_cores: 4, labels: ['pool=x']}}), node('b')],
    })
    assert.match(text, /^\{\n {2}"schema_version": 1,\n/)
    assert.deepEqual(await readdir(join(path, '..')), ['local-registry.json'], 'nothing else is left behind')
  })

  it('contains the last published record of each node', async (t) => {
    const path = await registryIn(t)
    await publishNode(path, node('a', {version: '1.0.0', pool_id: 'x'}), nowMs)
    await publishNode(path, node('a', {version: '2.0.0', last_seen_unix_ms: nowMs + 5}), nowMs + 5)
    assert.deepEqual((await readLocalRegistry(path)).nodes, [
      node('a', {version: '2.0.0', last_seen_unix_ms: nowMs + 5}),
    ])
  })

  it('removes nodes not seen for a day, and keeps those with future timestamps', async (t) => {
    const path = await registryIn(t)
    for (const [id, age] of [
      ['old', day + 1],
      ['almost', day],
      ['future', -day],
    ] as const)
      await publishNode(path, node(id, {last_seen_unix_ms: nowMs - age}), nowMs - day)
    await publishNode(path, node('new'), nowMs)
    assert.deepEqual(await idsIn(path), ['almost', 'future', 'new'])
  })

  it('keeps unknown members of other nodes', async (t) => {
    const path = await registryIn(t)
    const other = {...node('other'), colour: 'blue'}
    await writeFiles(join(path, '..'), {
      'local-registry.json': JSON.stringify({schema_version: 2, nodes: [other, {no: 'id'}, null]}),
    })
    await publishNode(path, node('a'), nowMs)
    assert.deepEqual(await readLocalRegistry(path), {schema_version: 2, nodes: [node('a'), other]})
  })

  for (const damage of ['{"schema_version": 1, "nodes": [{"id": "a"', '[]', '', 'null', '{"nodes": 7}'])
    it(`is moved aside if corrupt: ${damage}`, async (t) => {
      const path = await registryIn(t)
      await writeFiles(join(path, '..'), {'local-registry.json': damage})
      await assert.rejects(readLocalRegistry(path), (error) => isErrorOf(error, 'document_unparsable'))
      const {movedTo} = await publishNode(path, node('a'), nowMs)
      assert.deepEqual(await idsIn(path), ['a'])
      assert.equal(await readFile(movedTo ?? '', 'utf8'), damage)
    })

  it('must not be a folder or a device', async () => {
    await assert.rejects(readLocalRegistry('/'), (error) => isErrorOf(error, 'file_unreadable'))
    await assert.rejects(readLocalRegistry('/dev/zero'), (error) => isErrorOf(error, 'file_unreadable'))
  })

  it('requires a writable folder', async (t) => {
    const folder = await temporaryFolder(t)
    await writeFile(join(folder, 'file'), '')
    await assert.rejects(publishNode(join(folder, 'file', 'registry.json'), node('a'), nowMs))
    assert.equal((await stat(join(folder, 'file'))).size, 0)
  })
})
