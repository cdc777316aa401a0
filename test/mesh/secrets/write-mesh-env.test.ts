import assert from 'node:assert/strict'
import {chmod, readdir, readFile, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {readMeshEnv, settingTables} from '../../../src/config/index.js'
import {writeMeshEnv} from '../../../src/mesh/index.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'
import {codeOf} from '../auth/token-store.js'

const file = '.svc/mesh/mesh.env'
const read = (root: string) => readMeshEnv(root, {}, settingTables)
const mode = async (...path: string[]) => ((await stat(join(...path))).mode & 0o777).toString(8)

describe('mesh.env', () => {
  it('can be read back', async (test) => {
    const folder = await temporaryFolder(test)
    const values = {
      SVC_MESH_TOKEN: 'aZ09-_',
      SVC_MESH_WORKER_TOKEN: 'with blanks',
      SVC_MESH_ADMIN_TOKEN: '#no comment',
      SVC_MESH_SUBMITTER_TOKEN: `it's`,
      SVC_MESH_JWT_HMAC_SECRET: 'a "word" # and=more==',
      SVC_MESH_SCOPE_ID: 'Büro',
    }
    assert.equal(await writeMeshEnv(folder, values), join(folder, file))
    assert.deepEqual(read(folder), {
      values,
      origins: Object.fromEntries(Object.keys(values).map((name) => [name, join(folder, file)])),
      shadowed: [],
      warnings: [],
    })
  })

  it('is private and ignored by git', async (test) => {
    const folder = await temporaryFolder(test)
    await writeMeshEnv(folder, {SVC_MESH_TOKEN: 'a'})
    assert.deepEqual([await mode(folder, file), await mode(folder, '.svc/mesh')], ['600', '700'])
    assert.equal(await readFile(join(folder, '.svc/mesh/.gitignore'), 'utf8'), '*\n')
    const other = await temporaryFolder(test)
    await writeFiles(other, {'.svc/mesh/.gitignore': '# mine\n*\n'})
    await writeMeshEnv(other, {SVC_MESH_TOKEN: 'b'})
    assert.equal(await readFile(join(other, '.svc/mesh/.gitignore'), 'utf8'), '# mine\n*\n')
  })

  it('is refused if other users can access it', async (test) => {
    const folder = await temporaryFolder(test)
    const text = 'SVC_MESH_CONTROL_ADDR=http://stranger.example\n'
    await writeFiles(folder, {[file]: text})
    await chmod(join(folder, file), 0o644)
    assert.equal(await codeOf(() => writeMeshEnv(folder, {SVC_MESH_TOKEN: 'b'})), 'file_unreadable')
    assert.equal(await readFile(join(folder, file), 'utf8'), text)
    assert.deepEqual(await readdir(join(folder, '.svc/mesh')), ['mesh.env'])
  })

  it('keeps other lines in place', async (test) => {
    const folder = await temporaryFolder(test)
    const before = [
      '# of the lab',
      'SVC_MESH_NODE_ID=rig1',
      '',
      'export SVC_MESH_TOKEN="old" # ours',
      'SVC_MESH_ADMIN_TOKEN=gone',
      'what is this',
      'SVC_MESH_TOKEN=older',
    ]
    await writeFiles(folder, {[file]: `${before.join('\r\n')}\r\n\r\n`})
    await chmod(join(folder, file), 0o600)
    await writeMeshEnv(folder, {SVC_MESH_TOKEN: 'new', SVC_MESH_ADMIN_TOKEN: undefined, SVC_MESH_WORKER_TOKEN: 'w'})
    const after = [
      '# of the lab',
      'SVC_MESH_NODE_ID=rig1',
      '',
      'SVC_MESH_TOKEN=new',
      'what is this',
      'SVC_MESH_WORKER_TOKEN=w',
      '',
    ]
    assert.deepEqual((await readFile(join(folder, file), 'utf8')).split('\n'), after)
  })

  it('leaves no temporary files after concurrent writes', async (test) => {
    const folder = await temporaryFolder(test)
    const tokens = Array.from({length: 20}, (_, i) => `token-${i}`)
    await Promise.all(tokens.map((token) => writeMeshEnv(folder, {SVC_MESH_TOKEN: token})))
    assert.deepEqual((await readdir(join(folder, '.svc/mesh'))).sort(), ['.gitignore', 'mesh.env'])
    assert.ok(tokens.includes(read(folder).values.SVC_MESH_TOKEN ?? ''))
  })

  it('loses no concurrent writes', async (test) => {
    const folder = await temporaryFolder(test)
    const names = Array.from({length: 20}, (_, i) => `SVC_MESH_VALUE_${i}`)
    await Promise.all(names.map((name) => writeMeshEnv(folder, {[name]: 'x'})))
    const text = await readFile(join(folder, file), 'utf8')
    assert.deepEqual(
      names.filter((name) => !text.includes(`${name}=x\n`)),
      [],
    )
  })

  for (const value of ['two\nlines', 'a\rb', `both ' and "`])
    it(`rejects ${JSON.stringify(value)} and is not changed`, async (test) => {
      const folder = await temporaryFolder(test)
      await writeMeshEnv(folder, {SVC_MESH_TOKEN: 'a'})
      assert.equal(await codeOf(() => writeMeshEnv(folder, {SVC_MESH_SCOPE_ID: value})), 'usage')
      assert.deepEqual(read(folder).values, {SVC_MESH_TOKEN: 'a'})
    })

  it('is not written if it is a folder', async (test) => {
    const folder = await temporaryFolder(test)
    await writeFiles(folder, {[join(file, 'x')]: ''})
    assert.equal(await codeOf(() => writeMeshEnv(folder, {SVC_MESH_TOKEN: 'a'})), 'file_unreadable')
  })
})
