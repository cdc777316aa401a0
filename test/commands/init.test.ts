import assert from 'node:assert/strict'
import {mkdir, readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {parse} from 'smol-toml'
import {configTemplate, settingTables} from '../../src/config/index.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder} from '../support/temporary.js'

/** The template with every setting in effect. */
const uncommented = configTemplate().replaceAll(/^#(\w)/gm, '$1')

describe('svc init', () => {
  it('writes only settings that exist, with values that are accepted', async (t) => {
    const keys = Object.entries(parse(uncommented)).flatMap(([section, values]) =>
      Object.keys(values as object).map((key) => `${section}.${key}`),
    )
    const known = new Set(settingTables.flatMap(({rows}) => Object.values(rows).flatMap(({toml = []}) => toml)))
    assert.ok(keys.length > 20, `${keys.length} settings`)
    assert.deepEqual(
      keys.filter((key) => !known.has(key)),
      [],
    )
    const cwd = await temporaryFolder(t)
    await writeFile(join(cwd, 'Svc.toml'), uncommented)
    const {stdout, stderr, exitCode} = await svcInTurn(['config', 'check'], {cwd})
    assert.equal(exitCode, 0, stdout + stderr)
    assert.equal(stderr, '')
  })

  it('writes defaults or examples, all commented out, and never replaces a file', async (t) => {
    const cwd = await temporaryFolder(t)
    const written = await svcInTurn(['init', '--json'], {cwd})
    const {path} = JSON.parse(written.stdout)
    assert.equal(await readFile(path, 'utf8'), configTemplate())
    const changed = await svcInTurn(['config', 'show', '--changed', '--json'], {cwd})
    assert.deepEqual(JSON.parse(changed.stdout).settings, [])
    await writeFile(path, '[log]\n')
    const again = await svcInTurn(['init'], {cwd})
    assert.equal(again.exitCode, 4)
    assert.match(again.stderr, /Svc\.toml already exists\. \(config_exists\)/)
    assert.equal(await readFile(path, 'utf8'), '[log]\n')
  })

  it('reports that the settings of an outer directory no longer apply', async (t) => {
    const root = await temporaryFolder(t)
    await writeFile(join(root, 'Svc.toml'), '')
    await mkdir(join(root, 'inner'))
    const {stderr, exitCode} = await svcInTurn(['-C', 'inner', 'init'], {cwd: root})
    assert.equal(exitCode, 0)
    assert.match(stderr, /^notice: .*Svc\.toml no longer applies to this directory\.\n$/)
  })
})
