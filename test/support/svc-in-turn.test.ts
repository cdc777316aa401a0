import assert from 'node:assert/strict'
import {join} from 'node:path'
import {before, describe, it} from 'node:test'
import {type SvcOptions, startSvc, svc} from './svc.js'
import {startInTurn, svcInTurn} from './svc-in-turn.js'
import {suiteFolder, temporaryFolder, writeFiles} from './temporary.js'

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

/** Command lines that end well and badly, one after the other, each in a place of its own. */
const cases: readonly [args: readonly string[], options?: SvcOptions][] = [
  // It takes standard output for itself, which the next one must not come upon.
  [['mcp', 'serve'], {cwd: root}],
  [['--version']],
  [[]],
  [['orch', 'submit', '--help']],
  [['genrate']],
  [['config', 'shwo', '--json']],
  [['config', 'check'], {env: {SVC_THREADS: 'many'}}],
  [['config', 'show', '--json'], {cwd: root}],
  [['config', 'show', '--json'], {cwd: other}],
  [['config', 'show', '--json'], {cwd: other, env: {SVC_LOG: 'debug', SVC_THREADS: '3'}}],
  [['config', 'show'], {cwd: join(root, 'broken')}],
  [['config', 'show', '-C', 'other', '--json'], {cwd: root}],
  [['config', 'show', '-C', 'nowhere'], {cwd: root}],
  [['contracts', 'list', '--json']],
  [['contracts', 'validate', 'cli/error.v1', '-'], {input: '{"error": {}}'}],
  [['contracts', 'validate', 'cli/error.v1', 'error.json'], {cwd: root}],
  [['generate', '-m', './nowhere', '-', '--json'], {input: Uint8Array.of(0x61, 0xff)}],
  [['db', 'check', '-'], {input: 'table\n'}],
  [['orch', 'submit', '-'], {cwd: root, input: 'x'.repeat(200_000)}],
  [['orch', 'task', '7'], {cwd: root}],
  [['a2a', 'send', '--json'], {cwd: root}],
]

describe('a command line that is run in turn', () => {
  for (const [args, options = {}] of cases)
    it(`prints and exits as one on its own: svc ${args.join(' ')}${options.cwd === other ? ', elsewhere' : ''}`, async () => {
      assert.deepEqual(await svcInTurn(args, options), await svc(args, options))
    })

  it('goes on until it is stopped, and ends as one on its own', async (test) => {
    const cwd = await temporaryFolder(test)
    const args = ['daemon', 'run', '--json']
    const going = startInTurn(args, {cwd})
    while (going.lines.length === 0) await going.told()
    assert.equal(JSON.parse(going.lines[0] ?? '').event, 'ready')
    const inTurn = await going.stop()
    const child = startSvc(args, {cwd})
    child.stdout?.once('data', () => child.kill('SIGTERM'))
    const alone = await child
    assert.deepEqual([inTurn.exitCode, inTurn.stderr], [alone.exitCode, alone.stderr])
    assert.match(inTurn.stdout, /"type":"daemon_stopped"/)
    await assert.rejects(going.told(), /It has ended/)
  })

  it('does the same to a workspace, step by step', async (test) => {
    const steps: readonly [args: readonly string[], input?: string][] = [
      [['submit', 'one', '--processor', 'external', '--json']],
      [['submit', '--batch', '-', '--json'], '{"description": "two", "processor": "external", "depends_on": [1]}\n'],
      [['agent', 'spawn', 'builder']],
      [['claim', '--as', 'me', '--json']],
      [['complete', '1', '--summary', '-'], 'done\n'],
      [['claim', '--as', 'me']],
      [['complete', '2', '--claim', '7', '--json']],
      [['cancel', '2']],
      [['retry', '1']],
      [['task', '2']],
      [['status']],
      [['events', '--json']],
    ]
    const told = async (run: typeof svc) => {
      const cwd = await temporaryFolder(test)
      const results = []
      for (const [args, input = ''] of steps)
        results.push(await run(['orch', ...args], {cwd, input, env: {SVC_DATA_DIR: join(cwd, 'data')}}))
      return JSON.parse(withoutTimes(JSON.stringify(results)).replaceAll(cwd, 'CWD'))
    }
    assert.deepEqual(await told(svcInTurn), await told(svc))
  })
})

/** Clock times, durations and ids that are drawn differ between any two runs. */
const withoutTimes = (text: string) =>
  text
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?/g, 'TIME')
    .replaceAll(/\b1[78]\d{11}\b/g, 'MS')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UUID')
    .replaceAll(/\b([0-9a-f]{16}|[0-9a-f]{32})\b/g, 'ID')
