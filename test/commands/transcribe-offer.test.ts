import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {type HubModel, startHub} from '../support/hub-server.js'
import {skipWithoutProgram} from '../support/programs.js'
import {sharedData, skipWithout} from '../support/project.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder} from '../support/temporary.js'
import {svcOnTerminal} from '../support/terminal.js'

/** A person's speech, which the starter model does not recognise. */
const speech = sharedData('clips/jfk.wav') ?? ''
const id = 'openai/whisper-tiny.en'
const files = ['config.json', 'tokenizer.json', 'model.safetensors']
const model: HubModel = {
  commit: 'a'.repeat(40),
  revisions: ['main'],
  files: Object.fromEntries(files.map((name) => [name, '{}'])),
  large: ['model.safetensors'],
}

async function machine(t: TestContext) {
  const hub = await startHub(t, {[id]: model})
  const home = await temporaryFolder(t)
  const env = {HOME: home, HF_HOME: join(home, 'hf'), HF_ENDPOINT: hub.endpoint}
  return {hub, cwd: home, env}
}

describe('a recording that the starter model does not understand', {skip: skipWithout('clips/jfk.wav')}, () => {
  it('names the command that downloads a model for it, which runs as printed', async (t) => {
    const {hub, ...place} = await machine(t)
    const {stderr, exitCode} = await svcInTurn(['transcribe', speech, '--duration', '4'], place)
    assert.equal(exitCode, 0)
    const [, command = ''] = /was probably not understood .*: run `svc ([^`]+)`/.exec(stderr) ?? []
    assert.deepEqual(hub.requests, [], 'nothing is downloaded without being asked')
    const pulled = await svcInTurn(command.split(' '), place)
    assert.equal(pulled.exitCode, 0, `${stderr}${pulled.stderr}`)
    const status = await svcInTurn(['speech', 'status', '--json'], place)
    assert.equal(JSON.parse(status.stdout).active_model.name, id)
  })

  const onTerminal = async (t: TestContext, answer: string) => {
    const {hub, cwd, env} = await machine(t)
    const terminal = svcOnTerminal(t, ['transcribe', speech, '--duration', '4'], {cwd, env})
    await terminal.shows('(150 MB)? [y/N] ')
    assert.deepEqual(hub.requests, [])
    terminal.type(`${answer}\r`)
    const {exitCode, output} = await terminal.ended
    assert.equal(exitCode, 0, output)
    return {hub, output}
  }

  it('ends on a terminal with the offer to download it', {skip: skipWithoutProgram('script')}, async (t) => {
    const {hub, output} = await onTerminal(t, 'y')
    assert.match(output, new RegExp(`${id} is now the default model`))
    assert.ok(hub.requests.some(({url}) => url.includes('model.safetensors')))
  })

  it('downloads nothing unless the answer is yes', {skip: skipWithoutProgram('script')}, async (t) => {
    const {hub, output} = await onTerminal(t, 'perhaps')
    assert.deepEqual(hub.requests, [])
    assert.match(output, /Nothing was downloaded\./)
  })
})
