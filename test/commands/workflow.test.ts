import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {existsSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {skipWithoutProgram} from '../support/programs.js'
import {svcBinary} from '../support/svc.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {startTerminal} from '../support/terminal.js'
import {until} from '../support/until.js'

/** Starts `svc workflow run --json` with these steps, and waits for the first line of its journal. */
async function started(test: TestContext, steps: string) {
  const root = await temporaryFolder(test)
  await writeFiles(root, {'Svc.toml': '', 'flow.yaml': `version: 1\nworkflows: {flow: {steps: [${steps}]}}`})
  const args = [svcBinary, 'workflow', 'run', 'flow.yaml', '--run-id', 'r', '--json']
  const child = spawn(process.execPath, args, {cwd: root, stdio: ['ignore', 'pipe', 'pipe']})
  test.after(() => child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  await once(child.stdout, 'data')
  return {child, exited, root, exists: (name: string) => existsSync(join(root, name))}
}

describe('a workflow file on standard input', () => {
  it('is checked, listed and run', async (test) => {
    const cwd = await temporaryFolder(test)
    await writeFiles(cwd, {'Svc.toml': ''})
    const input = 'version: 1\nworkflows: {flow: {steps: [{id: a, value: 3}], output: 4}}\n'
    const [check, list, run] = await Promise.all(
      ['check', 'list', 'run'].map((verb) => svcInTurn(['workflow', verb, '-', '--json'], {cwd, input})),
    )
    assert.deepEqual(JSON.parse(check?.stdout ?? '').workflows[0].file, '<stdin>')
    assert.equal(JSON.parse(list?.stdout ?? '').workflows[0].name, 'flow')
    assert.equal(JSON.parse(run?.stdout.trim().split('\n').at(-1) ?? '').output, 4)
    const wrong = await svcInTurn(['workflow', 'check', '-'], {cwd, input: input.replace('value', 'vale')})
    assert.match(wrong.stdout, /Unknown member "vale"[\s\S]*--> <stdin>:2:/)
    assert.equal(wrong.exitCode, 1)
  })

  it('leaves no standard input for its inputs', async () => {
    const {stderr, exitCode} = await svcInTurn(['workflow', 'run', '-', '--input-json', '-'], {input: '{}'})
    assert.match(stderr, /Both the workflow and --input-json/)
    assert.equal(exitCode, 2)
  })
})

describe('workflow run', () => {
  it('says that no daemon runs the task for which it waits', async (test) => {
    const cwd = await temporaryFolder(test)
    const steps = '{task: {description: think}}'
    await writeFiles(cwd, {'Svc.toml': '', 'flow.yaml': `version: 1\nworkflows: {flow: {steps: [${steps}]}}`})
    const {stderr} = await svcInTurn(['workflow', 'run', 'flow.yaml', '--no-wait'], {cwd})
    assert.equal(
      stderr.match(/No daemon is running in this workspace\. Start one with `svc daemon start`\./g)?.length,
      1,
    )
  })

  it('finishes its work when the reader of its journal leaves', async (test) => {
    const {child, exited, exists} = await started(
      test,
      '{exec: [sleep, "0.2"]}, {exec: [sleep, "0.2"]}, {exec: [touch, done]}',
    )
    child.stdout.destroy()
    assert.deepEqual(await exited, [0, null])
    assert.ok(exists('done'))
  })

  it('ends its programs and releases the run on SIGHUP, however often', async (test) => {
    const {child, exited, exists, root} = await started(test, '{exec: [sh, -c, "echo $$ > pid; sleep 60; touch done"]}')
    await until(async () => exists('pid') && readFileSync(join(root, 'pid'), 'utf8') !== '', 'the start of the program')
    child.kill('SIGHUP')
    child.kill('SIGHUP')
    assert.deepEqual(await exited, [143, null])
    const pid = Number(readFileSync(join(root, 'pid'), 'utf8'))
    assert.throws(() => process.kill(pid, 0), {code: 'ESRCH'})
    const {stdout} = await svcInTurn(['workflow', 'status', 'r', '--json'], {cwd: root})
    assert.equal((JSON.parse(stdout) as {status: string}).status, 'interrupted')
    assert.ok(!exists('done'))
  })

  it('ends its programs when its terminal closes', {skip: skipWithoutProgram('script')}, async (test) => {
    const root = await temporaryFolder(test)
    const steps = '{exec: [sh, -c, "echo $$ > pid; sleep 60"]}'
    await writeFiles(root, {'Svc.toml': '', 'flow.yaml': `version: 1\nworkflows: {flow: {steps: [${steps}]}}`})
    await writeFiles(root, {
      run: `trap "" HUP\n"${process.execPath}" "${svcBinary}" workflow run flow.yaml\necho $? > status`,
    })
    // The leader of the session is ended first, then the kernel sends SIGHUP to the rest.
    const terminal = startTerminal(test, 'sh run; true', {cwd: root})
    const text = (name: string) => (existsSync(join(root, name)) ? readFileSync(join(root, name), 'utf8') : '')
    await until(async () => text('pid') !== '', 'the start of the program')
    terminal.kill('SIGKILL')
    await until(async () => text('status') !== '', 'the end of the command')
    // It does not dump core, which is 134.
    assert.equal(text('status'), '129\n')
    assert.throws(() => process.kill(Number(text('pid')), 0), {code: 'ESRCH'})
  })
})
