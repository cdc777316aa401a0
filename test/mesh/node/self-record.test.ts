import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {mkdir, readdir, readFile, stat, writeFile} from 'node:fs/promises'
import os from 'node:os'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {promisify} from 'node:util'
import {isErrorOf} from '../../../src/errors/index.js'
import {nodeId, selfRecord} from '../../../src/mesh/index.js'
import {projectFile} from '../../support/project.js'
import {temporaryFolder} from '../../support/temporary.js'

const home = async (test: TestContext, env: Record<string, string> = {}) => ({
  env: {HOME: await temporaryFolder(test), ...env},
})
const file = (mesh: object) => ({path: 'Svc.toml', data: {mesh}, warnings: []})

describe('selfRecord', () => {
  it('describes the machine under a persistent id', async (t) => {
    const sources = await home(t, {HOSTNAME: 'rig1'})
    const record = await selfRecord(sources, '1.2.3')
    assert.match(record.id, /^node-[0-9a-f]{16}$/)
    const {cpu_cores: cores, arch = '', hostname} = record.capabilities
    assert.deepEqual([cores, hostname], [os.availableParallelism(), 'rig1'])
    assert.deepEqual(record, {
      id: record.id,
      version: '1.2.3',
      capabilities: {cpu_cores: cores, min_cpu_cores: cores, arch, hostname: 'rig1'},
      host_triple: record.host_triple,
    })
    assert.ok(record.host_triple?.startsWith(`${arch}-`))
    assert.equal((await selfRecord(sources, '1.2.3')).id, record.id)
    const kept = join(sources.env.HOME, '.svc', 'mesh', 'node-id')
    assert.equal(await readFile(kept, 'utf8'), `${record.id}\n`)
    assert.equal((await stat(kept)).mode & 0o777, 0o600)
  })

  it('merges the labels of command, environment and file in this order', async (t) => {
    const env = {SVC_MESH_LABELS: 'fast, pool=env,region=eu', SVC_MESH_NODE_ID: 'rig1'}
    const sources = {...(await home(t, env)), file: file({labels: ['region=eu', 'pool=file', 'disk=nvme']})}
    const record = await selfRecord(sources, '1', ['pool=flag', 'fast'])
    assert.deepEqual(record.capabilities.labels, [
      'pool=flag',
      'fast',
      'pool=env',
      'region=eu',
      'pool=file',
      'disk=nvme',
    ])
    assert.equal(record.pool_id, 'flag')
    assert.equal(record.id, 'rig1')
    assert.deepEqual(await readdir(sources.env.HOME), [], 'an id that is given is not kept')
  })

  it('contains advertised capabilities and the scope; the environment overrides the file', async (t) => {
    const env = {
      SVC_MESH_NODE_ID: 'n',
      SVC_MESH_ADVERTISE_GPU: '1',
      SVC_MESH_ADVERTISE_NPU: 'true',
      SVC_MESH_DEVICE_CLASS: 'server',
      SVC_MESH_VISIBILITY: 'hybrid',
      SVC_MESH_SCOPE_ID: 'scope-a1',
    }
    const {capabilities, ...record} = await selfRecord(await home(t, env), '1')
    const {gpu_cuda: gpu, npu, device_class: kind, gpu_vulkan: vulkan} = capabilities
    assert.deepEqual([gpu, npu, kind, vulkan], [true, true, 'server', undefined])
    assert.deepEqual([record.visibility, record.scope_id], ['hybrid', 'scope-a1'])
    assert.deepEqual([record.gpu_inventory_source, record.gpu_truth_layer], ['advertised', 'layer_c_advertised'])

    const byFile = {...(await home(t, {SVC_MESH_NODE_ID: 'n'})), file: file({advertise_gpu: true, scope_id: 's'})}
    const fromFile = await selfRecord(byFile, '1')
    assert.deepEqual([fromFile.capabilities.gpu_cuda, fromFile.scope_id], [true, 's'])
    byFile.env = {...byFile.env, SVC_MESH_ADVERTISE_GPU: '0'} as typeof byFile.env
    assert.equal((await selfRecord(byFile, '1')).capabilities.gpu_cuda, undefined)
  })

  it('never contains a listener address', async (t) => {
    const env = {SVC_MESH_CONTROL_ADDR: 'http://10.0.0.7:9847', SVC_MESH_NODE_ID: 'n'}
    assert.ok(!('listen_addr' in (await selfRecord(await home(t, env), '1'))))
  })
})

describe('node id', () => {
  it('is the same for all processes that create it concurrently', async (t) => {
    const {env} = await home(t)
    const program = projectFile('dist/test/mesh/node/print-node-ids.js')
    const run = () => promisify(execFile)(process.execPath, [program, '8'], {env: {...process.env, ...env}})
    const printed = await Promise.all(Array.from({length: 4}, run))
    const ids = printed.flatMap(({stdout}) => stdout.trim().split('\n'))
    assert.equal(ids.length, 32)
    assert.equal(new Set(ids).size, 1, ids.join(' '))
    assert.deepEqual(await readdir(join(env.HOME, '.svc', 'mesh')), ['node-id'])
  })

  it('is read from its file, if valid', async (t) => {
    const sources = await home(t)
    const folder = join(sources.env.HOME, '.svc', 'mesh')
    await mkdir(folder, {recursive: true})
    await writeFile(join(folder, 'node-id'), ' rig1.example:eu \n')
    assert.equal(await nodeId(sources), 'rig1.example:eu')
    for (const text of ['', 'two words\n', 'two\nlines\n', 'x'.repeat(256)]) {
      await writeFile(join(folder, 'node-id'), text)
      await assert.rejects(nodeId(sources), (error) => isErrorOf(error, 'file_unreadable'))
    }
  })

  it('requires a writable folder', async (t) => {
    const sources = await home(t)
    await writeFile(join(sources.env.HOME, '.svc'), '')
    await assert.rejects(nodeId(sources), (error: Error) => error.message.includes(join(sources.env.HOME, '.svc')))
  })
})
