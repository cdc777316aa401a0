import assert from 'node:assert/strict'
import {existsSync, readdirSync} from 'node:fs'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import type {BenchListV1, BenchLlmV1, BenchRunV1, SyntaxKEvent} from '../../src/contracts/index.js'
import {openDatabase, repositoryId} from '../../src/store/index.js'
import type {Metric} from '../../src/telemetry/index.js'
import {assertFits, until} from '../support/orch-workspace.js'
import {startSvc} from '../support/svc.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'

const program = '@table type Note { title: str, pinned: bool }\n'

async function workspace(test: TestContext): Promise<string> {
  const root = await temporaryFolder(test)
  await writeFiles(root, {'Svc.toml': '', 'notes.svc': program})
  return root
}

const codeOf = (stdout: string) => JSON.parse(stdout).error.code

/** The metrics in the store of a workspace; undefined if it has none. */
async function metricsOf(root: string): Promise<Metric[] | undefined> {
  const path = join(root, '.svc', 'store.db')
  if (!existsSync(path)) return undefined
  const database = await openDatabase(path, {readonly: true})
  try {
    return database.prepare('SELECT * FROM research_metrics ORDER BY id').all() as Metric[]
  } finally {
    database.close()
  }
}

describe('svc bench run', () => {
  it('lists the benchmarks with what they measure', async () => {
    const {stdout} = await svcInTurn(['bench', 'run', '--json'])
    const list = JSON.parse(stdout) as BenchListV1
    await assertFits('cli/bench-list.v1', list)
    const {stdout: text} = await svcInTurn(['bench', 'run'])
    for (const {name, measures} of list) assert.ok(text.includes(name) && text.includes(measures), name)
    assert.match(text, /^BENCHMARK +MEASURES +COMPARED WITH\n/)
  })

  it('suggests a name for an unknown one', async () => {
    const {stderr, exitCode} = await svcInTurn(['bench', 'run', 'lang-chek'])
    assert.match(stderr, /There is no benchmark lang-chek\. Did you mean lang-check\?/)
    assert.equal(exitCode, 3)
  })

  it('prints the figures, and records them with SVC_BENCHMARK_TELEMETRY', async (t) => {
    const root = await workspace(t)
    const env = {SVC_BENCHMARK_TELEMETRY: '1'}
    const {stdout, exitCode} = await svcInTurn(['bench', 'run', 'lang-check', '--json'], {cwd: root, env})
    assert.equal(exitCode, 0, stdout)
    const result = JSON.parse(stdout) as BenchRunV1
    await assertFits('cli/bench-run.v1', result)
    assert.equal(result.name, 'lang-check')
    const [row, ...others] = (await metricsOf(root)) ?? []
    assert.deepEqual(others, [])
    const {version, node, base, figures, ratio} = result
    assert.deepEqual(
      [row?.session_id, row?.metric_type, row?.metric_value],
      [`bench:${repositoryId(root)}`, 'benchmark_event', ratio],
    )
    assert.deepEqual(JSON.parse(row?.metadata_json ?? ''), {
      name: 'lang-check',
      repository_id: repositoryId(root),
      metric_value_unit: 'ratio',
      details: {base, figures, version, node},
    })
  })

  it('exits with status 130 when interrupted, and leaves no files', async (t) => {
    const [root, folder] = [await workspace(t), await temporaryFolder(t)]
    const running = startSvc(['bench', 'run', 'orchestrator-submit'], {cwd: root, env: {TMPDIR: folder}})
    await until(() => readdirSync(folder).some((name) => name.startsWith('svc-bench-')), 'the benchmark runs')
    running.kill('SIGINT')
    assert.equal((await running).exitCode, 130)
    assert.deepEqual([readdirSync(folder), existsSync(join(root, '.svc'))], [[], false])
  })
})

describe('svc bench llm', () => {
  /** A workspace with a model of a context length. */
  async function withModel(test: TestContext, contextLength: number): Promise<string> {
    const root = await workspace(test)
    await writeTinyModel(join(root, 'tiny'), {contextLength})
    return root
  }
  const args = ['bench', 'llm', '--model', 'tiny', '--threads', '1']

  it('prints the speeds and the memory, and records them with SVC_BENCHMARK_TELEMETRY', async (t) => {
    const cwd = await withModel(t, 1024)
    const run = await svcInTurn([...args, '--json'], {cwd, env: {SVC_BENCHMARK_TELEMETRY: '1'}})
    const result = JSON.parse(run.stdout) as BenchLlmV1
    await assertFits('cli/bench-llm.v1', result)
    assert.deepEqual([result.model, result.precision, result.threads, result.prefill.tokens], ['tiny', 'f32', 1, 512])
    assert.deepEqual(
      result.decode.map(({streams, tokens_per_second: speed}) => [streams, speed !== null && speed > 0]),
      [
        [1, true],
        [4, true],
        [8, true],
      ],
    )
    assert.ok(result.prefill.tokens_per_second > 0 && result.load_ms > 0 && result.memory_bytes > 1e7, run.stdout)
    const [row] = (await metricsOf(cwd)) ?? []
    assert.equal(row?.metric_value, result.decode[0]?.tokens_per_second)
    assert.deepEqual(JSON.parse(row?.metadata_json ?? '').details, result)
  })

  it('prints a table, with a prompt that fits into the context', async (t) => {
    const cwd = await withModel(t, 64)
    const {stdout, stderr} = await svcInTurn([...args, '--precision', 'w8'], {cwd})
    assert.match(stdout, /^FIGURE +VALUE\nprompt of 64 tokens +[\d.]+ tokens\/s\n1 reply +[\d.]+ tokens\/s\n/)
    assert.match(stdout, /^tiny: precision w8, threads: 1$/m)
    assert.equal(stderr, '')
  })
})

describe('svc bench syntax-k', () => {
  it('prints the event as JSON', async (t) => {
    const root = await workspace(t)
    const {stdout, stderr} = await svcInTurn(['bench', 'syntax-k', 'notes.svc', '--json'], {cwd: root})
    const event = JSON.parse(stdout) as SyntaxKEvent
    await assertFits('eval/syntax-k-event', event)
    assert.deepEqual([event.fixture_id, event.target_kind, event.raw_bytes], ['notes', 'svc', program.length])
    assert.equal(event.support_metrics?.representability?.first_failing_stage, null)
    assert.equal(stderr, '')
    assert.deepEqual(readdirSync(root).sort(), ['Svc.toml', 'notes.svc'])
  })

  it('prints a text with the estimate and the distance', async (t) => {
    const root = await workspace(t)
    const args = ['bench', 'syntax-k', 'notes.svc', '--baseline', 'notes.svc']
    const {stdout} = await svcInTurn(args, {cwd: root})
    assert.match(stdout, /^COMPRESSOR +BYTES +RATIO +DISTANCE\ngzip +\d+ +\d\.\d{4} +\d\.\d{4}\n/)
    assert.match(stdout, /^notes \(svc\): 46 bytes, estimate \d+ bytes$/m)
    assert.match(stdout, /^Distance from the baseline: 0\.\d{4}$/m)
  })

  it('reports the stage at which a program fails', async (t) => {
    const root = await workspace(t)
    await writeFiles(root, {'wrong.svc': 'fn ('})
    const {stdout, exitCode} = await svcInTurn(['bench', 'syntax-k', 'wrong.svc'], {cwd: root})
    assert.match(stdout, /^The program fails at the stage parse; run `svc db check FILE`\.$/m)
    assert.equal(exitCode, 0)
  })

  it('reads standard input, with --fixture and --kind', async (t) => {
    const cwd = await workspace(t)
    const args = ['bench', 'syntax-k', '-', '--fixture', 'piped', '--json']
    const source = JSON.parse((await svcInTurn(args, {cwd, input: program})).stdout) as SyntaxKEvent
    assert.deepEqual([source.fixture_id, source.target_kind, source.support_metrics], ['piped', 'source', undefined])
    const checked = JSON.parse((await svcInTurn([...args, '--kind', 'svc'], {cwd, input: program})).stdout)
    assert.equal(checked.support_metrics.representability.hir_ok, true)
  })

  it('requires --fixture for standard input, and reads it only once', async (t) => {
    const cwd = await workspace(t)
    for (const flags of [[], ['--fixture', 'a', '--baseline', '-'], ['--fixture', 'a', '--kind', '']]) {
      const args = ['bench', 'syntax-k', '-', ...flags, '--json']
      const {stdout, exitCode} = await svcInTurn(args, {cwd, input: program})
      assert.deepEqual([codeOf(stdout), exitCode], ['usage', 2], flags.join(' '))
    }
  })

  it('refuses a missing file, and one of more than 4 MiB', async (t) => {
    const cwd = await workspace(t)
    await writeFiles(cwd, {'large.ts': ' '.repeat((4 << 20) + 1)})
    const missing = await svcInTurn(['bench', 'syntax-k', 'missing.ts', '--json'], {cwd})
    assert.deepEqual([codeOf(missing.stdout), missing.exitCode], ['file_not_found', 3])
    const large = await svcInTurn(['bench', 'syntax-k', 'large.ts'], {cwd})
    assert.match(large.stderr, /large\.ts is longer than 4 MiB\./)
    assert.equal(large.exitCode, 2)
  })

  it('warns about an estimate over the limit, or fails with SVC_SYNTAX_K_GATE=enforce', async (t) => {
    const cwd = await workspace(t)
    const run = (env: Record<string, string>) => svcInTurn(['bench', 'syntax-k', 'notes.svc', '--json'], {cwd, env})
    const observed = await run({SVC_SYNTAX_K_MAX_BYTES: '20'})
    assert.match(observed.stderr, /^warning: The estimate for notes is \d+ bytes; the limit is 20 bytes\.$/m)
    assert.equal(observed.exitCode, 0)
    await assertFits('eval/syntax-k-event', JSON.parse(observed.stdout))
    const refused = await run({SVC_SYNTAX_K_MAX_BYTES: '20', SVC_SYNTAX_K_GATE: 'enforce'})
    assert.deepEqual([codeOf(refused.stdout), refused.exitCode], ['syntax_k_limit_exceeded', 1])
    const {k_est_bytes: estimate} = JSON.parse(observed.stdout) as SyntaxKEvent
    const enforced = await run({SVC_SYNTAX_K_MAX_BYTES: String(estimate), SVC_SYNTAX_K_GATE: 'enforce'})
    assert.deepEqual([enforced.stderr, enforced.exitCode], ['', 0])
  })
})

describe('the telemetry of svc bench syntax-k', () => {
  const run = (cwd: string, env: Record<string, string>) =>
    svcInTurn(['bench', 'syntax-k', 'notes.svc', '--json'], {cwd, env})

  it('records the event', async (t) => {
    const root = await workspace(t)
    const {stdout} = await run(root, {SVC_SYNTAX_K_TELEMETRY: 'true'})
    const event = JSON.parse(stdout) as SyntaxKEvent
    const rows = (await metricsOf(root)) ?? []
    assert.deepEqual(
      rows.map(({session_id: session, metric_type: type, metric_value: value}) => [session, type, value]),
      [[`syntaxk:${repositoryId(root)}`, 'syntax_k_event', event.k_est_bytes]],
    )
    assert.deepEqual(JSON.parse(rows[0]?.metadata_json ?? ''), {
      name: 'syntax_k',
      repository_id: repositoryId(root),
      fixture_id: 'notes',
      details: event,
    })
  })

  for (const [env, isRecorded] of [
    [{SVC_BENCHMARK_TELEMETRY: '1'}, true],
    [{SVC_BENCHMARK_TELEMETRY: '1', SVC_SYNTAX_K_TELEMETRY: '0'}, false],
    [{SVC_BENCHMARK_TELEMETRY: '0', SVC_SYNTAX_K_TELEMETRY: '1'}, true],
    [{SVC_SYNTAX_K_TELEMETRY: '1', SVC_TELEMETRY: 'off'}, false],
    [{SVC_BENCHMARK_TELEMETRY: '1', SVC_TELEMETRY: '0'}, false],
    [{}, false],
  ] as const)
    it(`${isRecorded ? 'records a row' : 'creates no store'} with ${JSON.stringify(env)}`, async (t) => {
      const root = await workspace(t)
      await run(root, env)
      assert.equal((await metricsOf(root))?.length, isRecorded ? 1 : undefined)
    })

  it('records in the workspace of SVC_REPOSITORY_ROOT', async (t) => {
    const [root, other] = [await workspace(t), await workspace(t)]
    await run(root, {SVC_SYNTAX_K_TELEMETRY: '1', SVC_REPOSITORY_ROOT: other})
    const [row] = (await metricsOf(other)) ?? []
    assert.equal(row?.session_id, `syntaxk:${repositoryId(other)}`)
    assert.equal(await metricsOf(root), undefined)
  })

  it('warns if the result cannot be recorded, and prints it', async (t) => {
    const root = await workspace(t)
    await writeFiles(root, {'.svc/store.db': 'not a database'.repeat(100)})
    const {stdout, stderr, exitCode} = await run(root, {SVC_SYNTAX_K_TELEMETRY: '1'})
    assert.match(stderr, /^warning: The result was not recorded\. /m)
    await assertFits('eval/syntax-k-event', JSON.parse(stdout))
    assert.equal(exitCode, 0)
  })
})
