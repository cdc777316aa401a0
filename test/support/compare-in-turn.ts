/** Compares command lines that are run in turn with the same ones in processes of their own. */
import assert from 'node:assert/strict'
import {join} from 'node:path'
import {before, it} from 'node:test'
import {type SvcOptions, svc} from './svc.js'
import {svcInTurn} from './svc-in-turn.js'
import {suiteFolder, temporaryFolder, writeFiles} from './temporary.js'

/** A command line, where it runs and what it reads. */
export type Case = readonly [args: readonly string[], options?: SvcOptions]

/** Tests for each of the command lines, one after the other, in a folder with settings. */
export function testCases(casesIn: (root: string, other: string) => readonly Case[]): void {
  const root = suiteFolder()
  const other = join(root, 'other')
  before(() =>
    writeFiles(root, {
      'Svc.toml': '[engine]\nthreads = 2\n',
      'other/Svc.toml': 'unheard_of = 1\n[orchestrator]\nmax_in_flight = 3\n',
      'broken/Svc.toml': '[engine]\nthreads = = 2\n',
      'error.json': '{"error": {"code": "x"}}',
    }),
  )
  for (const [args, options = {}] of casesIn(root, other))
    it(`prints and exits as one on its own: svc ${args.join(' ')}${options.cwd === other ? ', elsewhere' : ''}`, async () => {
      assert.deepEqual(await svcInTurn(args, options), await svc(args, options))
    })
}

/** A verb of `svc orch`, and its standard input. */
export type Step = readonly [args: readonly string[], input?: string]

/** A test that verbs of `svc orch` change a workspace and print as in processes of their own. */
export function testSteps(steps: readonly Step[]): void {
  it('does the same to a workspace, step by step', async (test) => {
    const resultsOf = async (run: typeof svc) => {
      const cwd = await temporaryFolder(test)
      const results = []
      for (const [args, input = ''] of steps)
        results.push(await run(['orch', ...args], {cwd, input, env: {SVC_DATA_DIR: join(cwd, 'data')}}))
      return JSON.parse(withoutTimes(JSON.stringify(results)).replaceAll(cwd, 'CWD'))
    }
    assert.deepEqual(await resultsOf(svcInTurn), await resultsOf(svc))
  })
}

/** Clock times, durations and ids that are drawn differ between any two runs. */
const withoutTimes = (text: string) =>
  text
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?/g, 'TIME')
    .replaceAll(/\b1[78]\d{11}\b/g, 'MS')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UUID')
    .replaceAll(/\b([0-9a-f]{16}|[0-9a-f]{32})\b/g, 'ID')
