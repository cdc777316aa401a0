import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {readFile, realpath, stat} from 'node:fs/promises'
import os from 'node:os'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {promisify} from 'node:util'
import {execa} from 'execa'
import {isErrorOf, SvcError} from '../../../src/errors/index.js'
import type {ExecOptions} from '../../../src/exec/index.js'
import {isAlive} from '../../../src/process/index.js'
import {execProcessor} from '../../../src/scheduler/processors/exec.js'
import type {Outcome, RunReport} from '../../../src/scheduler/processors/processor.js'
import type {Task} from '../../../src/tasks/base/task.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'
import {until} from '../../support/until.js'
import {aTask, recordedReport, underCollection, unstopped} from './a-task.js'

interface Setup extends Partial<ExecOptions> {
  task?: Partial<Task>
  params?: Record<string, string>
  signal?: AbortSignal
  report?: RunReport
  /** Arguments after the script. */
  args?: readonly string[]
}

/** A workspace with one template, `run`, which runs a Node script. */
async function workspace(test: TestContext, script: string) {
  const root = await realpath(await temporaryFolder(test))
  await writeFiles(root, {'script.mjs': script})
  const run = ({
    task,
    params = {},
    signal = unstopped,
    report = recordedReport(),
    args = [],
    ...options
  }: Setup = {}): Promise<Outcome> =>
    execProcessor({
      root,
      templates: {run: [process.execPath, 'script.mjs', ...args]},
      enabled: true,
      secrets: [],
      timeoutMs: 30_000,
      maxOutputBytes: 1 << 20,
      env: process.env,
      ...options,
    }).run(aTask({processor: 'exec', exec: {template: 'run', params}, ...task}), report, signal)
  return {root, run}
}

/** The error message of a failed run. */
async function failure(run: Promise<unknown>): Promise<string> {
  const error = await run.then(
    () => assert.fail('it should have failed'),
    (thrown: unknown) => thrown,
  )
  assert.ok(isErrorOf(error, 'task_run_failed'), String(error))
  return error.message
}

const promised = promisify(execFile)

/** True if a process is running; on Linux, a zombie does not count. */
async function lives(pid: number): Promise<boolean> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    return stat !== '' && stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z'
  }
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Waits for a file that a script writes atomically. */
async function written(path: string): Promise<string> {
  let text = ''
  await until(async () => {
    text = await readFile(path, 'utf8').catch(() => '')
    return text.endsWith('\n')
  }, `${path} is written`)
  return text.trim()
}

describe('an exec command', () => {
  it('gets the secrets that it requests, and fails without them', async (test) => {
    const {run} = await workspace(test, 'console.log(process.env.DEPLOY_KEY.length, process.env.OTHER)')
    const options = {
      secrets: ['DEPLOY_KEY', 'OTHER'],
      task: {exec: {template: 'run', params: {}, secrets: ['DEPLOY_KEY']}},
      env: {...process.env, DEPLOY_KEY: 'sesame', OTHER: 'x'},
    }
    assert.equal((await run(options)).text, '6 undefined')
    await assert.rejects(run({...options, env: process.env}), {code: 'exec_secret_missing'})
    await assert.rejects(run({...options, secrets: ['OTHER']}), {code: 'exec_secret_unlisted'})
  })

  it('returns its output, status and duration', async (test) => {
    const {run} = await workspace(test, 'console.log("\\n  two\\nlines "); console.error("a warning")')
    const {text, details} = await run()
    assert.equal(text, 'two\nlines')
    const {duration_ms: duration, ...rest} = details
    assert.ok(Number.isInteger(duration) && Number(duration) > 0)
    assert.deepEqual(rest, {
      template: 'run',
      program: process.execPath,
      exit_code: 0,
      stdout: '\n  two\nlines \n',
      stderr: 'a warning\n',
      truncated: false,
    })
  })

  it('runs in the workspace root, with the values of the task and without a shell', async (test) => {
    const script = 'console.log(JSON.stringify([process.cwd(), ...process.argv.slice(2)]))'
    const {root, run} = await workspace(test, script)
    const {text} = await run({
      args: ['{file}', '{task_id}', '{description}', '$HOME', '*'],
      params: {file: 'a b; touch owned'},
      task: {description: '$(touch owned) `touch owned`'},
    })
    assert.deepEqual(JSON.parse(text), [root, 'a b; touch owned', '42', '$(touch owned) `touch owned`', '$HOME', '*'])
    await assert.rejects(stat(join(root, 'owned')), {code: 'ENOENT'})
  })

  it('can be a program of the workspace', async (test) => {
    const {run} = await workspace(test, '')
    assert.equal((await run({templates: {run: ['sh', '-c', 'echo here']}})).text, 'here')
    assert.match(await failure(run({templates: {run: ['./script.mjs']}})), /\.\/script\.mjs is not executable\.$/)
  })

  it('has no secrets in its environment, but the ids of its task', async (test) => {
    const {run} = await workspace(test, 'console.log(JSON.stringify(process.env))')
    const {text} = await run({
      env: {
        PATH: process.env.PATH,
        HOME: '/home/somebody',
        LANG: 'C',
        SVC_MESH_TOKEN: 'secret',
        SVC_INFERENCE_API_KEY: 'secret',
        AWS_SECRET_ACCESS_KEY: 'secret',
        NODE_OPTIONS: '--no-warnings',
      },
      task: {session_id: 's-1'},
    })
    const {PATH: path, ...rest} = JSON.parse(text)
    assert.equal(path, process.env.PATH)
    assert.deepEqual(rest, {
      HOME: '/home/somebody',
      LANG: 'C',
      SVC_TASK_ID: '42',
      SVC_TASK_UID: aTask().uid,
      SVC_TASK_AGENT_ID: '3',
      SVC_TASK_ATTEMPT: '1',
      SVC_TASK_TRACE_ID: aTask().trace_id,
      SVC_TASK_SESSION_ID: 's-1',
    })
  })

  it('reports its pid and start time', async (test) => {
    const {run} = await workspace(test, 'console.log(process.pid); setTimeout(() => {}, 100)')
    const reported: {pid: number; alive: boolean; reborn: boolean}[] = []
    const process = (pid: number, start: string) =>
      void reported.push({pid, alive: isAlive(pid, start), reborn: isAlive(pid, `${start}1`)})
    const {text} = await run({report: {...recordedReport(), process}})
    // If the system does not report the start time, another process with the same pid cannot be distinguished.
    const reborn = os.platform() !== 'linux'
    assert.deepEqual(reported, [{pid: Number(text), alive: true, reborn}])
  })

  it('is stopped if its process cannot be reported', async (test) => {
    const {run} = await workspace(test, 'setTimeout(() => {}, 60000)')
    let reported = 0
    const process = (pid: number) => {
      reported = pid
      throw new SvcError('store_busy', {path: 'store.db'})
    }
    await assert.rejects(run({report: {...recordedReport(), process}}), {code: 'store_busy'})
    assert.equal(await lives(reported), false)
  })

  it('has empty input', async (test) => {
    const {run} = await workspace(test, 'let n = 0; for await (const c of process.stdin) n += c.length; console.log(n)')
    assert.equal((await run()).text, '0')
  })

  it('can have a longer time limit than a timer supports', async (test) => {
    const {run} = await workspace(test, 'setTimeout(() => console.log("done"), 50)')
    assert.equal((await run({timeoutMs: 2 ** 40})).text, 'done')
  })

  it('is not started if commands are disabled or its values are invalid', async (test) => {
    const {root, run} = await workspace(test, 'await (await import("node:fs")).promises.writeFile("ran", "")')
    await assert.rejects(run({enabled: false}), {code: 'exec_disabled'})
    await assert.rejects(run({params: {x: 'y'}}), {code: 'exec_params_unused'})
    await assert.rejects(run({signal: AbortSignal.abort(new Error('before'))}), {message: 'before'})
    await assert.rejects(stat(join(root, 'ran')), {code: 'ENOENT'})
  })
})

describe('a failing command', () => {
  it('passes on the output of both pipes in order', async (test) => {
    const {run} = await workspace(
      test,
      'process.stdout.write("FAIL a.test.js\\n", () => setTimeout(() => console.error("AssertionError"), 100)); process.exitCode = 1',
    )
    const pieces: string[] = []
    let end = 0
    const output: RunReport['output'] = (output) => {
      pieces.push(...output.since(end).map(({bytes}) => bytes.toString()))
      end = output.total
    }
    await failure(run({report: {...recordedReport(), output}}))
    assert.equal(pieces.join(''), 'FAIL a.test.js\nAssertionError\n')
  })

  it('reports its status and the last lines of standard error', async (test) => {
    const {run} = await workspace(
      test,
      'for (const line of ["one", "two", "", "three", "four"]) console.error(line)\nprocess.exitCode = 3',
    )
    assert.equal(await failure(run()), 'The task failed: run exited with status 3 (two / three / four).')
  })

  it('reports them even if the output was truncated', async (test) => {
    const {run} = await workspace(
      test,
      'console.log("x".repeat(100000)); console.error("y".repeat(100000)); console.error("the cause"); process.exitCode = 1',
    )
    assert.match(await failure(run({maxOutputBytes: 10})), /status 1 \(y{300} \/ the cause\)\.$/)
  })

  it('reports its status without output', async (test) => {
    const {run} = await workspace(test, 'process.exitCode = 9')
    assert.equal(await failure(run()), 'The task failed: run exited with status 9.')
  })

  it('reports the signal that terminated it', async (test) => {
    const {run} = await workspace(test, 'process.kill(process.pid, "SIGKILL")')
    assert.equal(await failure(run()), 'The task failed: run was terminated by SIGKILL.')
  })

  it('reports a missing program', async (test) => {
    const {run} = await workspace(test, '')
    assert.match(
      await failure(run({templates: {run: ['no-such-program-x']}})),
      /program no-such-program-x was not found\.$/,
    )
  })

  it('reports a command line that is too long', async (test) => {
    const {run} = await workspace(test, '')
    const description = 'x'.repeat(131_072 * 40)
    assert.match(await failure(run({args: ['{description}'], task: {description}})), /command line is too long/)
  })
})

describe('a command with too much output', () => {
  it('continues, with truncated output', async (test) => {
    const {root, run} = await workspace(
      test,
      `import {writeFileSync} from 'node:fs'
       for (let i = 0; i < 300; i++) if (!process.stdout.write('0123456789'.repeat(1000))) await new Promise((go) => process.stdout.once('drain', go))
       writeFileSync('end', 'reached\\n')`,
    )
    const {text, details} = await run({maxOutputBytes: 25})
    assert.equal(text, '012345\n[2999975 bytes are missing here]\n1234567890123456789')
    assert.equal(details.truncated, true)
    assert.equal(await written(join(root, 'end')), 'reached')
  })
})

/** Starts a child that writes its pid to a file and then follows its instructions for a minute. */
const withChild = (child: string, rest: string) => `
  import {spawn} from 'node:child_process'
  import {existsSync} from 'node:fs'
  const child = ${JSON.stringify(`${child}; require('fs').writeFileSync('pid', process.pid + '\\n'); setTimeout(() => {}, 60000)`)}
  spawn(process.execPath, ['-e', child], {stdio: STDIO})
  while (!existsSync('pid')) await new Promise((go) => setTimeout(go, 10))
  ${rest}`
const wait = 'setTimeout(() => {}, 60000)'
const stubborn = "process.on('SIGTERM', () => {})"

describe('a command that does not exit', {concurrency: true}, () => {
  it('is stopped with its children after its time limit', async (test) => {
    const {root, run} = await workspace(test, withChild('', wait).replace('STDIO', "'inherit'"))
    const message = await failure(underCollection(run({timeoutMs: 4000})))
    assert.equal(message, 'The task failed: run timed out after 4000 ms.')
    assert.equal(await lives(Number(await written(join(root, 'pid')))), false)
  })

  it('is stopped after the time limit of its task, which overrides that of the workspace', async (test) => {
    const {run} = await workspace(test, wait)
    const message = await failure(run({timeoutMs: 60_000, task: {task_timeout_ms: 200}}))
    assert.equal(message, 'The task failed: run timed out after 200 ms.')
  })

  it('is killed with its children if it ignores SIGTERM', async (test) => {
    const {root, run} = await workspace(test, withChild(stubborn, `${stubborn}; ${wait}`).replace('STDIO', "'ignore'"))
    const stop = new AbortController()
    const running = run({signal: stop.signal})
    const child = Number(await written(join(root, 'pid')))
    assert.equal(await lives(child), true)
    const started = performance.now()
    stop.abort(new Error('Enough.'))
    await assert.rejects(running, {message: 'Enough.'})
    const took = performance.now() - started
    assert.ok(took > 1800 && took < 30_000, `${took} ms`)
    await until(async () => !(await lives(child)), 'the child is killed')
  })

  it('can clean up when it is stopped', async (test) => {
    const {root, run} = await workspace(
      test,
      `import {writeFileSync} from 'node:fs'
       process.on('SIGTERM', () => setTimeout(() => { writeFileSync('clean', 'yes\\n'); process.exit(0) }, 100))
       writeFileSync('ready', 'yes\\n')
       setTimeout(() => {}, 60000)`,
    )
    const stop = new AbortController()
    const running = run({signal: stop.signal})
    await written(join(root, 'ready'))
    stop.abort(new Error('Enough.'))
    await assert.rejects(running, {message: 'Enough.'})
    assert.equal(await readFile(join(root, 'clean'), 'utf8'), 'yes\n')
  })
})

describe('kill in execa', () => {
  it('signals only the leader of a group', async (test) => {
    const {root} = await workspace(test, withChild('', wait).replace('STDIO', "'ignore'"))
    const leader = execa(process.execPath, ['script.mjs'], {cwd: root, detached: true, reject: false})
    const child = Number(await written(join(root, 'pid')))
    leader.kill('SIGTERM')
    const {isTerminated, pid} = {...(await leader), pid: leader.pid ?? 0}
    assert.deepEqual([isTerminated, await lives(child)], [true, true])
    process.kill(-pid, 'SIGKILL')
    await until(async () => !(await lives(child)), 'the child is killed')
  })
})

describe('a command whose run is aborted', () => {
  it('ends with it, like the others of the process, however many these are', async (test) => {
    const {root} = await workspace(test, '')
    const module = new URL('../../../src/process/process-group.js', import.meta.url)
    const parent = `
      import {existsSync} from 'node:fs'
      import {runInGroup} from ${JSON.stringify(module)}
      const argv = ['sh', '-c', 'echo $$ > pid; exec sleep 60']
      const command = {argv, cwd: '.', env: {PATH: process.env.PATH}, timeoutMs: 60000, maxOutputBytes: 9}
      void runInGroup(command, new AbortController().signal)
      for (let i = 0; i < 11; i++)
        void runInGroup({...command, argv: ['sleep', '60']}, new AbortController().signal)
      setInterval(() => existsSync('pid') && process.exit(), 50)`
    const {stderr} = await promised(process.execPath, ['--input-type=module', '--eval', parent], {cwd: root})
    assert.equal(stderr, '')
    const child = Number(await written(join(root, 'pid')))
    await until(async () => !(await lives(child)), 'the child is killed')
  })
})

describe('a command with surviving children', {concurrency: true}, () => {
  for (const [kind, stdio] of [
    ['that hold its output', "'inherit'"],
    ['without output', "'ignore'"],
  ] as const)
    it(`${kind}: they are stopped and its result is returned`, async (test) => {
      const script = withChild('', 'console.log("done"); process.exit(0)').replace('STDIO', stdio)
      const {root, run} = await workspace(test, script)
      assert.equal((await run()).text, 'done')
      assert.equal(await lives(Number(await written(join(root, 'pid')))), false)
    })

  it('that finish soon: their output is included', async (test) => {
    const {run} = await workspace(test, '')
    const {text} = await run({templates: {run: ['sh', '-c', '(sleep 0.2; echo late) & echo early']}})
    assert.equal(text, 'early\nlate')
  })
})
