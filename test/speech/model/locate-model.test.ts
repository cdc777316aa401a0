import assert from 'node:assert/strict'
import {mkdir, readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {locateSpeechModel, speechModelId} from '../../../src/speech/index.js'
import {startHub} from '../../support/hub-server.js'
import {svc} from '../../support/svc.js'
import {svcInTurn} from '../../support/svc-in-turn.js'
import {temporaryFolder} from '../../support/temporary.js'

const commit = 'b'.repeat(40)
const files = {'config.json': '{}', 'tokenizer.json': '{}', 'model.safetensors': 'weights'}

async function setUp(test: TestContext) {
  const hub = await startHub(test, {'openai/whisper-tiny.en': {commit, revisions: ['main', 'v2'], files}})
  const cwd = await temporaryFolder(test)
  const cacheFolder = join(cwd, 'hub')
  const starterFolder = join(cwd, 'program/starter')
  const locate = (name: string | undefined, offline = false) =>
    locateSpeechModel(name, {
      revision: 'main',
      cwd,
      endpoint: hub.endpoint,
      cacheFolder,
      starterFolder,
      offline,
      attempts: 1,
      retryDelayMs: 1,
    })
  return {
    hub,
    cwd,
    cacheFolder,
    starterFolder,
    locate,
    snapshot: join(cacheFolder, 'models--openai--whisper-tiny.en/snapshots', commit),
  }
}

describe('a speech model', () => {
  it('can be a path', async (test) => {
    const {cwd, locate} = await setUp(test)
    await mkdir(join(cwd, 'mine'))
    assert.deepEqual(await locate('mine'), {name: 'mine', path: join(cwd, 'mine'), isFallback: false})
  })

  it('that is specified by id is downloaded once', async (test) => {
    const {hub, locate, snapshot} = await setUp(test)
    assert.deepEqual(await locate('tiny.en'), {
      name: 'openai/whisper-tiny.en',
      path: snapshot,
      isFallback: false,
    })
    hub.requests.length = 0
    assert.equal((await locate('openai/whisper-tiny.en')).path, snapshot)
    assert.deepEqual(hub.requests, [])
  })

  it('that is not specified is used from the cache, and never downloaded', async (test) => {
    const {hub, locate, snapshot} = await setUp(test)
    await assert.rejects(locate(undefined), {code: 'speech_model_missing'})
    assert.deepEqual(hub.requests, [])
    await locate('tiny.en')
    assert.equal((await locate(undefined)).path, snapshot)
  })

  it('that is neither specified nor cached is the starter model', async (test) => {
    const {hub, locate, starterFolder, snapshot} = await setUp(test)
    await mkdir(starterFolder, {recursive: true})
    const starter = {name: 'starter', path: starterFolder}
    assert.deepEqual(await locate(undefined), {...starter, isFallback: true})
    assert.deepEqual(await locate('starter'), {...starter, isFallback: false})
    assert.deepEqual(hub.requests, [])
    await locate('tiny.en')
    assert.equal((await locate(undefined)).path, snapshot)
    assert.equal((await locate('starter')).path, starterFolder)
  })

  it('that looks like a path is never requested from the hub', async (test) => {
    const {hub, locate} = await setUp(test)
    for (const name of ['./tiny', 'a/b/c', 'model.bin', 'owner/model.bin', '../up', 'nonsense'])
      await assert.rejects(locate(name), {code: 'model_not_found'})
    assert.deepEqual(hub.requests, [])
  })

  it('is not downloaded with --offline', async (test) => {
    const {locate} = await setUp(test)
    await assert.rejects(locate('tiny.en', true), {code: 'hub_offline'})
  })

  for (const [name, id] of Object.entries({
    tiny: 'openai/whisper-tiny',
    'whisper-base.en': 'openai/whisper-base.en',
    turbo: 'openai/whisper-large-v3-turbo',
    'large-v3': 'openai/whisper-large-v3',
    'distil-large-v3': 'distil-whisper/distil-large-v3',
    'acme/tiny': 'acme/tiny',
    tiniest: 'tiniest',
  }))
    it(`called ${name} is ${id}`, () => assert.equal(speechModelId(name), id))
})

describe('svc speech pull', () => {
  it('downloads a model, prints its directory, and reports its files', async (test) => {
    const {hub, cacheFolder, snapshot} = await setUp(test)
    const env = {HF_ENDPOINT: hub.endpoint, HF_HUB_CACHE: cacheFolder}
    const {stdout, stderr, exitCode} = await svcInTurn(['speech', 'pull', 'tiny.en'], {env})
    assert.deepEqual([stdout, stderr, exitCode], [`${snapshot}\n`, '', 0])
    const again = JSON.parse((await svcInTurn(['speech', 'pull', 'openai/whisper-tiny.en', '--json'], {env})).stdout)
    const {contractViolations} = await import('../../../src/contracts/index.js')
    assert.deepEqual(await contractViolations('cli/speech-pull.v1', again), [])
    assert.deepEqual([again.commit, again.files.length, again.files[0].cached], [commit, 3, true])
  })

  it('accepts a branch, tag or commit with --revision, in the layout of huggingface_hub', async (test) => {
    const {hub, cacheFolder, snapshot} = await setUp(test)
    const env = {HF_ENDPOINT: hub.endpoint, HF_HUB_CACHE: cacheFolder}
    const refs = join(cacheFolder, 'models--openai--whisper-tiny.en/refs')
    const pull = (revision: string) => svcInTurn(['speech', 'pull', 'tiny.en', '--revision', revision], {env})
    assert.deepEqual(await pull(commit), {stdout: `${snapshot}\n`, stderr: '', exitCode: 0})
    await assert.rejects(readFile(join(refs, commit)), {code: 'ENOENT'})
    assert.deepEqual(await pull('v2'), {stdout: `${snapshot}\n`, stderr: '', exitCode: 0})
    assert.equal(await readFile(join(refs, 'v2'), 'utf8'), commit)
    const unknown = await pull('v3')
    assert.match(unknown.stderr, /hub_revision_unknown/)
    assert.equal(unknown.exitCode, 3)
  })

  it('reports errors without the token', async (test) => {
    const {hub, cacheFolder} = await setUp(test)
    const env = {HF_ENDPOINT: hub.endpoint, HF_HUB_CACHE: cacheFolder, HF_TOKEN: 'hf_secret'}
    const {stderr, exitCode} = await svcInTurn(['speech', 'pull', 'acme/none'], {env})
    assert.equal(exitCode, 3)
    assert.match(stderr, /hub_model_unknown/)
    assert.doesNotMatch(stderr, /hf_secret/)
    hub.faults.push(
      {path: '/api/', fault: {kind: 'status', status: 503}},
      {path: 'config.json', fault: {kind: 'drop', after: 1}},
    )
    const retried = await svcInTurn(['speech', 'pull', 'tiny.en'], {env: {...env, SVC_SPEECH_HF_RETRY_DELAY_MS: '1'}})
    assert.equal(retried.exitCode, 0)
    assert.equal(retried.stderr.match(/warning: try 1 failed/g)?.length, 2)
  })

  it('downloads nothing with --offline', async (test) => {
    const {hub, cacheFolder} = await setUp(test)
    const env = {HF_ENDPOINT: hub.endpoint, HF_HUB_CACHE: cacheFolder}
    const {exitCode, stderr} = await svc(['speech', 'pull', 'tiny.en', '--offline'], {env})
    assert.equal(exitCode, 5)
    assert.match(stderr, /hub_offline/)
    assert.deepEqual(hub.requests, [])
  })
})
