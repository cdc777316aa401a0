/** Runs the shell blocks of the project's README in a workspace where nothing has happened yet. */
import assert from 'node:assert/strict'
import {mkdir, readFile, symlink, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {after, before, describe, it} from 'node:test'
import {execa} from 'execa'
import {projectFile} from '../support/project.js'
import {svcBinary} from '../support/svc.js'
import {writeSvcInTurn} from '../support/svc-in-turn-program.js'
import {suiteFolder} from '../support/temporary.js'
import {shellBlocks} from './shell-blocks.js'

/** Blocks that are not run here, by the beginning of their first line, and why. */
const notRun: Readonly<Record<string, string>> = {
  'npm run setup && node bin/svc.js': 'installs packages from the network',
  'npm run setup && npm test': 'installs packages from the network',
  'npm pack': 'installs packages from the network',
  'svc serve --model ./runs/r7': 'serves in one terminal and asks in another; the tests of svc serve do that',
  'svc merge ./runs/r7': 'needs a base model; readme.slow.ts merges one',
  'svc speech pull': 'downloads models from the network',
  'export SVC_MESH_CONTROL_ADDR': 'takes several terminals; mesh.test.ts runs it',
  'SVC_MESH_BOOTSTRAP_TOKEN=': 'takes several terminals; mesh.test.ts runs it',
  'svc mesh nodes --watch': 'takes several terminals; mesh.test.ts runs it',
  '. .svc/mesh/mesh.env': 'takes several terminals; mesh.test.ts runs it',
  'ONNXRUNTIME_NODE_INSTALL=true': 'downloads CUDA libraries from the network',
}

/** Lines that are left out of the blocks that are run, and why. */
const leftOut: readonly (readonly [line: RegExp, reason: string])[] = [
  [/^svc (serve|lsp|db serve) /, 'serves until it is interrupted'],
  [
    /^svc orch (tasks --watch|task \S+ --follow|events --follow)/,
    'follows until it is interrupted, or the task is over',
  ],
  [/^svc daemon call orch\.events\.subscribe /, 'follows until it is interrupted'],
  [/ --model owner\/name /, 'needs a model in the cache of the Hugging Face hub'],
  [/ \.\/run\/external_serving_handoff_v1\.json$/, 'needs the result of a merge'],
]

/** A test fails when a block hangs, not when the machine is slow, ms. */
const timeout = 15 * 60_000

/** Blocks that generate many texts. */
export const isLong = (script: string): boolean => /my-model/.test(script)

const isNotRun = (name: string): boolean => Object.keys(notRun).some((start) => name.startsWith(start))

const withoutComment = (line: string): string => line.replace(/ +# .*$/, '')

const withoutLeftOut = (script: string): string =>
  script
    .split('\n')
    .filter((line) => !leftOut.some(([pattern]) => pattern.test(withoutComment(line))))
    .join('\n')

/** What some blocks print, besides that they end well. */
const prints: Readonly<Record<string, RegExp>> = {
  'mkdir tasks-demo': /\nResult:\nhello\n(.*\n)*T-0002 +Completed +.*\nT-0001 +Completed +/,
  'svc orch agent spawn builder': / help_request +.* Which format\?\nmessage 1 is acknowledged\n/,
}

export function testReadme(isChosen: (script: string) => boolean): void {
  describe('the shell blocks of the README run as they are written', async () => {
    const blocks = shellBlocks(await readFile(projectFile('README.md'), 'utf8'))
    const run = blocks
      .filter(({name, script}) => !isNotRun(name) && isChosen(script))
      .map(({name, script}) => ({name, script: withoutLeftOut(script)}))
      .filter(({script}) => script.trim() !== '')
    const home = suiteFolder()
    const workspace = join(home, 'workspace')
    /** Where a shell finds `svc`: as a user installs it, or with its command lines run in turn, which is faster. */
    const programs = {installed: join(home, 'bin'), inTurn: join(home, 'in-turn')}
    const shell = (script: string, program: keyof typeof programs) =>
      execa('bash', ['-euo', 'pipefail', '-c', script], {
        cwd: workspace,
        env: {PATH: `${programs[program]}:${process.env.PATH}`, HOME: home, TMPDIR: home, SVC_THREADS: '1'},
        extendEnv: false,
        reject: false,
        timeout,
        stripFinalNewline: false,
      })
    let close = () => {}

    before(async () => {
      for (const folder of [workspace, ...Object.values(programs)]) await mkdir(folder)
      await symlink(svcBinary, join(programs.installed, 'svc'))
      await symlink(process.execPath, join(programs.installed, 'node'))
      close = await writeSvcInTurn(programs.inTurn)
      // What the reader has: a clone of the project, and a model.
      await symlink(projectFile('examples'), join(workspace, 'examples'))
      await symlink('examples/runs/guide', join(workspace, 'my-model'))
      await writeFile(join(workspace, 'question.txt'), 'What is svc?\n')
    })
    after(async () => {
      close()
      for (const folder of ['.', 'tasks-demo']) await shell(`cd ${folder} && svc daemon stop`, 'installed')
    })

    for (const {name, script} of run)
      it(name, async (t) => {
        if (/\bjq\b/.test(script) && (await execa('jq', ['--version'], {reject: false})).failed)
          return t.skip('jq is not installed')
        // A program of the test reads no standard input, and starts no daemon.
        const program = /svc (generate|daemon)/.test(script) ? 'installed' : 'inTurn'
        // The one command that must fail says so by what jq prints.
        const text = script.replace(/^(svc .*\.\/nowhere .*)$/m, '(set +o pipefail; $1\n)')
        const {stdout, stderr, exitCode} = await shell(text, program)
        assert.equal(exitCode, 0, stdout + stderr)
        for (const [start, pattern] of Object.entries(prints)) if (name.startsWith(start)) assert.match(stdout, pattern)
      })

    it('are all run, but for those that are named with a reason', () => {
      assert.ok(run.length > 0)
      for (const start of Object.keys(notRun))
        assert.equal(blocks.filter(({name}) => name.startsWith(start)).length, 1, `${start} is no block any more`)
      const lines = blocks.filter(({name}) => !isNotRun(name)).flatMap(({script}) => script.split('\n'))
      for (const [pattern] of leftOut)
        assert.ok(
          lines.some((line) => pattern.test(withoutComment(line))),
          `${pattern} is no line any more`,
        )
    })
  })
}
