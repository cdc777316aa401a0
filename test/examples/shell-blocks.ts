/** Runs the shell blocks of the documents in `examples/` as a new user would. */
import assert from 'node:assert/strict'
import {mkdir, readFile, symlink} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {execa} from 'execa'
import {projectFile} from '../support/project.js'
import {svcBinary} from '../support/svc.js'
import {suiteFolder} from '../support/temporary.js'

export interface Block {
  name: string
  script: string
  /** Documented output, if any. */
  output: string | undefined
}

/** The shell blocks of a document, each with the output block that follows it. */
export function shellBlocks(text: string): Block[] {
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/gms)]
  return blocks.map(([, script = '', output]) => ({name: script.trim().split('\n')[0] ?? '', script, output}))
}

/** Models use one thread, because several threads would spin and add load to a busy machine. */
const oneThread = {SVC_THREADS: '1', SVC_SPEECH_THREADS: '1'}

/** Timeout of a block, ms; long enough for a slow machine. */
const timeout = 15 * 60_000

/** Runs the chosen blocks of some documents of `examples/` in order. */
export function testShellBlocks(texts: readonly string[], isChosen: (script: string) => boolean, fewest: number): void {
  describe('the shell blocks of the examples run as documented', async () => {
    const home = suiteFolder()
    const programs = join(home, 'bin')
    await mkdir(programs)
    await symlink(svcBinary, join(programs, 'svc'))
    await symlink(process.execPath, join(programs, 'node'))
    const read = texts.map((name) => readFile(projectFile(`examples/${name}`), 'utf8'))
    const blocks = (await Promise.all(read)).flatMap(shellBlocks).filter(({script}) => isChosen(script))

    for (const {name, script, output} of blocks)
      it(name, async () => {
        const {stdout, stderr, exitCode} = await execa('bash', ['-euo', 'pipefail', '-c', script], {
          cwd: projectFile('.'),
          env: {PATH: `${programs}:${process.env.PATH}`, HOME: home, TMPDIR: home, ...oneThread},
          extendEnv: false,
          reject: false,
          timeout,
        })
        assert.equal(exitCode, 0, stderr)
        if (output !== undefined) assert.equal(stdout.trimEnd(), output.trimEnd())
      })

    it(`number at least ${fewest}`, () => assert.ok(blocks.length >= fewest))
  })
}

/** Blocks that run a model on many inputs, write a model, or run many commands. `readme.slow.ts` runs them. */
export const isLong = (script: string) =>
  /svc speech eval|svc merge|\*\.wav|memo\.wav|while read|^library /m.test(script)
