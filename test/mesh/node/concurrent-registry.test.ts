import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {readdir} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {promisify} from 'node:util'
import {readLocalRegistry} from '../../../src/mesh/index.js'
import {projectFile} from '../../support/project.js'
import {temporaryFolder} from '../../support/temporary.js'

describe('local registry', () => {
  it('loses no entry of concurrent processes', async (t) => {
    const folder = await temporaryFolder(t)
    const path = join(folder, 'cache', 'local-registry.json')
    const program = projectFile('dist/test/mesh/node/publish-many.js')
    const ids = Array.from({length: 20}, (_, i) => `p${String(i).padStart(2, '0')}`)
    // Five processes with four nodes each: with twenty processes, most time would be spent on starting them.
    const shares = Array.from({length: 5}, (_, i) => ids.slice(i * 4, i * 4 + 4))
    await Promise.all(shares.map((share) => promisify(execFile)(process.execPath, [program, path, ...share])))
    assert.deepEqual(
      (await readLocalRegistry(path)).nodes.map(({id}) => id),
      ids.flatMap((id) => [`${id}-0`, `${id}-1`, `${id}-2`]),
    )
    assert.deepEqual(await readdir(join(folder, 'cache')), ['local-registry.json'])
  })
})
