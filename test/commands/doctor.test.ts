import assert from 'node:assert/strict'
import {realpath} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {contractViolations, type DoctorV1} from '../../src/contracts/index.js'
import {scriptedInference} from '../support/scripted-inference.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

/** Runs `svc doctor` in a workspace with the given files and an empty home folder. */
async function doctor(test: TestContext, files: Record<string, string> = {}, env: Record<string, string> = {}) {
  const cwd = await realpath(await temporaryFolder(test))
  await writeFiles(cwd, files)
  const nothingThere = {SVC_INFERENCE_URL: 'http://127.0.0.1:9'}
  const options = {cwd, env: {HOME: cwd, HF_HUB_CACHE: join(cwd, 'hub'), ...nothingThere, ...env}}
  const {stdout, exitCode} = await svcInTurn(['doctor', '--json'], options)
  const result = JSON.parse(stdout) as DoctorV1
  assert.deepEqual(await contractViolations('cli/doctor.v1', result), [])
  assert.equal(exitCode, result.result === 'ok' ? 0 : 1)
  const inState = (state: string) => result.checks.filter((check) => check.state === state).map(({name}) => name)
  const check = (name: string) => {
    const {state, value, fix} = result.checks.find((candidate) => candidate.name === name) ?? {}
    return {state, value, fix}
  }
  return {cwd, result, inState, check}
}

describe('svc doctor', () => {
  it('is ok in an empty workspace, and lists parts that are not started or configured', async (test) => {
    const {result, inState, check} = await doctor(test, {}, {PATH: '/nowhere'})
    assert.equal(result.result, 'ok')
    assert.deepEqual(inState('off'), ['ffmpeg', 'daemon', 'inference', 'mesh'])
    assert.equal(check('daemon').fix, 'svc daemon start')
    assert.equal(check('mesh').fix, 'svc mesh init')
    const families = new Set(result.checks.flatMap(({commands}) => commands.split(', ')))
    for (const family of ['transcribe', 'serve', 'merge', 'orch', 'daemon', 'mcp', 'mesh', 'db'])
      assert.ok(families.has(family), family)
  })

  it('fails if the store is damaged, a setting has a warning, or the control plane does not answer', async (test) => {
    const {inState, check} = await doctor(
      test,
      {'.svc/store.db': 'no database', 'Svc.toml': '[orchestrator]\nno_such_key = 1\n'},
      {SVC_MESH_CONTROL_ADDR: 'http://127.0.0.1:9', SVC_SPEECH_MODEL: 'acme/whisper'},
    )
    assert.deepEqual(inState('failed'), ['settings', 'speech-model', 'store', 'mesh'])
    assert.match(String(check('settings').value), /no_such_key/)
    assert.equal(check('settings').fix, 'svc config check')
    assert.equal(check('speech-model').fix, 'svc speech pull acme/whisper')
    assert.equal(check('mesh').fix, 'svc mesh status')
  })

  it('reports the inference server, and its models if the configured one is missing', async (test) => {
    const {baseUrl} = await scriptedInference(test, () => undefined, ['small', 'large'])
    const named = await doctor(test, {}, {SVC_INFERENCE_URL: baseUrl, SVC_INFERENCE_MODEL: 'large'})
    assert.deepEqual(named.check('inference'), {state: 'ok', value: `${baseUrl} serves large`, fix: null})
    const other = await doctor(test, {}, {SVC_INFERENCE_URL: baseUrl, SVC_INFERENCE_MODEL: 'huge'})
    assert.equal(other.check('inference').state, 'off')
    assert.match(String(other.check('inference').fix), /small, large/)
  })

  it('prints a table with the fix below each check', async (test) => {
    const cwd = await temporaryFolder(test)
    const {stdout} = await svcInTurn(['doctor'], {cwd, env: {HOME: cwd, SVC_INFERENCE_URL: 'http://127.0.0.1:9'}})
    assert.match(stdout, /^CHECK +STATE +FOUND\n/)
    assert.match(stdout, /^daemon +off +No daemon is running in this workspace\.\n +Run `svc daemon start`\.$/m)
    assert.match(stdout, /^ok\n$/m)
  })
})
