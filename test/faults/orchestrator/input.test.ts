import assert from 'node:assert/strict'
import {symlink} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {type SvcResult, svc} from '../../support/svc.js'
import {svcInTurn} from '../../support/svc-in-turn.js'
import {suiteFolder, writeFiles} from '../../support/temporary.js'

interface Refusal {
  code: string
  message: string
  remediation: string
  exit: number
}

const root = suiteFolder()
const env = {SVC_WORKSPACE_JOURNEY_FALLBACK_CANONICAL: '0'}
const orch = (args: readonly string[], input: string | Uint8Array = '') =>
  svcInTurn(['orch', ...args], {cwd: root, env, input})
/** As a process of its own, with a pipe to read from. */
const alone = (args: readonly string[], input: string | Uint8Array) => svc(['orch', ...args], {cwd: root, env, input})
const batch = (input: string | Uint8Array) => orch(['submit', '--batch', '-', '--json'], input)
const lines = (tasks: readonly unknown[]) => tasks.map((task) => `${JSON.stringify(task)}\n`).join('')

/** How many tasks there are, whatever their state. */
async function taskCount(): Promise<number> {
  const {stdout} = await orch(['status', '--json'])
  const status = JSON.parse(stdout) as Readonly<Record<string, unknown>>
  return ['queued', 'in_progress', 'completed', 'blocked', 'failed', 'cancelled', 'doubted'].reduce(
    (sum, state) => sum + Number(status[`total_${state}`]),
    0,
  )
}

/** The error of what was refused: of one value, one readable sentence, and no task the more. */
async function refused(call: () => Promise<SvcResult>, code: string, exit: number, message: RegExp): Promise<void> {
  const before = await taskCount()
  const {stdout, exitCode} = await call()
  const {error} = JSON.parse(stdout) as {error?: Refusal}
  assert.ok(error !== undefined, `it was taken: ${stdout.slice(0, 200)}`)
  assert.deepEqual([error.code, error.exit, exitCode], [code, exit, exit], error.message.slice(0, 500))
  assert.match(error.message, message)
  assert.match(error.message, /\.$/)
  assert.ok(error.message.length < 4000, `a sentence of ${error.message.length} characters`)
  assert.equal(await taskCount(), before)
}

async function accepted(call: () => Promise<SvcResult>, count = 1): Promise<number[]> {
  const before = await taskCount()
  const {stdout, stderr, exitCode} = await call()
  assert.equal(exitCode, 0, `${stdout.slice(0, 500)}${stderr}`)
  assert.equal(await taskCount(), before + count)
  return stdout
    .trimEnd()
    .split('\n')
    .map((each) => (JSON.parse(each) as {task_id: number}).task_id)
}

describe('a description', () => {
  const longest = 128 * 1024

  it('of 128 KiB is kept whole', async () => {
    const description = 'Seven times. '
      .repeat(longest)
      .slice(0, longest - 1)
      .concat('.')
    const [id] = await accepted(() => orch(['submit', '-', '--json'], description))
    const {stdout} = await orch(['task', String(id), '--json'])
    assert.equal((JSON.parse(stdout) as {description: string}).description, description)
  })

  it('of one character more is refused, from standard input and in a batch', async () => {
    const description = 'x'.repeat(longest + 1)
    await refused(() => orch(['submit', '-', '--json'], description), 'task_invalid', 2, /131072|description/)
    await refused(() => batch(lines([{description}])), 'task_invalid', 2, /^Task 0 of the batch .*description/)
  })

  it('of megabytes is refused', async () => {
    await refused(() => alone(['submit', '-', '--json'], 'x'.repeat(20 << 20)), 'stdin_too_long', 2, /./)
  })

  it('that is blank is refused', async () => {
    for (const blank of ['', ' \n\t', '\u00a0'])
      await refused(() => orch(['submit', '-', '--json'], blank), 'task_invalid', 2, /description is blank/)
  })

  it('of bytes that are no text is refused', async () => {
    const bytes = Uint8Array.from({length: 2000}, (_, i) => (i * 131 + 7) % 256)
    await refused(() => alone(['submit', '-', '--json'], bytes), 'stdin_not_utf8', 2, /./)
  })

  it('with characters of every kind is shown as it was given, and drives no terminal', async () => {
    const description = 'a\u0000b\u001b[2J\u202e\ud83d\ude00 \u0301 \r\n"}\\'
    const [id] = await accepted(() => orch(['submit', '-', '--json'], description))
    const shown = await orch(['task', String(id), '--json'])
    assert.equal((JSON.parse(shown.stdout) as {description: string}).description, description)
    const text = await orch(['task', String(id)])
    assert.equal(text.exitCode, 0)
    assert.ok(!text.stdout.includes('\u001b'), JSON.stringify(text.stdout))
    assert.ok(!text.stdout.includes('\u0000'), JSON.stringify(text.stdout))
  })
})

describe('a manifest', () => {
  const manifest = (count: number) =>
    Array.from({length: count}, (_, i) => ({path: `src/${i % 100}/${i}.ts`, access: i % 2 === 0 ? 'write' : 'read'}))

  it('of 10,000 files is taken', async () => {
    const [id] = await accepted(() => batch(lines([{description: 'much', file_manifest: manifest(10_000)}])))
    const {stdout} = await orch(['task', String(id), '--json'])
    assert.equal((JSON.parse(stdout) as {file_manifest: unknown[]}).file_manifest.length, 10_000)
    await orch(['cancel', String(id)])
  })

  it('of one file more is refused', async () => {
    await refused(() => batch(lines([{description: 'x', file_manifest: manifest(10_001)}])), 'task_invalid', 2, /10000/)
  })

  const escapes: readonly string[] = [
    '../outside.ts',
    'src/../../outside.ts',
    '/etc/passwd',
    './../../x',
    'a/b/../../../c',
    '..',
    'src/..//../x',
  ]
  for (const path of escapes)
    it(`that names ${path} is refused`, async () => {
      const task = {description: 'x', file_manifest: [{path, access: 'write'}]}
      await refused(() => batch(lines([task])), 'task_path_escapes', 2, /does not lie in the workspace/)
      await refused(
        () => orch(['submit', 'x', '-f', path, '--json']),
        'task_path_escapes',
        2,
        /does not lie in the workspace/,
      )
    })

  it('that names a file behind a link keeps the name: nothing is followed, and nothing outside is named', async () => {
    await symlink('/etc', join(root, 'link'))
    const task = {description: 'x', file_manifest: [{path: './link/passwd', access: 'write'}]}
    const [id] = await accepted(() => batch(lines([task])))
    const {stdout} = await orch(['task', String(id), '--json'])
    const {file_manifest: files} = JSON.parse(stdout) as {file_manifest: unknown}
    assert.deepEqual(files, [{path: 'link/passwd', access: 'write'}])
  })

  it('with a NUL byte in a path is refused', async () => {
    const task = {description: 'x', file_manifest: [{path: 'a\u0000b', access: 'write'}]}
    const {stdout, exitCode} = await batch(lines([task]))
    assert.equal(exitCode, 2, stdout)
  })
})

describe('a batch', () => {
  it('whose tasks wait for each other is refused with the circle', async () => {
    const task = (i: number, ...needed: number[]) => ({description: `task ${i}`, temp_deps: needed})
    await refused(
      () => batch(lines([task(0), task(1, 3), task(2, 1), task(3, 2)])),
      'dependency_cycle',
      2,
      /task 1 -> task 3 -> task 2 -> task 1/,
    )
    await refused(() => batch(lines([task(0, 0)])), 'dependency_cycle', 2, /task 0 -> task 0/)
  })

  it('with a circle of 2,000 tasks is refused in a sentence that can be read', async () => {
    const ring = Array.from({length: 2000}, (_, i) => ({description: 'x', temp_deps: [(i + 1) % 2000]}))
    await refused(() => batch(lines(ring)), 'dependency_cycle', 2, /wait for each other/)
  })

  it('that waits for what is not there is refused', async () => {
    await refused(() => batch(lines([{description: 'x', depends_on: [999_999]}])), 'dependency_unknown', 3, /T-999999/)
    await refused(() => batch(lines([{description: 'x', temp_deps: [7]}])), 'task_invalid', 2, /task 7/)
    for (const id of [0, -1, 1.5, 2 ** 53, 1e300, '1', null])
      await refused(() => batch(lines([{description: 'x', depends_on: [id]}])), 'task_invalid', 2, /depends_on/)
    const largest = Number.MAX_SAFE_INTEGER
    await refused(() => batch(lines([{description: 'x', depends_on: [largest]}])), 'dependency_unknown', 3, /T-9007/)
  })

  it('of 1,000 tasks whose last one is invalid submits none', async () => {
    const tasks: object[] = Array.from({length: 999}, (_, i) => ({description: `task ${i}`}))
    for (const [last, code, exit] of [
      [{description: ' '}, 'task_invalid', 2],
      [{description: 'x', priority: 'soon'}, 'task_invalid', 2],
      [{description: 'x', unknown: 1}, 'task_invalid', 2],
      [{description: 'x', depends_on: [999_999]}, 'dependency_unknown', 3],
      [{description: 'x', file_manifest: [{path: '../x', access: 'write'}]}, 'task_path_escapes', 2],
      [{description: 'x', exec: {template: 'none'}, processor: 'exec'}, 'exec_disabled', 4],
      ['no task', 'task_invalid', 2],
    ] as const)
      await refused(
        () => batch(lines([...tasks, last])),
        code,
        exit,
        code === 'task_invalid' ? /^Task 999 of the batch / : /./,
      )
  })

  it('of 1,000 sound tasks is taken whole', async () => {
    const ids = await accepted(
      () => batch(lines(Array.from({length: 1000}, (_, i) => ({description: `task ${i}`})))),
      1000,
    )
    assert.equal(new Set(ids).size, 1000)
  })

  it('of 50 MB is taken whole', async () => {
    const tasks = Array.from({length: 400}, (_, i) => ({description: `${i} ${'x'.repeat(131_000)}`}))
    await writeFiles(root, {'large.jsonl': lines(tasks)})
    await accepted(() => orch(['submit', '--batch', 'large.jsonl', '--json']), 400)
  })

  it('of one line of 50 MB that is no task is refused in a short sentence', async () => {
    await writeFiles(root, {'line.jsonl': `{"description": "${'x'.repeat(50_000_000)}"}\n`})
    await refused(() => orch(['submit', '--batch', 'line.jsonl', '--json']), 'task_invalid', 2, /description/)
  })

  const garbage: readonly [kind: string, bytes: Uint8Array | string][] = [
    ['binary garbage', Uint8Array.from({length: 100_000}, (_, i) => (i * 197 + (i >> 8)) % 256)],
    ['NUL bytes', new Uint8Array(5000)],
    ['half a line', '{"description": "x"}\n{"descrip'],
    ['no JSON', 'submit this, please\n'],
    ['values that are no tasks', '1\n"x"\nnull\n'],
    ['a list of lists', '[[]]'],
    ['a list that does not end', '[{"description": "x"},'],
    ['100,000 lists in each other', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['a task of 100,000 lists in each other', `{"description": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    [
      'a hint of 5,000 objects in each other',
      `{"description": "x", "enqueue_hints": ${'{"budget": '.repeat(5000)}1${'}'.repeat(5000)}}`,
    ],
    ['a task that would change what objects are', '{"description": "x", "__proto__": {"priority": "urgent"}}'],
    ['UTF-16', Buffer.from('\uFEFF{"description": "x"}', 'utf16le')],
  ]
  for (const [kind, bytes] of garbage)
    it(`of ${kind} is refused`, () => refused(() => batch(bytes), 'task_invalid', 2, /./))

  it('of 100,000 lists in each other as requirements of a task is taken or refused, and never breaks', async () => {
    const {stdout, exitCode} = await batch(
      `{"description": "x", "capability_requirements": {"x": ${'['.repeat(100_000)}${']'.repeat(100_000)}}}`,
    )
    assert.ok(exitCode === 0 || exitCode === 2, stdout.slice(0, 300))
    assert.doesNotMatch(stdout, /"internal"/)
  })

  it('that is empty submits nothing', async () => {
    const before = await taskCount()
    for (const empty of ['', '\n\n', '[]']) {
      const {exitCode, stdout} = await batch(empty)
      assert.ok(exitCode === 0 || exitCode === 2, stdout)
    }
    assert.equal(await taskCount(), before)
  })

  it('that has a key twice is one task, or refused where the two differ', async () => {
    const task = (description: string) => ({description, idempotency_key: 'twice'})
    const [first, second] = await accepted(() => batch(lines([task('x'), task('x')])))
    assert.equal(first, second)
    await refused(() => batch(lines([{description: 'new'}, task('y')])), 'idempotency_mismatch', 4, /twice/)
  })
})
