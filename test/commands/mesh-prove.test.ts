import assert from 'node:assert/strict'
import {existsSync, readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {execa} from 'execa'
import type {MeshProveV1} from '../../src/contracts/index.js'
import {assertFits, until} from '../support/orch-workspace.js'
import {createDatabase, skipWithoutPostgres} from '../support/postgres.js'
import {projectFile} from '../support/project.js'
import {environment, startSvc, svc} from '../support/svc.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder} from '../support/temporary.js'

const short = ['--seconds', '1', '--operations', '0']
/** Long enough for one restart of the server with a wrong clock. */
const restarted = ['--seed', '3', ...short]
/** Too short for any fault of the server. */
const undisturbed = ['--seed', '4', ...short]
/** Long enough for messages, even on a slow machine. */
const longer = ['--seed', '4', '--seconds', '1', '--operations', '100']

/** Reads a file; empty if it does not exist yet. */
const textOf = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '')

describe('svc mesh prove', {concurrency: 2}, () => {
  it('prints a report, exits with status 0 if all invariants held, and leaves no files', async (t) => {
    const folder = await temporaryFolder(t)
    const {stdout, stderr, exitCode} = await svc(['mesh', 'prove', ...restarted, '--json'], {env: {TMPDIR: folder}})
    const report = JSON.parse(stdout) as MeshProveV1
    await assertFits('cli/mesh-prove.v1', report)
    assert.equal(exitCode, 0, stdout)
    assert.deepEqual([report.seed, report.held, report.folder], [3, true, null])
    assert.match(stderr, /^Seed 3\.$/m)
    assert.deepEqual(readdirSync(folder), [])
  })

  it('prints the report as text, and keeps the folder with --keep', async (t) => {
    const folder = await temporaryFolder(t)
    const {stdout, exitCode} = await svc(['mesh', 'prove', ...undisturbed, '--keep', '--quiet'], {
      env: {TMPDIR: folder},
    })
    assert.equal(exitCode, 0, stdout)
    assert.match(stdout, /^I-5 +held +\d+ +Fencing tokens/m)
    assert.match(stdout, /operations, \d+ answered, in [\d.]+ s, seed 4\. All invariants held\.$/m)
    const [, kept = ''] = /^Logs and databases: (.*)$/m.exec(stdout) ?? []
    assert.ok(kept.includes(folder), stdout)
    const calls = readFileSync(join(kept, 'calls.jsonl'), 'utf8').trimEnd().split('\n')
    assert.ok(calls.some((line) => (JSON.parse(line) as {line: string}).line === 'call'))
    assert.ok(existsSync(join(kept, 'mesh.db')))
  })

  it('exits with status 1 if an invariant is violated, reports it, and keeps the folder', async (t) => {
    const [root, folder] = [await temporaryFolder(t), await temporaryFolder(t)]
    const program = projectFile('dist/test/faults/prove/injected-bugs/prove-with-bug.js')
    const {stdout, exitCode} = await execa(
      process.execPath,
      [program, root, 'deliveries-forgotten', ...longer, '--json'],
      {
        reject: false,
        extendEnv: false,
        env: environment({TMPDIR: folder}),
      },
    )
    const report = JSON.parse(stdout) as MeshProveV1
    await assertFits('cli/mesh-prove.v1', report)
    assert.deepEqual([exitCode, report.held], [1, false])
    const broken = report.invariants.find(({id}) => id === 'I-3')
    assert.match(broken?.violations[0]?.what ?? '', /^Message \d+ was accepted and is gone\.$/)
    assert.ok(existsSync(join(report.folder ?? '', 'calls.jsonl')))
  })

  it('exits with status 130 when interrupted, and leaves neither a server nor a folder', async (t) => {
    const folder = await temporaryFolder(t)
    const running = startSvc(['mesh', 'prove', '--minutes', '5'], {env: {TMPDIR: folder}})
    // Clients have started to call the server.
    await until(
      () => readdirSync(folder).some((name) => /"call"/.test(textOf(join(folder, name, 'calls.jsonl')))),
      'a call is logged',
    )
    running.kill('SIGINT')
    const {exitCode} = await running
    assert.equal(exitCode, 130)
    assert.deepEqual(readdirSync(folder), [])
  })

  it('tests two control planes on an empty database', {skip: skipWithoutPostgres}, async (t) => {
    const folder = await temporaryFolder(t)
    const url = await createDatabase()
    const args = ['mesh', 'prove', ...undisturbed, '--store', url, '--json']
    const {stdout, exitCode} = await svc(args, {env: {TMPDIR: folder}})
    assert.equal(exitCode, 0, stdout)
    const {held, operations} = JSON.parse(stdout) as MeshProveV1
    assert.deepEqual([held, operations > 0], [true, true])
    const again = await svcInTurn(args)
    assert.equal(again.exitCode, 4)
    assert.match(again.stdout, /"mesh_not_empty"/)
    assert.deepEqual(readdirSync(folder), [])
  })

  it('refuses a password in an argument', async () => {
    const {exitCode, stderr} = await svcInTurn(['mesh', 'prove', '--store', 'postgres://svc:secret@localhost/mesh'])
    assert.deepEqual([exitCode, stderr.includes('secret')], [2, false])
  })

  it('refuses an invalid duration or seed', async () => {
    for (const args of [
      ['--minutes', '0'],
      ['--seed', '-1'],
      ['--minutes', '1', '--seconds', '5'],
    ])
      assert.equal((await svcInTurn(['mesh', 'prove', ...args])).exitCode, 2, args.join(' '))
  })
})
