import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {contractViolations} from '../../src/contracts/index.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

/** A workspace with a dataset of two texts, which need no model: the first has one error in two words. */
async function workspace(test: TestContext) {
  const cwd = await temporaryFolder(test)
  await writeFiles(cwd, {
    'Svc.toml': '',
    'set.jsonl': '{"path":"a.txt","expected":"one too"}\n{"path":"b.txt","expected":"three four five six"}\n',
    'a.txt': 'one two',
    'b.txt': 'three four five six',
    'good.json': '{"schema_version":"1","captured_at_utc":"2026-01-15T10:00:00Z","wer":0.1}',
    'bad.json': '{"schema_version":"1","captured_at_utc":"2026-01-15T10:00:00Z","wer":0.4}',
  })
  const run = (args: readonly string[], env: Record<string, string> = {}) =>
    svcInTurn(['speech', ...args], {cwd, env: {HOME: cwd, ...env}})
  return {cwd, run, evaluate: (...args: string[]) => run(['eval', 'set.jsonl', '--quiet', ...args])}
}

describe('svc speech eval --save', () => {
  it('compares a run with the previous one, and lists the history', async (test) => {
    const {cwd, run, evaluate} = await workspace(test)
    const first = JSON.parse((await evaluate('--save', '--json')).stdout)
    assert.deepEqual(await contractViolations('cli/speech-eval.v1', first), [])
    assert.equal(first.saved.previous, null)
    await writeFiles(cwd, {'a.txt': 'one too', 'b.txt': 'three four'})
    const second = await evaluate('--save')
    assert.match(
      second.stdout,
      /^Since the run of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d: WER \+16\.7 %, CER \+\d+\.\d %, [+-]?\d+ ms each$/m,
    )
    assert.ok(second.stdout.includes(`\nbetter: ${join(cwd, 'a.txt')}\nworse: ${join(cwd, 'b.txt')}\n`), second.stdout)
    const {stdout} = await run(['eval', '--history', '5', '--json'])
    const history = JSON.parse(stdout)
    assert.deepEqual(await contractViolations('cli/speech-eval-history.v1', history), [])
    assert.deepEqual(
      history.runs.map((saved: {total_wer_errors: number}) => saved.total_wer_errors),
      [2, 1],
    )
    assert.equal(history.runs[1].run_id, first.saved.run_id)
    assert.match(
      (await run(['eval', 'set.jsonl', '--history', '1'])).stdout,
      /^TIME .*\n\d{4}-.* none .*set\.jsonl +basic +2 +33\.3 % /,
    )
    assert.deepEqual(JSON.parse((await run(['eval', 'good.json', '--history', '1', '--json'])).stdout), {runs: []})
  })

  it('measures nothing if the store cannot be opened', async (test) => {
    const {cwd, run} = await workspace(test)
    await writeFiles(cwd, {'.svc/store.db': 'not a database', 'set.jsonl': '{"path":"gone.txt","expected":"one"}'})
    const {exitCode, stdout, stderr} = await run(['eval', 'set.jsonl', '--save'])
    assert.deepEqual([exitCode, stdout], [5, ''])
    assert.match(stderr, /^error: .*store\.db/)
  })

  it('needs a dataset', async (test) => {
    const {exitCode, stderr} = await (await workspace(test)).run(['eval', '--save'])
    assert.equal(exitCode, 2)
    assert.match(stderr, /dataset is missing/)
  })
})

describe('SVC_SPEECH_CANARY_KPI', () => {
  it('fails an evaluation that exceeds a limit, after its report', async (test) => {
    const {cwd, run} = await workspace(test)
    const env = {SVC_SPEECH_CANARY_KPI: 'good.json'}
    const passed = await run(['eval', 'set.jsonl', '--quiet', '--json'], env)
    const {kpi} = JSON.parse(passed.stdout)
    assert.deepEqual([passed.exitCode, kpi.passed], [0, true])
    assert.deepEqual(
      kpi.metrics.find(({metric}: {metric: string}) => metric === 'wer'),
      {
        metric: 'wer',
        value: 1 / 6,
        limit: 0.35,
        ok: true,
        baseline: 0.1,
      },
    )
    await writeFiles(cwd, {'b.txt': ''})
    const failed = await run(['eval', 'set.jsonl', '--quiet'], env)
    assert.equal(failed.exitCode, 1)
    assert.match(failed.stdout, /^wer +0\.8333 +0\.35 +0\.1 +failed$/m)
  })

  it('needs a valid file, unless the evaluation writes it', async (test) => {
    const {cwd, run} = await workspace(test)
    const env = {SVC_SPEECH_CANARY_KPI: 'kpi.json'}
    assert.match((await run(['eval', 'set.jsonl'], env)).stderr, /kpi\.json does not exist\. \(file_not_found\)/)
    const write = ['eval', 'set.jsonl', '--quiet', '--write-kpi', 'kpi.json']
    assert.equal((await run(write, env)).exitCode, 0)
    const kpis = JSON.parse(await readFile(join(cwd, 'kpi.json'), 'utf8'))
    assert.deepEqual(await contractViolations('speech-to-code/kpi-baseline', kpis), [])
    assert.equal(kpis.wer, 1 / 6)
    assert.match((await run(write, env)).stderr, /\(output_exists\)/)
    assert.equal((await run([...write, '--overwrite'], env)).exitCode, 0)
    assert.match(
      (await run(['eval', 'set.jsonl', '--write-kpi', 'set.jsonl', '--overwrite'])).stderr,
      /\(output_is_input\)/,
    )
  })

  it('stops svc speech serve and svc speech doctor if its values are not good enough', async (test) => {
    const {run} = await workspace(test)
    const serve = await run(['serve', '--port', '0'], {SVC_SPEECH_CANARY_KPI: 'bad.json'})
    assert.equal(serve.exitCode, 1)
    assert.match(
      serve.stderr,
      /bad\.json are not good enough: wer is 0\.4, and the limit is 0\.35\. \(speech_kpi_violated\)/,
    )
    const checkOf = async (file: string) => {
      const {stdout} = await run(['doctor', '--json'], {SVC_SPEECH_CANARY_KPI: file})
      return JSON.parse(stdout).checks.find(({name}: {name: string}) => name === 'canary_kpi')
    }
    assert.deepEqual((await checkOf('good.json')).ok, true)
    const {ok, value} = await checkOf('bad.json')
    assert.equal(ok, false)
    assert.match(value, /wer is 0\.4/)
  })
})
