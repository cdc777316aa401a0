import assert from 'node:assert/strict'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import type {ListV1} from '../../src/contracts/index.js'
import {type HubModel, startHub} from './hub-server.js'
import {svcInTurn} from './svc-in-turn.js'
import {temporaryFolder} from './temporary.js'
import {tinyModelFiles} from './tiny-model.js'

/** The model that every hub of `hubMachine` has, and the file with its weights. */
export const id = 'acme/llama'
export const weights = 'model.safetensors'

const llama = (seed = 1): HubModel => ({
  commit: String(seed).padStart(40, 'a'),
  revisions: ['main', 'v1'],
  files: {
    ...tinyModelFiles({layout: 'single', seed}),
    'README.md': '---\nlicense: apache-2.0\n---\n# Llama\n',
    LICENSE: 'Apache License\n',
    'chat_template.jinja': '{{ messages[0].content }}',
    'pytorch_model.bin': 'not wanted',
    'onnx/model.onnx': 'not wanted',
  },
  large: [weights],
  xet: [weights],
})

/** A new machine with a hub. */
export async function hubMachine(t: TestContext, more: Readonly<Record<string, HubModel>> = {}) {
  const model = llama()
  const hub = await startHub(t, {[id]: model, ...more})
  const cwd = await temporaryFolder(t)
  const env = {HOME: cwd, HF_HOME: join(cwd, 'hf'), HF_ENDPOINT: hub.endpoint}
  const place = {cwd, env}
  const run = (...args: string[]) => svcInTurn(args, place)
  const succeed = async (...args: string[]) => {
    const {stdout, stderr, exitCode} = await run(...args)
    assert.equal(exitCode, 0, stderr)
    return stdout
  }
  const list = async () => (JSON.parse(await succeed('list', '--json')) as ListV1).models
  const generate = (name: string) =>
    succeed('generate', '--model', name, '--temperature', '0', '--max-tokens', '4', '--chat-template', 'none', 'a')
  const repository = join(cwd, 'hf/hub', `models--${id.replace('/', '--')}`)
  return {hub, model, cwd, env, place, run, succeed, list, generate, repository}
}
