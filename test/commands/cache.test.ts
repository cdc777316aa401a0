import assert from 'node:assert/strict'
import {mkdir, readdir, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {type CacheListV1, type CachePruneV1, contractViolations} from '../../src/contracts/index.js'
import {svc} from '../support/svc.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'

async function setUp(test: TestContext) {
  const cwd = await temporaryFolder(test)
  const model = join(cwd, 'model')
  await writeTinyModel(model, {})
  const env = {HOME: cwd, XDG_CACHE_HOME: join(cwd, 'cache')}
  const generate = ['generate', '--model', model, '--precision', 'w8', '--temperature', '0', '--max-tokens', '3', 'a']
  return {
    folder: join(cwd, 'cache/svc/derived'),
    model,
    env,
    generate: () => svc(generate, {cwd, env}),
    run: (...args: string[]) => svcInTurn(args, {cwd, env}),
  }
}

describe('svc cache', () => {
  it('lists the weights that concurrent processes have created once, and deletes them', async (test) => {
    const {folder, model, generate, run} = await setUp(test)
    const [first, second] = await Promise.all([generate(), generate()])
    assert.deepEqual([first.exitCode, second.exitCode], [0, 0], first.stderr + second.stderr)
    assert.equal(first.stdout, second.stdout)

    const list = JSON.parse((await run('cache', 'list', '--json')).stdout) as CacheListV1
    assert.deepEqual(await contractViolations('cli/cache-list.v1', list), [])
    const [entry, ...others] = list.entries
    assert.deepEqual([entry?.kind, entry?.model, others], ['quantised', model, []])
    assert.match(entry?.recipe ?? '', /w8/)
    assert.equal(list.folder, folder)
    assert.match((await run('cache', 'list')).stdout, /quantised .*\n\n1 entry, \d+\.\d MB, in /)

    assert.match((await run('cache', 'prune')).stdout, /^0 entries, 0\.0 MB, deleted\n$/)
    assert.match((await run('cache', 'prune', '--all', '--dry-run')).stdout, /1 entry, .* would be deleted\n$/)
    const pruned = JSON.parse((await run('cache', 'prune', '--older-than', '0s', '--json')).stdout) as CachePruneV1
    assert.deepEqual(await contractViolations('cli/cache-prune.v1', pruned), [])
    assert.deepEqual([pruned.removed, pruned.bytes, pruned.dry_run], [[entry], entry?.bytes, false])
    assert.deepEqual(await readdir(folder), [])
  })

  it('lists and deletes beginnings of prompts, but no other files', async (test) => {
    const {folder, run} = await setUp(test)
    const prefixes = join(folder, 'prefixes')
    await mkdir(prefixes, {recursive: true})
    const name = `${'a'.repeat(32)}-${'b'.repeat(32)}.prefix`
    for (const file of [name, 'notes.prefix']) await writeFile(join(prefixes, file), 'x'.repeat(1000))
    const {entries} = JSON.parse((await run('cache', 'list', '--json')).stdout) as CacheListV1
    assert.deepEqual(
      entries.map(({id, kind, model, bytes}) => [id, kind, model, bytes]),
      [[`prefixes/${name}`, 'prefix', null, 1000]],
    )
    assert.match((await run('cache', 'prune', '--all')).stdout, /1 entry, 0\.0 MB, deleted\n$/)
    assert.deepEqual(await readdir(prefixes), ['notes.prefix'])
  })

  it('is empty before the first use', async (test) => {
    const {folder, run} = await setUp(test)
    assert.equal((await run('cache', 'list')).stdout, `0 entries, 0.0 MB, in ${folder}\n`)
    assert.equal((await run('cache', 'prune', '--all')).stdout, '0 entries, 0.0 MB, deleted\n')
  })

  it('reports a cache that is not a folder', async (test) => {
    const {folder, run} = await setUp(test)
    await mkdir(dirname(folder), {recursive: true})
    await writeFile(folder, '')
    const {stderr, exitCode} = await run('cache', 'list')
    assert.deepEqual([exitCode, /Cannot read .*derived: it is not a directory/.test(stderr)], [1, true], stderr)
  })

  it('refuses --all with --older-than', async (test) => {
    const {run} = await setUp(test)
    assert.equal((await run('cache', 'prune', '--all', '--older-than', '1d')).exitCode, 2)
  })
})
