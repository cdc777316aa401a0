import assert from 'node:assert/strict'
import {symlink} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {suiteFolder} from '../../support/temporary.js'
import {describeLargeBatches} from './large-batches.js'
import {lines, takingIn} from './taking.js'

const root = suiteFolder()
const {orch, alone, batch, refused, accepted, taskCount} = takingIn(root)

describe('a description', () => {
  const maxLength = 128 * 1024

  it('of 128 KiB is stored completely', async () => {
    const description = 'Seven times. '
      .repeat(maxLength)
      .slice(0, maxLength - 1)
      .concat('.')
    const [id] = await accepted(() => orch(['submit', '-', '--json'], description))
    const {stdout} = await orch(['task', String(id), '--json'])
    assert.equal((JSON.parse(stdout) as {description: string}).description, description)
  })

  it('of more than 128 KiB is rejected, from standard input and in a batch', async () => {
    const description = 'x'.repeat(maxLength + 1)
    await refused(() => orch(['submit', '-', '--json'], description), 'task_invalid', 2, /131072|description/)
    await refused(() => batch(lines([{description}])), 'task_invalid', 2, /^Task 1 of the batch .*description/)
  })

  it('of 20 MiB is rejected', async () => {
    await refused(() => alone(['submit', '-', '--json'], 'x'.repeat(20 << 20)), 'stdin_too_long', 2, /./)
  })

  it('that is blank is rejected', async () => {
    for (const blank of ['', ' \n\t', '\u00a0'])
      await refused(() => orch(['submit', '-', '--json'], blank), 'task_invalid', 2, /description is empty/)
  })

  it('that is not UTF-8 is rejected', async () => {
    const bytes = Uint8Array.from({length: 2000}, (_, i) => (i * 131 + 7) % 256)
    await refused(() => alone(['submit', '-', '--json'], bytes), 'stdin_not_utf8', 2, /./)
  })

  it('with special characters is preserved in JSON, and printed without control characters', async () => {
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

  it('of 10,000 files is accepted', async () => {
    const [id] = await accepted(() => batch(lines([{description: 'much', file_manifest: manifest(10_000)}])))
    const {stdout} = await orch(['task', String(id), '--json'])
    assert.equal((JSON.parse(stdout) as {file_manifest: unknown[]}).file_manifest.length, 10_000)
    await orch(['cancel', String(id)])
  })

  it('of 10,001 files is rejected', async () => {
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
    it(`with the path ${path} is rejected`, async () => {
      const task = {description: 'x', file_manifest: [{path, access: 'write'}]}
      await refused(() => batch(lines([task])), 'task_path_escapes', 2, /is not a valid path inside the workspace/)
      await refused(
        () => orch(['submit', 'x', '-f', path, '--json']),
        'task_path_escapes',
        2,
        /is not a valid path inside the workspace/,
      )
    })

  it('with a path through a symbolic link keeps the path without resolving it', async () => {
    await symlink('/etc', join(root, 'link'))
    const task = {description: 'x', file_manifest: [{path: './link/passwd', access: 'write'}]}
    const [id] = await accepted(() => batch(lines([task])))
    const {stdout} = await orch(['task', String(id), '--json'])
    const {file_manifest: files} = JSON.parse(stdout) as {file_manifest: unknown}
    assert.deepEqual(files, [{path: 'link/passwd', access: 'write'}])
  })

  it('with a NUL byte in a path is rejected', async () => {
    const task = {description: 'x', file_manifest: [{path: 'a\u0000b', access: 'write'}]}
    const {stdout, exitCode} = await batch(lines([task]))
    assert.equal(exitCode, 2, stdout)
  })
})

describe('a batch', () => {
  /** Submits a batch of which only the last task is invalid, and asserts that it is rejected. */
  async function refusedAtTheEnd(count: number, last: unknown, code: string, exit: number): Promise<void> {
    const tasks: unknown[] = Array.from({length: count - 1}, (_, i) => ({description: `task ${i}`}))
    const place = code === 'task_invalid' ? new RegExp(`^Task ${count} of the batch `) : /./
    await refused(() => batch(lines([...tasks, last])), code, exit, place)
  }

  it('with a dependency cycle is rejected, and the error shows the cycle', async () => {
    const task = (i: number, ...needed: number[]) => ({description: `task ${i}`, temp_deps: needed})
    await refused(
      () => batch(lines([task(0), task(1, 3), task(2, 1), task(3, 2)])),
      'dependency_cycle',
      2,
      /: Task 2 \("task 1"\) -> Task 4 .* -> Task 3 .* -> Task 2 /,
    )
    await refused(() => batch(lines([task(0, 0)])), 'dependency_cycle', 2, /Task 1 \("task 0"\) -> Task 1 /)
  })

  it('with a cycle of 2,000 tasks is rejected with a short message', async () => {
    const cycle = Array.from({length: 2000}, (_, i) => ({description: 'x', temp_deps: [(i + 1) % 2000]}))
    await refused(() => batch(lines(cycle)), 'dependency_cycle', 2, /form a cycle/)
  })

  it('with an unknown dependency is rejected', async () => {
    await refused(() => batch(lines([{description: 'x', depends_on: [999_999]}])), 'dependency_unknown', 3, /T-999999/)
    await refused(() => batch(lines([{description: 'x', temp_deps: [7]}])), 'task_invalid', 2, /position 7/)
    for (const id of [0, -1, 1.5, 1e300, '1', null])
      await refused(() => batch(lines([{description: 'x', depends_on: [id]}])), 'task_invalid', 2, /depends_on/)
    await refused(() => batch(lines([{description: 'x', depends_on: [2 ** 53]}])), 'task_invalid', 2, /not exact/)
    const largest = Number.MAX_SAFE_INTEGER
    await refused(() => batch(lines([{description: 'x', depends_on: [largest]}])), 'dependency_unknown', 3, /T-9007/)
  })

  it('of 1,000 tasks is rejected completely if the last one is invalid', async () => {
    await refusedAtTheEnd(1000, {description: ' '}, 'task_invalid', 2)
  })

  it('is rejected completely for any kind of invalid task', async () => {
    for (const [last, code, exit] of [
      [{description: 'x', priority: 'soon'}, 'task_invalid', 2],
      [{description: 'x', unknown: 1}, 'task_invalid', 2],
      [{description: 'x', depends_on: [999_999]}, 'dependency_unknown', 3],
      [{description: 'x', file_manifest: [{path: '../x', access: 'write'}]}, 'task_path_escapes', 2],
      [{description: 'x', exec: {template: 'none'}, processor: 'exec'}, 'exec_disabled', 4],
      ['no task', 'task_invalid', 2],
    ] as const)
      await refusedAtTheEnd(50, last, code, exit)
  })

  it('of 1,000 valid tasks is accepted', async () => {
    const ids = await accepted(
      () => batch(lines(Array.from({length: 1000}, (_, i) => ({description: `task ${i}`})))),
      1000,
    )
    assert.equal(new Set(ids).size, 1000)
  })

  const garbage: readonly [kind: string, bytes: Uint8Array | string][] = [
    ['binary garbage', Uint8Array.from({length: 100_000}, (_, i) => (i * 197 + (i >> 8)) % 256)],
    ['NUL bytes', new Uint8Array(5000)],
    ['an incomplete line', '{"description": "x"}\n{"descrip'],
    ['text that is not JSON', 'submit this, please\n'],
    ['values that are not tasks', '1\n"x"\nnull\n'],
    ['a list of lists', '[[]]'],
    ['an unclosed list', '[{"description": "x"},'],
    ['100,000 nested lists', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['a task of 100,000 nested lists', `{"description": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    [
      'a hint of 5,000 nested objects',
      `{"description": "x", "enqueue_hints": ${'{"budget": '.repeat(5000)}1${'}'.repeat(5000)}}`,
    ],
    ['a task with a __proto__ member', '{"description": "x", "__proto__": {"priority": "urgent"}}'],
    ['UTF-16', Buffer.from('\uFEFF{"description": "x"}', 'utf16le')],
  ]
  for (const [kind, bytes] of garbage)
    it(`of ${kind} is rejected`, () => refused(() => batch(bytes), 'task_invalid', 2, /./))

  it('with 100,000 nested lists as requirements of a task causes no internal error', async () => {
    const {stdout, exitCode} = await batch(
      `{"description": "x", "capability_requirements": {"x": ${'['.repeat(100_000)}${']'.repeat(100_000)}}}`,
    )
    assert.ok(exitCode === 0 || exitCode === 2, stdout.slice(0, 300))
    assert.doesNotMatch(stdout, /"internal"/)
  })

  it('that is empty submits nothing', async () => {
    const before = taskCount()
    for (const empty of ['', '\n\n', '[]']) {
      const {exitCode, stdout} = await batch(empty)
      assert.ok(exitCode === 0 || exitCode === 2, stdout)
    }
    assert.equal(taskCount(), before)
  })

  it('with a repeated key creates one task, or is rejected if the tasks differ', async () => {
    const task = (description: string) => ({description, idempotency_key: 'twice'})
    const [first, second] = await accepted(() => batch(lines([task('x'), task('x')])))
    assert.equal(first, second)
    await refused(() => batch(lines([{description: 'new'}, task('y')])), 'idempotency_mismatch', 4, /twice/)
  })
})

// Batches of 50 MB are in `input.slow.ts`.
describeLargeBatches(root, 10_000_000)
