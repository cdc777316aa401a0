import assert from 'node:assert/strict'
import {cp, readFile, rm} from 'node:fs/promises'
import {join} from 'node:path'
import {before, describe, it} from 'node:test'
import {contractViolations} from '../../src/contracts/index.js'
import {openAiServer} from '../support/openai-server.js'
import {projectFile} from '../support/project.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder, writeFiles} from '../support/temporary.js'

const root = suiteFolder()
const memo = 'the server is ready and the tests have finished please restart the worker tomorrow morning'

const fits = async (contract: string, json: string): Promise<void> =>
  assert.deepEqual(await contractViolations(contract, JSON.parse(json)), [], contract)

describe('examples of workflows', () => {
  before(() =>
    cp(projectFile('examples'), root, {
      recursive: true,
      filter: (path) => !/runs|models\/.*train|node_modules/.test(path),
    }),
  )

  it('run as their README shows', async () => {
    const cwd = join(root, 'workflows')
    const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(await readFile(join(cwd, 'README.md'), 'utf8')) ?? []
    const outputs: string[] = []
    for (const line of block.trim().split('\n')) {
      const args = line.split(' ').slice(1)
      const {stdout, stderr, exitCode} = await svcInTurn(args, {cwd})
      assert.equal(exitCode, 0, `${line}: ${stderr}`)
      outputs.push(stdout)
    }
    assert.deepEqual(JSON.parse(outputs[1] ?? '').files.length, 2)
    assert.deepEqual(outputs.slice(2), ['', 'Sent signal publish to demo.\n', 'v1.2.0\n'])
  })

  it('have results that match their contracts', async () => {
    const cwd = join(root, 'workflows')
    const json = async (...args: string[]) => (await svcInTurn(['workflow', ...args, '--json'], {cwd})).stdout
    await fits('cli/workflow-list.v1', await json('list'))
    await fits('cli/workflow-list.v1', await json('list', 'release.yaml'))
    const settings = await readFile(join(cwd, 'Svc.toml'), 'utf8').catch(() => '')
    await writeFiles(cwd, {
      'cron.yaml': 'version: 1\nworkflows: {w: {cron: "0 3 * * *", steps: [{value: 1}]}}\n',
      'Svc.toml': `${settings}\n[orchestrator]\nworkflow_files = ["cron.yaml", "missing.yaml"]\n`,
    })
    const listed = await json('schedules')
    await fits('cli/workflow-schedules.v1', listed)
    const {schedules, faults} = JSON.parse(listed)
    assert.deepEqual([schedules.length, faults.length], [1, 1])
    await writeFiles(cwd, {'Svc.toml': settings})
    await rm(join(cwd, 'cron.yaml'))
    await fits('cli/workflow-check.v1', await json('check', 'release.yaml'))
    await writeFiles(cwd, {'bad.yaml': 'version: 1\nworkflows: {w: {steps: [{value: "${{ inputt.a }}"}]}}\n'})
    await fits('cli/workflow-check.v1', await json('check', 'bad.yaml'))
    const {stdout, exitCode} = await svcInTurn(['workflow', 'check', 'release.yaml', 'bad.yaml'], {cwd})
    assert.match(stdout, / --> bad\.yaml:2:38\n[\s\S]*\n {2}= fix: Use input\n\n2 files, 1 error\n$/)
    assert.equal(exitCode, 1)
    await rm(join(cwd, 'bad.yaml'))
    await fits(
      'cli/workflow-started.v1',
      await json('run', 'release.yaml', '-i', 'version=2', '--run-id', 'two', '--detach'),
    )
    const entries = (await json('resume', 'two', '--no-wait')).trimEnd().split('\n')
    for (const entry of entries) await fits('workflow/workflow-journal.v1', entry)
    await fits('cli/workflow-status.v1', await json('status', 'two'))
    await fits('cli/workflow-signal.v1', await json('signal', 'two', 'publish', '{"approved": false}'))
    await fits('cli/workflow-cancel.v1', await json('cancel', 'two'))
    await fits('cli/workflow-replay.v1', await json('replay', 'demo'))
  })

  it('turn a voice memo into tasks', async (test) => {
    const plan = JSON.stringify({tasks: ['Restart the worker', 'Report the result']})
    const {baseUrl, calls} = await openAiServer(test, {
      answer: (response) => response.end(JSON.stringify({choices: [{message: {role: 'assistant', content: plan}}]})),
    })
    const cwd = join(root, 'voice-to-task')
    await cp(join(root, 'memo.wav'), join(cwd, 'memo.wav'))
    const env = {SVC_INFERENCE_URL: baseUrl, SVC_INFERENCE_MODEL: 'corrector', SVC_DATA_DIR: cwd}
    const svc = async (...args: string[]) => {
      const {stdout, stderr, exitCode} = await svcInTurn(args, {cwd, env})
      assert.equal(exitCode, 0, stderr)
      return stdout
    }
    await svc('workflow', 'run', 'voice-to-task.yaml', '-i', 'recording=memo.wav', '--run-id', 'memo-1', '--no-wait')
    assert.equal(calls.at(-1)?.body?.messages.at(-1)?.content, memo)
    await svc('workflow', 'signal', 'memo-1', 'approve')
    await svc('daemon', 'start', '--quiet')
    try {
      const output = JSON.parse(await svc('workflow', 'status', 'memo-1', '--json'))
      if (output.status !== 'completed') await svc('orch', 'task', 'T-0002', '--wait').catch(() => undefined)
      let report = output
      while (report.status === 'waiting' || report.status === 'running')
        report = JSON.parse(await svc('workflow', 'status', 'memo-1', '--json'))
      assert.deepEqual(report.output, {heard: memo, tasks: ['T-0001', 'T-0002']})
    } finally {
      await svc('daemon', 'stop', '--quiet')
    }
    assert.match(await svc('workflow', 'replay', 'memo-1'), /reproduced/)
  })
})
