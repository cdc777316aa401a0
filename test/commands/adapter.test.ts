import assert from 'node:assert/strict'
import {existsSync} from 'node:fs'
import {readdir, rm} from 'node:fs/promises'
import {join} from 'node:path'
import {after, before, describe, it} from 'node:test'
import {contractViolations} from '../../src/contracts/index.js'
import {startHub} from '../support/hub-server.js'
import {type RunningServer, startServer} from '../support/server.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder, writeFiles} from '../support/temporary.js'
import {tinyAdapterFiles, writeTinyModel} from '../support/tiny-model.js'

describe('svc adapter', () => {
  const folder = suiteFolder()
  const adapters = join(folder, 'adapters')
  const env = {HOME: folder, SVC_ADMIN_KEY: 'sesame'}
  let server: RunningServer

  before(async () => {
    await writeTinyModel(join(folder, 'base'))
    await writeFiles(join(adapters, 'legal'), tinyAdapterFiles({}, {seed: 61}))
    await writeFiles(join(folder, 'peft'), tinyAdapterFiles({}, {form: 'peft', seed: 62}))
    await writeFiles(join(folder, 'peft'), {'optimizer.pt': 'not copied'})
    await writeFiles(join(folder, 'ollama'), {Modelfile: 'FROM ../base\nADAPTER ../peft\n', Plain: 'FROM ../base\n'})
    const args = ['--model', join(folder, 'base'), '--adapters', adapters, '--chat-template', 'none']
    server = await startServer(args, {cwd: folder, env})
  })
  after(() => server?.stop())

  const svc = (...args: string[]) => svcInTurn(['adapter', ...args], {cwd: folder, env})
  const ask = (...args: string[]) => svc(...args, '--server', server.baseUrl)

  it('imports a directory of PEFT, which a running server then serves', async () => {
    const imported = await svc('import', 'peft', '--output', 'adapters', '--name', 'medical')
    assert.equal(imported.stdout, `Wrote ${join(adapters, 'medical')}.\n`)
    assert.ok(!existsSync(join(adapters, 'medical', 'optimizer.pt')))
    assert.equal((await ask('add', 'medical')).stdout, 'Added medical.\n')
    assert.equal((await ask('add', 'medical', 'legal')).stdout, 'Replaced medical.\n')
    assert.match((await ask('list')).stdout, /^NAME +SIZE +IN MEMORY\nlegal .* no\nmedical .* no\n$/)
    const listed = await ask('list', '--json')
    assert.deepEqual(await contractViolations('cli/adapter-list.v1', JSON.parse(listed.stdout)), [])
    assert.equal((await ask('remove', 'medical')).stdout, 'Removed medical.\n')
  })

  it('imports the ADAPTER of a Modelfile', async (t) => {
    t.after(() => rm(join(folder, 'out'), {recursive: true, force: true}))
    const {stdout} = await svc('import', 'ollama/Modelfile', '-o', 'out', '--json')
    const result = JSON.parse(stdout)
    assert.deepEqual(await contractViolations('cli/adapter-import.v1', result), [])
    assert.deepEqual([result.path, result.updates], [join(folder, 'out', 'peft'), 15])
    const again = await svc('import', 'ollama/Modelfile', '-o', 'out')
    assert.deepEqual([again.exitCode, /already exists/.test(again.stderr)], [4, true])
    assert.equal((await svc('import', 'ollama/Modelfile', '-o', 'out', '--overwrite')).exitCode, 0)
    assert.match((await svc('import', 'ollama/Plain', '-o', 'out')).stderr, /no adapter weights/)
    const other = ['import', 'adapters/legal', '-o', 'out', '--name', 'peft']
    assert.match((await svc(...other)).stderr, /already exists/)
    assert.equal((await svc(...other, '--overwrite')).exitCode, 0)
    const files = ['adapter_manifest.json', 'candle_qlora_adapter.safetensors']
    assert.deepEqual((await readdir(join(folder, 'out', 'peft'))).sort(), files, 'files of the former adapter')
  })

  it('imports the adapter of a repository', async (t) => {
    t.after(() => rm(join(folder, 'pulled'), {recursive: true, force: true}))
    const files = {
      ...tinyAdapterFiles({}, {form: 'peft', seed: 63}),
      'optimizer.pt': 'not wanted',
      'README.md': 'not wanted',
    }
    const hub = await startHub(t, {
      'acme/legal-lora': {
        commit: 'a'.repeat(40),
        revisions: ['main', 'v2'],
        files,
        large: ['adapter_model.safetensors'],
      },
      'acme/model': {commit: 'b'.repeat(40), revisions: ['main'], files: {'config.json': '{}'}},
    })
    const pull = (...args: string[]) =>
      svcInTurn(['adapter', 'import', ...args, '--output', 'pulled'], {
        cwd: folder,
        env: {...env, HF_ENDPOINT: hub.endpoint, HF_HOME: join(folder, 'hf')},
      })
    const {stdout, stderr} = await pull('acme/legal-lora@v2')
    assert.equal(stdout, `Wrote ${join(folder, 'pulled', 'legal-lora')}.\n`, stderr)
    assert.deepEqual((await readdir(join(folder, 'pulled', 'legal-lora'))).sort(), [
      'adapter_config.json',
      'adapter_model.safetensors',
    ])
    assert.ok(!hub.requests.some(({url}) => /optimizer|README/.test(url)))
    const downloads = () => hub.requests.filter(({url}) => url.includes('/resolve/')).length
    const before = downloads()
    for (const [name, ...flags] of [['again'], ['offline', '--offline']] as const) {
      const again = await pull('acme/legal-lora@v2', '--name', name, '--json', ...flags)
      assert.deepEqual([JSON.parse(again.stdout).path, downloads()], [join(folder, 'pulled', name), before])
    }
    const offline = await pull('acme/other-lora', '--offline')
    assert.match(offline.stderr, /--offline/)
    const other = await pull('acme/model')
    assert.match(other.stderr, /repository acme\/model has no adapter that svc can read/)
    assert.match((await pull('acme/unknown')).stderr, /acme\/unknown/)
    assert.match((await pull('./acme/unknown')).stderr, /no such file|does not exist|not found/i)
  })

  it('reports what the server refuses', async () => {
    const missing = await ask('remove', 'unknown')
    assert.match(missing.stderr, /status 404: This server has no adapter unknown/)
    const outside = await ask('add', 'other', '../peft')
    assert.match(outside.stderr, /status 403: \.\.\/peft is not a directory below/)
    const wrong = await svcInTurn(['adapter', 'remove', 'legal', '--server', server.baseUrl], {
      cwd: folder,
      env: {...env, SVC_ADMIN_KEY: 'wrong'},
    })
    assert.match(wrong.stderr, /status 401/)
  })
})
