import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {scanForSecrets} from '../../src/prove/history/secret-scan.js'
import {Driver} from '../support/sqlite.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

describe('scanForSecrets', () => {
  it('finds secrets in all files except their own and reports only names', async (test) => {
    const folder = await temporaryFolder(test)
    await writeFiles(folder, {
      'home/mesh.env': 'SVC_MESH_TOKEN=canary-1\n',
      'home/server.log': 'a request with canary-2 came\n',
      'calls.jsonl': '{}\n',
    })
    const database = new Driver(join(folder, 'mesh.db'))
    database.exec("CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('canary-1')")
    database.close()
    const secrets = new Map([
      ['mesh-0', 'canary-1'],
      ['worker-0', 'canary-2'],
    ])
    const {files, leaks} = await scanForSecrets(folder, secrets, [join(folder, 'home/mesh.env')])
    assert.equal(files, 3)
    assert.deepEqual(
      leaks.toSorted((a, b) => a.file.localeCompare(b.file)),
      [
        {file: 'home/server.log', secret: 'worker-0'},
        {file: 'mesh.db', secret: 'mesh-0'},
      ],
    )
  })
})
