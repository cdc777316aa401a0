import assert from 'node:assert/strict'
import {homedir} from 'node:os'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {contractViolations, type VerifyV1} from '../../src/contracts/index.js'
import {microData, writeMicroWhisper} from '../support/micro-whisper.js'
import {projectFile, sharedData, skipWithout} from '../support/project.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

interface Verified {
  report: VerifyV1
  exitCode: number | undefined
  stdout: string
}

async function verify(model: string, ...args: string[]): Promise<Verified> {
  const {stdout, stderr, exitCode} = await svcInTurn(['verify', model, '--json', '--quiet', '--threads', '1', ...args])
  const report = JSON.parse(stdout)
  assert.deepEqual(await contractViolations('cli/verify.v1', report), [], stdout + stderr)
  return {report, exitCode, stdout}
}

const statesOf = ({checks}: VerifyV1) => Object.fromEntries(checks.map(({name, state}) => [name, state]))

describe('svc verify', () => {
  it('passes the included language model, without a path in the report', async () => {
    const path = projectFile('examples/runs/guide')
    const {report, exitCode, stdout} = await verify(path)
    assert.equal(exitCode, 0, stdout)
    assert.deepEqual(
      [report.model, report.kind, report.family, report.result],
      ['guide', 'language', 'llama', 'passed'],
    )
    const {english, examples, ...others} = statesOf(report)
    assert.deepEqual([english, examples], ['skipped', 'skipped'])
    assert.deepEqual(new Set(Object.values(others)), new Set(['passed']))
    for (const secret of [path, homedir(), process.cwd()]) assert.ok(!stdout.includes(secret), secret)
  })

  it('passes the included speech model', async () => {
    const {report, exitCode, stdout} = await verify('starter')
    assert.equal(exitCode, 0, stdout)
    assert.deepEqual([report.model, report.kind, report.family], ['starter', 'speech', 'ctc'])
    const {clip, numbers, repeat} = statesOf(report)
    assert.deepEqual([clip, numbers, repeat], ['passed', 'passed', 'passed'])
    assert.equal(report.figures.find(({name}) => name === 'word error rate of the clip')?.value, 0)
  })

  it('prints what each check proves', async () => {
    const {stdout} = await svcInTurn(['verify', 'starter', '--quiet', '--threads', '1'])
    assert.match(stdout, /^clip +passed +"hello and welcome to your own machine" has a word error rate of 0 %\n/m)
    assert.match(stdout, /The model recognises clear English speech\.\n/)
    assert.match(stdout, /\npassed\n$/)
  })

  it('fails a Whisper model that does not understand the recording', {skip: skipWithout(microData)}, async (t) => {
    const folder = join(await temporaryFolder(t), 'digits')
    await writeMicroWhisper(folder)
    const {report, exitCode, stdout} = await verify(folder)
    assert.equal(exitCode, 1, stdout)
    const {clip, repeat} = statesOf(report)
    assert.deepEqual([report.family, report.result, clip, repeat], ['whisper', 'failed', 'failed', 'passed'])
  })

  it('refuses a model that is not on this machine, and precisions of the other kind', async () => {
    const missing = await svcInTurn(['verify', 'acme/none'])
    assert.equal(missing.exitCode, 3)
    assert.match(missing.stderr, /\(model_not_found\)/)
    const {exitCode} = await svcInTurn(['verify', 'starter', '--precision', 'w8'])
    assert.equal(exitCode, 2)
  })
})

describe('svc verify with examples', {skip: skipWithout('stories260K')}, () => {
  const model = sharedData('stories260K') ?? ''
  const prompt = 'Once upon a time'
  const text = ', there was a little girl named Lily. She loved to play outside in the park.'

  it('compares greedy replies with those of another implementation', async (t) => {
    const folder = await temporaryFolder(t)
    const line = (output: string) => `${JSON.stringify({prompt, text: output})}\n`
    await writeFiles(folder, {
      'same.jsonl': line(text),
      'other.jsonl': line(text) + line(' a dragon'),
      'bad.jsonl': '\n{"prompt": 1}\n',
    })
    const examplesOf = (file: string) => verify(model, '--examples', join(folder, file))
    const same = await examplesOf('same.jsonl')
    assert.equal(same.exitCode, 0, same.stdout)
    assert.deepEqual([statesOf(same.report).examples, statesOf(same.report).english], ['passed', 'passed'])
    const other = await examplesOf('other.jsonl')
    assert.equal(other.exitCode, 1)
    const {state, found} = other.report.checks.find(({name}) => name === 'examples') ?? {}
    assert.deepEqual([state, found], ['failed', '1 of 2 equal'])
    const {stderr, exitCode} = await svcInTurn(['verify', model, '--examples', join(folder, 'bad.jsonl')])
    assert.equal(exitCode, 2)
    assert.match(stderr, /Line 2 of .*bad\.jsonl is not a JSON object with the texts prompt and text\./)
  })
})
