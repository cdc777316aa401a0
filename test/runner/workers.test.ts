import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {execa} from 'execa'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import type {FileResult} from './workers.js'

const runner = new URL('workers.js', import.meta.url).href

type Result = Pick<FileResult, 'title' | 'hasFailed' | 'processorSeconds'> & {tests: string[]; messages: string[]}

/** Runs test files from a new process, because the test runner of Node.js does not run within a test. */
async function runAll(
  test: TestContext,
  files: Readonly<Record<string, string>>,
  {workers = 1, timeout = 60_000}: {workers?: number; timeout?: number} = {},
): Promise<Result[]> {
  const folder = await temporaryFolder(test)
  const imports = `import assert from 'node:assert'; import {after, it} from 'node:test'\n`
  const sources = Object.entries(files).map(([title, source]) => [`${title}.mjs`, imports + source])
  await writeFiles(folder, Object.fromEntries(sources))
  const paths = Object.keys(files).map((title) => ({title, path: `${folder}/${title}.mjs`}))
  const program = `
    import {runFiles} from ${JSON.stringify(runner)}
    const onFile = ({title, hasFailed, processorSeconds, events}) => console.log(JSON.stringify({
      title,
      processorSeconds,
      hasFailed,
      tests: events.filter(({type, data}) => /pass|fail/.test(type) && data.details.type !== 'suite').map(({data}) => data.name),
      messages: events.flatMap(({type, data}) => type === 'test:stderr' ? data.message.trim() : []),
    }))
    const isAlone = false
    await runFiles(${JSON.stringify(paths)}, {workers: ${workers}, isAlone, timeout: ${timeout}, onFile})`
  await writeFiles(folder, {'run.mjs': program})
  const {stdout} = await execa(process.execPath, [`${folder}/run.mjs`], {env: {NODE_TEST_CONTEXT: undefined}})
  return stdout.split('\n').map((line) => JSON.parse(line))
}

const failed = (results: readonly Result[]) => results.filter(({hasFailed}) => hasFailed).map(({title}) => title)
const titles = (results: readonly Result[]) => results.map(({title}) => title).sort()

describe('running test files', () => {
  it('reports each file with its tests, in several processes', async (test) => {
    const files = Object.fromEntries(Array.from({length: 6}, (_, i) => [`f${i}`, `it('t${i}', () => {})`]))
    const results = await runAll(test, files, {workers: 3})
    assert.deepEqual(titles(results), Object.keys(files))
    for (const {title, tests, hasFailed} of results)
      assert.deepEqual({tests, hasFailed}, {tests: [title.replace('f', 't')], hasFailed: false})
  })

  it('measures the processor time of a file with the processes that it starts', async (test) => {
    const busy = `const end = performance.now() + 300; while (performance.now() < end);`
    const start = `(await import('node:child_process')).spawnSync(process.execPath, ['-e', ${JSON.stringify(busy)}])`
    const files = {a: `it('is idle', () => {})`, b: `it('starts a busy process', async () => { ${start} })`}
    const times = new Map((await runAll(test, files)).map(({title, processorSeconds}) => [title, processorSeconds]))
    if (process.platform !== 'linux') return assert.deepEqual([...times.values()], [undefined, undefined])
    const [idle, started] = [times.get('a') ?? Number.NaN, times.get('b') ?? Number.NaN]
    assert.ok(idle >= 0 && started > idle, JSON.stringify([idle, started]))
  })

  it('goes on after a file that fails', async (test) => {
    const results = await runAll(test, {
      a: `it('fails', () => assert.fail())`,
      b: `it('passes', () => {})`,
      c: `throw new Error('while loading')`,
      d: `it('passes', () => {})`,
    })
    assert.deepEqual(titles(results), ['a', 'b', 'c', 'd'])
    assert.deepEqual(failed(results), ['a', 'c'])
  })

  it('goes on in a new process after one that crashes', async (test) => {
    const results = await runAll(test, {
      a: `it('passes', () => {})`,
      b: `it('is killed', () => process.kill(process.pid, 'SIGKILL'))`,
      c: `it('passes', () => {})`,
    })
    assert.deepEqual(titles(results), ['a', 'b', 'c'])
    assert.deepEqual(failed(results), ['b'])
    assert.deepEqual(results.find(({title}) => title === 'b')?.messages, ['The process ended with SIGKILL.'])
  })

  it('ends a file that hangs', async (test) => {
    const hang = `const alive = setInterval(() => {}, 1000); after(() => clearInterval(alive))
      it('hangs', () => new Promise(() => {}))`
    const results = await runAll(test, {a: hang, b: `it('passes', () => {})`}, {timeout: 100})
    assert.deepEqual(titles(results), ['a', 'b'])
    assert.ok(failed(results).includes('a'))
  })

  it('fails the last file of a process that fails after its tests', async (test) => {
    const late = `it('passes', () => {}); process.once('exit', () => { process.exitCode = 3 })`
    const results = await runAll(test, {a: late, b: `it('passes', () => {})`})
    assert.deepEqual(failed(results), ['b'])
    assert.deepEqual(results.at(-1)?.messages, ['The process ended with exit status 3.'])
  })

  it('fails a process that ends before its tests', async (test) => {
    const results = await runAll(test, {a: `await new Promise(() => {})`})
    assert.deepEqual(failed(results), ['a'])
  })

  it('undoes the environment that a file leaves', async (test) => {
    const results = await runAll(test, {
      a: `it('sets', () => { process.env.SVC_LEFT = 'a'; delete process.env.PATH })`,
      b: `it('has', () => { assert.equal(process.env.SVC_LEFT, undefined); assert.ok(process.env.PATH) })`,
    })
    assert.deepEqual(failed(results), [])
  })
})
