import assert from 'node:assert/strict'
import {chmod, mkdir, readFile, symlink, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {isErrorOf} from '../../../src/errors/index.js'
import {openTestOrchestrator, type TestOptions} from '../../orchestrator/support/open-test-orchestrator.js'
import {temporaryFolder} from '../../support/temporary.js'
import {needsRoot, otherUser, userFolder} from './hidden-workspace.js'

const table = '[[orchestrator.harness.hidden_checks]]\n'

/** Opens a workspace with settings of the user. */
async function open(
  t: TestContext,
  files: Readonly<Record<string, string>>,
  toml: (folder: string) => string,
  options: TestOptions = {},
) {
  const {folder, userConfig} = await userFolder(t, files, toml)
  return {folder, userConfig, orchestrator: await openTestOrchestrator(t, {userConfig, ...options})}
}

/** Opens a workspace whose hidden checks cannot be used, and returns the message. */
async function refusal(...args: Parameters<typeof open>): Promise<string> {
  let folder = ''
  const [t, files, toml, options] = args
  const noted = (path: string) => {
    folder = path
    return toml(path)
  }
  const error = await open(t, files, noted, options).then(
    () => assert.fail('the workspace was opened'),
    (fault: unknown) => fault,
  )
  assert.ok(isErrorOf(error, 'hidden_check_unusable'), String(error))
  assert.ok(!error.message.includes(folder), 'the message names no path')
  for (const name of Object.keys(files)) assert.ok(!error.message.includes(name), 'the message names no file')
  return error.message
}

describe('hidden checks in the settings of the user', () => {
  it('are read with the files of a folder', async (t) => {
    const {orchestrator} = await open(
      t,
      {'cases/a.txt': 'first', 'cases/deep/b.txt': 'second', 'check.sh': '#!/bin/sh\n'},
      (folder) => `${table}command = ["sh", "{files}/check.sh"]\nfiles = ["${folder}/cases", "${folder}/check.sh"]\n`,
    )
    const [check] = orchestrator.hiddenChecks?.checks ?? []
    const files = check?.files.map(({path, content, isProgram}) => `${path} ${content} ${isProgram}`)
    assert.deepEqual(files?.sort(), [
      'cases/a.txt first false',
      'cases/deep/b.txt second false',
      'check.sh #!/bin/sh\n true',
    ])
  })

  it('apply to every workspace, or to the one that they name', async (t) => {
    const root = await temporaryFolder(t)
    const other = await temporaryFolder(t)
    await writeFile(join(root, 'Svc.toml'), '')
    await symlink(root, join(other, 'link'))
    const toml = () =>
      `${table}command = ["one"]\n${table}command = ["two"]\nworkspace = "${other}"\n${table}command = ["three"]\nworkspace = "${other}/link"\n`
    const {orchestrator} = await open(t, {}, toml, {root})
    assert.deepEqual(
      orchestrator.hiddenChecks?.checks.map(({position, command}) => [position, command]),
      [
        [1, ['one']],
        [3, ['three']],
      ],
    )
  })

  it('are absent without settings', async (t) => {
    const {orchestrator} = await open(t, {}, () => '')
    assert.equal(orchestrator.hiddenChecks, undefined)
  })

  const command = `${table}command = ["true"]\n`
  const unusable: Readonly<Record<string, [toml: (folder: string) => string, message: RegExp]>> = {
    'a missing file': [
      (folder) => `${command}files = ["${folder}/none.sh"]\n`,
      /^Hidden check 1 .*: its file 1 does not exist\.$/,
    ],
    'a missing file of the second check': [
      (folder) => `${command}${command}files = ["${folder}/secret-cases.sh", "${folder}/none.sh"]\n`,
      /^Hidden check 2 .*: its file 2 does not exist\.$/,
    ],
    'a missing workspace': [() => `${command}workspace = "/nowhere/at/all"\n`, /its workspace does not exist/],
    'a program that is not executable': [(folder) => `${table}files = ["${folder}/secret-data"]\n`, /not executable/],
    'two files of the same name': [
      (folder) => `${command}files = ["${folder}/secret-data", "${folder}/deep/secret-data"]\n`,
      /two of its files have the same name/,
    ],
    'a file that is a device': [() => `${command}files = ["/dev/null"]\n`, /its file 1 is neither a file nor a folder/],
  }
  for (const [what, [toml, message]] of Object.entries(unusable))
    it(`are refused with ${what}, before any task can start`, async (t) => {
      const files = {'secret-cases.sh': '', 'secret-data': 'x', 'deep/secret-data': 'y'}
      assert.match(await refusal(t, files, toml), message)
    })

  it('are refused with an unreadable file', async (t) => {
    const {folder, userConfig} = await userFolder(t, {}, (path) => `${command}files = ["${path}/loop"]\n`)
    // Root can read every file, but no one can read a link to itself.
    await symlink('loop', join(folder, 'loop'))
    await assert.rejects(openTestOrchestrator(t, {userConfig}), {
      code: 'hidden_check_unusable',
      message: /its file 1 cannot be read \(ELOOP\)/,
    })
  })

  it('are refused with a file in the workspace, even through a link', async (t) => {
    const root = await temporaryFolder(t)
    for (const name of ['Svc.toml', 'inside.txt']) await writeFile(join(root, name), '')
    const {folder, userConfig} = await userFolder(t, {}, (path) => `${command}files = ["${path}/link"]\n`)
    await symlink(join(root, 'inside.txt'), join(folder, 'link'))
    await assert.rejects(openTestOrchestrator(t, {root, userConfig}), /in the workspace, where workers can read it/)
  })

  it('are refused if the settings of the user are in the workspace', async (t) => {
    const root = await temporaryFolder(t)
    await mkdir(join(root, '.svc'))
    await writeFile(join(root, 'Svc.toml'), '')
    await writeFile(join(root, '.svc/config.toml'), command)
    await assert.rejects(
      openTestOrchestrator(t, {root, userConfig: join(root, '.svc/config.toml')}),
      /the file that defines it is in the workspace/,
    )
  })

  for (const key of ['harness.hidden_checks = [{command = ["true"]}]', 'exec.user = "nobody"'])
    it(`are no settings of a workspace: ${key}`, async (t) => {
      await assert.rejects(openTestOrchestrator(t, {toml: `[orchestrator]\n${key}\n`}), {
        code: 'config_user_only',
        message: new RegExp(`orchestrator\\.${key.split(' ')[0]} cannot be set in this file`),
      })
    })

  it('are not printed if they are invalid', async (t) => {
    const {userConfig} = await userFolder(t, {}, () => `${table}command = ["grade-secretly"]\nfile = "/x"\n`)
    await assert.rejects(openTestOrchestrator(t, {userConfig}), (error: Error) => {
      assert.match(error.message, /hidden_checks must be a list of tables/)
      return !error.message.includes('grade-secretly')
    })
    assert.match(await readFile(userConfig, 'utf8'), /grade-secretly/)
  })

  it('are refused if the other user can read them', {skip: needsRoot}, async (t) => {
    const toml = (path: string) =>
      `[orchestrator.exec]\nuser = "${otherUser}"\n${command}files = ["${path}/secret-cases.sh"]\n`
    const {folder, userConfig} = await userFolder(t, {'secret-cases.sh': ''}, toml)
    await openTestOrchestrator(t, {userConfig})
    await chmod(folder, 0o755)
    await assert.rejects(openTestOrchestrator(t, {userConfig}), /the user nobody can read it/)
    await chmod(userConfig, 0o600)
    await assert.rejects(openTestOrchestrator(t, {userConfig}), /the user nobody can read it/)
    await chmod(join(folder, 'secret-cases.sh'), 0o700)
    await openTestOrchestrator(t, {userConfig})
  })
})
