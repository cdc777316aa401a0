import assert from 'node:assert/strict'
import {mkdir, rename} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {findLanguageModels} from '../../src/llm/index.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'

/** A workspace with models in these folders, and a home without any. */
async function workspace(t: TestContext, ...models: string[]) {
  const root = await temporaryFolder(t)
  await writeFiles(root, {
    'Svc.toml': '',
    'models/notes.txt': '',
    'models/voice/config.json': '{"model_type": "whisper"}',
  })
  for (const model of models) await writeTinyModel(join(root, model))
  return {cwd: root, env: {HOME: root, HF_HOME: join(root, 'hf')}}
}

const generate = (place: {cwd: string; env: Record<string, string>}, ...args: string[]) =>
  svcInTurn(
    ['generate', '--raw', '--temperature', '0', '--threads', '1', '--max-tokens', '2', '--json', ...args, 'a'],
    place,
  )

const snapshot = 'hf/hub/models--acme--small/snapshots/main'

describe('the model of svc generate and svc serve without --model', () => {
  it('is the included guide if there is no other', async (t) => {
    const {stdout, stderr} = await generate(await workspace(t))
    assert.equal(JSON.parse(stdout).model, 'guide')
    assert.match(
      stderr,
      /^notice: Using the included guide model, which knows only 60 facts about svc; for help, run `svc ask QUESTION`\. /,
    )
  })

  it('is the only one in the folders of the workspace', async (t) => {
    const {stdout, stderr} = await generate(await workspace(t, 'models/mine'))
    assert.equal(JSON.parse(stdout).model, 'mine')
    assert.equal(stderr, 'notice: Using the model ./models/mine, the only one on this machine.\n')
  })

  it('must be selected if there are several, which the error lists', async (t) => {
    const place = await workspace(t, 'models/mine', 'runs/r7', snapshot)
    const refused = await generate(place)
    assert.equal(refused.exitCode, 2)
    const {error} = JSON.parse(refused.stdout)
    assert.equal(error.code, 'model_ambiguous')
    assert.match(error.message, /several on this machine:\n {2}\.\/models\/mine\n {2}\.\/runs\/r7\n {2}acme\/small$/)
    assert.match(error.remediation, /--model \.\/models\/mine,/)
    for (const env of [{SVC_MODEL: './runs/r7'}, {SVC_MODEL: 'acme/small'}]) {
      const {stdout} = await generate({...place, env: {...place.env, ...env}})
      assert.ok(env.SVC_MODEL.endsWith(JSON.parse(stdout).model), stdout)
    }
    await writeFiles(place.cwd, {'Svc.toml': '[engine]\nmodel = "models/mine"\n'})
    const configured = await generate(place)
    assert.equal(JSON.parse(configured.stdout).model, 'mine')
    assert.equal(configured.stderr, '')
  })

  it('is quoted in the hint of the error as a shell needs it', async (t) => {
    const {stdout} = await generate(await workspace(t, 'models/a model', 'models/b'))
    assert.match(JSON.parse(stdout).error.remediation, /--model '\.\/models\/a model',/)
  })

  it('is found by its configuration and weights, from a subdirectory too', async (t) => {
    const {cwd: root} = await workspace(t, 'models/mine')
    const cacheFolder = join(root, 'hf/hub')
    await mkdir(join(root, 'src'))
    assert.deepEqual(await findLanguageModels({root, cwd: join(root, 'src'), cacheFolder}), ['../models/mine'])
    await rename(join(root, 'models/mine/config.json'), join(root, 'models/mine/other.json'))
    assert.deepEqual(await findLanguageModels({root, cwd: root, cacheFolder}), [])
  })
})
