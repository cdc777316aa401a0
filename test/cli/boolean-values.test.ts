import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import {describe, it} from 'node:test'
import {type FlagSpelling, withBooleanValues} from '../../src/cli/boolean-values.js'
import {projectFile} from '../support/project.js'
import {svcInTurn} from '../support/svc-in-turn.js'

const flags: Record<string, FlagSpelling> = {
  json: {type: 'boolean'},
  quiet: {type: 'boolean', char: 'q'},
  wait: {type: 'boolean', allowNo: true},
  prompt: {type: 'option', char: 'p'},
}

describe('a boolean flag with a value', () => {
  for (const [given, expected] of [
    ['--json=true a', '--json a'],
    ['--json=YES', '--json'],
    ['a --json=false b', 'a b'],
    ['--json --json=0 a', 'a'],
    ['--json=false --json', '--json'],
    ['-q=true', '--quiet'],
    ['-q -q=no', ''],
    ['--wait=false', '--no-wait'],
    ['--no-wait=false', '--wait'],
    ['--no-wait=1', '--no-wait'],
    ['--prompt --json=false', '--prompt --json=false'],
    ['-p --json --json=false', '-p --json'],
    ['--prompt=x --json=false', '--prompt=x'],
    ['-- --json=false', '-- --json=false'],
  ] as const)
    it(`${given} means ${expected || 'nothing'}`, () =>
      assert.equal(withBooleanValues(given.split(' '), flags).join(' '), expected))

  it('is refused if the value is neither true nor false', () => {
    const message = '--json must be true or false, not "maybe".'
    assert.throws(() => withBooleanValues(['--json=maybe'], flags), {code: 'usage', message})
  })

  it('is understood by every command', async () => {
    const manifest = JSON.parse(readFileSync(projectFile('oclif.manifest.json'), 'utf8')) as {
      commands: Record<string, {flags: Record<string, FlagSpelling & {default?: unknown}>}>
    }
    for (const [command, {flags: known}] of Object.entries(manifest.commands))
      for (const [name, {type, allowNo, default: initial}] of Object.entries(known)) {
        if (type !== 'boolean') continue
        assert.ok(allowNo || initial !== true, `${command} --${name} cannot be switched off`)
        assert.deepEqual(withBooleanValues([`--${name}=true`], known), [`--${name}`], command)
        assert.deepEqual(withBooleanValues([`--${name}=false`], known), allowNo ? [`--no-${name}`] : [], command)
        assert.throws(() => withBooleanValues([`--${name}=perhaps`], known), {code: 'usage'}, command)
      }
    const {stdout, stderr, exitCode} = await svcInTurn(['config', 'check', '--json=false', '--quiet=perhaps'])
    assert.deepEqual([exitCode, stdout], [2, ''], stderr)
    assert.match(stderr, /^error: --quiet must be true or false/)
  })

  it('is understood for --help', async () => {
    const help = (value: string) => svcInTurn(['config', 'check', `--help${value}`])
    assert.match((await help('')).stdout, /USAGE/)
    assert.deepEqual(await help('=true'), await help(''))
    assert.doesNotMatch((await help('=false')).stdout, /USAGE/)
    assert.match((await help('=perhaps')).stderr, /^error: --help must be true or false/)
  })
})
