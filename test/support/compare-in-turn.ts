/** Compares command lines in a reused process with the same ones in separate processes. */
import assert from 'node:assert/strict'
import {join} from 'node:path'
import {before, it} from 'node:test'
import {type SvcOptions, svc} from './svc.js'
import {svcInTurn} from './svc-in-turn.js'
import {suiteFolder, temporaryFolder, writeFiles} from './temporary.js'

/** A command line with its folder and input. */
export type Case = readonly [args: readonly string[], options?: SvcOptions]

/** Tests each of the command lines in turn in a folder with settings. */
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
    it(`has the same output and exit status: svc ${args.join(' ')}${options.cwd === other ? ', other folder' : ''}`, async () => {
      assert.deepEqual(await svcInTurn(args, options), await svc(args, options))
    })
}

/** A command of `svc orch` and its standard input. */
export type Step = readonly [args: readonly string[], input?: string]

/** Tests that commands of `svc orch` have the same effects and output as in separate processes. */
export function testSteps(steps: readonly Step[]): void {
  it('has the same effects on a workspace in a sequence of commands', async (test) => {
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

/** Replaces times and random ids, which differ between runs. */
const withoutTimes = (text: string) =>
  text
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?/g, 'TIME')
    .replaceAll(/\b\d+[smhd] +/g, 'AGE ')
    .replaceAll(/\b1[78]\d{11}\b/g, 'MS')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UUID')
    .replaceAll(/\b([0-9a-f]{16}|[0-9a-f]{32})\b/g, 'ID')
