import assert from 'node:assert/strict'
import {mkdir, readFile, symlink} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {execa} from 'execa'
import {projectFile} from '../support/project.js'
import {svcBinary} from '../support/svc.js'
import {suiteFolder} from '../support/temporary.js'

interface Block {
  name: string
  script: string
  /** What it prints, where the text says so. */
  output: string | undefined
}

/** The shell blocks of a text, each with the block of output that follows it. */
function shellBlocks(text: string): Block[] {
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/gms)]
  return blocks.map(([, script = '', output]) => ({name: script.trim().split('\n')[0] ?? '', script, output}))
}

/** Texts whose blocks a newcomer may paste into a shell. */
const texts = ['README.md', 'todo.README.md', 'library.README.md', 'tasks.README.md']

describe('the shell blocks of the examples run as they are written', async () => {
  const home = suiteFolder()
  const programs = join(home, 'bin')
  await mkdir(programs)
  await symlink(svcBinary, join(programs, 'svc'))
  await symlink(process.execPath, join(programs, 'node'))
  const read = texts.map((name) => readFile(projectFile(`examples/${name}`), 'utf8'))
  const blocks = (await Promise.all(read)).flatMap(shellBlocks)

  for (const {name, script, output} of blocks)
    it(name, async () => {
      const {stdout, stderr, exitCode} = await execa('bash', ['-euo', 'pipefail', '-c', script], {
        cwd: projectFile('.'),
        env: {PATH: `${programs}:${process.env.PATH}`, HOME: home, TMPDIR: home},
        extendEnv: false,
        reject: false,
        timeout: 60_000,
      })
      assert.equal(exitCode, 0, stderr)
      if (output !== undefined) assert.equal(stdout.trimEnd(), output.trimEnd())
    })

  it('there are some', () => assert.ok(blocks.length >= 9))
})
