import assert from 'node:assert/strict'
import {createHash} from 'node:crypto'
import {once} from 'node:events'
import {existsSync} from 'node:fs'
import {
  mkdir,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import {createServer as createSecureServer} from 'node:https'
import type {AddressInfo} from 'node:net'
import {hostname} from 'node:os'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {execa} from 'execa'
import {
  cachedSnapshot,
  hubCacheFolder,
  type PullOptions,
  type PullProgress,
  pullModel,
  speechModelFiles,
} from '../../../src/weights/index.js'
import {type HubModel, startHub} from '../../support/hub-server.js'
import {randomFloats} from '../../support/random-floats.js'
import {selfSigned} from '../../support/self-signed.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'
import {until} from '../../support/until.js'

const commit = 'a'.repeat(40)
const weights = new Uint8Array(randomFloats(1)(64_000).buffer)

const whisper: HubModel = {
  commit,
  revisions: ['main', 'v1', 'refs/pr/4'],
  files: {
    'config.json': '{"model_type": "whisper"}',
    'tokenizer.json': '{}',
    'model.safetensors': weights,
    'pytorch_model.bin': 'not wanted',
    'README.md': 'not wanted',
    'onnx/encoder_model.onnx': 'not wanted where there are safetensors',
  },
  large: ['model.safetensors'],
}

async function setUp(test: TestContext, model: HubModel = whisper) {
  const hub = await startHub(test, {'acme/whisper': model})
  const cacheFolder = await temporaryFolder(test)
  const retries: string[] = []
  const options: PullOptions = {
    endpoint: hub.endpoint,
    cacheFolder,
    offline: false,
    attempts: 3,
    retryDelayMs: 5,
    select: speechModelFiles,
    onRetry: ({reason}) => retries.push(reason),
  }
  const repository = join(cacheFolder, 'models--acme--whisper')
  const pull = (changes: Partial<PullOptions> = {}, revision = 'main') =>
    pullModel('acme/whisper', revision, {...options, ...changes})
  return {hub, cacheFolder, repository, pull, retries}
}

const lock = '.locks/models--acme--whisper.lock'
/** The content of a lock file; no process has this pid. */
const gone = (host: string) => `4194305 ${host} 0`

const urls = (hub: Awaited<ReturnType<typeof startHub>>) => hub.requests.map(({url}) => url)

describe('pullModel', () => {
  it('downloads only the necessary files to the cache layout of other tools', async (test) => {
    const {pull, repository, cacheFolder} = await setUp(test)
    const {folder, files} = await pull()
    assert.equal(folder, join(repository, 'snapshots', commit))
    assert.deepEqual((await readdir(folder)).sort(), ['config.json', 'model.safetensors', 'tokenizer.json'])
    assert.deepEqual(new Uint8Array(await readFile(join(folder, 'model.safetensors'))), weights)
    assert.match(await readlink(join(folder, 'config.json')), /^\.\.\/\.\.\/blobs\/[0-9a-f]{40}$/)
    assert.match(await readlink(join(folder, 'model.safetensors')), /^\.\.\/\.\.\/blobs\/[0-9a-f]{64}$/)
    assert.equal(await readFile(join(repository, 'refs/main'), 'utf8'), commit)
    assert.deepEqual(
      files.map(({name, cached}) => [name, cached]),
      [
        ['config.json', false],
        ['tokenizer.json', false],
        ['model.safetensors', false],
      ],
    )
    assert.equal(await cachedSnapshot('acme/whisper', 'main', cacheFolder), folder)
  })

  it('does not download existing files again', async (test) => {
    const {hub, pull} = await setUp(test)
    await pull()
    hub.requests.length = 0
    const {files} = await pull()
    assert.ok(files.every(({cached}) => cached))
    assert.deepEqual(urls(hub).length, 1)
  })

  for (const revision of ['v1', 'refs/pr/4', commit])
    it(`stores the model under its revision ${revision.slice(0, 12)}`, async (test) => {
      const {pull, cacheFolder} = await setUp(test)
      const {folder} = await pull({}, revision)
      assert.equal(await cachedSnapshot('acme/whisper', revision, cacheFolder), folder)
    })

  it('reports progress', async (test) => {
    const {pull} = await setUp(test)
    const steps: PullProgress[] = []
    await pull({onProgress: (progress) => steps.push(progress)})
    const total = Buffer.byteLength(whisper.files['config.json'] as string) + 2 + weights.length
    const {digest = '', ...last} = steps.at(-1) ?? {}
    assert.match(digest, /^sha256:[0-9a-f]{64}$/)
    const [fileBytes, fileTotal] = [weights.length, weights.length]
    assert.deepEqual(last, {file: 'model.safetensors', receivedBytes: total, totalBytes: total, fileBytes, fileTotal})
    for (const [i, {receivedBytes}] of steps.entries()) assert.ok(receivedBytes >= (steps[i - 1]?.receivedBytes ?? 0))
  })

  it('downloads ONNX files if there are no safetensors', async (test) => {
    const {'model.safetensors': _, ...files} = whisper.files
    const onnx = {...files, 'onnx/decoder_model_merged.onnx': 'graph', 'onnx/decoder_model_merged_q4.onnx': 'no'}
    const {pull} = await setUp(test, {...whisper, files: onnx, large: []})
    const {folder} = await pull()
    assert.deepEqual((await readdir(join(folder, 'onnx'))).sort(), ['decoder_model_merged.onnx', 'encoder_model.onnx'])
  })

  it('rejects a model without supported ONNX files', async (test) => {
    const {pull} = await setUp(test, {...whisper, files: {'config.json': '{}', 'onnx/encoder_model.onnx': 'alone'}})
    await assert.rejects(pull(), {code: 'hub_files_missing'})
  })

  it('accepts other files with names in any language', async (test) => {
    const {pull} = await setUp(test, {
      ...whisper,
      files: {...whisper.files, 'サンプル/été [1] & #2.wav': '', 'a:b': ''},
    })
    assert.equal((await pull()).files.length, 3)
  })

  it('downloads truncated or deleted files again', async (test) => {
    const {pull, cacheFolder} = await setUp(test)
    const {folder} = await pull()
    await truncate(join(folder, 'model.safetensors'), 10)
    await pull()
    assert.deepEqual(new Uint8Array(await readFile(join(folder, 'model.safetensors'))), weights)
    await rm(await realpath(join(folder, 'model.safetensors')))
    assert.equal(await cachedSnapshot('acme/whisper', 'main', cacheFolder), undefined)
    await pull()
    assert.equal(await cachedSnapshot('acme/whisper', 'main', cacheFolder), folder)
  })

  it('completes a partial download of another tool', async (test) => {
    const {pull, repository, cacheFolder} = await setUp(test)
    await writeFiles(repository, {'refs/main': commit, [`snapshots/${commit}/config.json`]: '{}'})
    assert.equal(await cachedSnapshot('acme/whisper', 'main', cacheFolder), undefined)
    await assert.rejects(pull({offline: true}), {code: 'hub_offline'})
    const {folder} = await pull()
    assert.equal(await cachedSnapshot('acme/whisper', 'main', cacheFolder), folder)
  })

  it('rejects a model without weights', async (test) => {
    const {pull} = await setUp(test, {...whisper, files: {'config.json': '{}'}})
    await assert.rejects(pull(), {code: 'hub_files_missing'})
  })
})

describe('a download that fails', () => {
  it('resumes after a lost connection', async (test) => {
    const {hub, pull, retries} = await setUp(test)
    hub.faults.push({path: 'store/', fault: {kind: 'drop', after: 100_000}})
    const {folder} = await pull()
    assert.deepEqual(new Uint8Array(await readFile(join(folder, 'model.safetensors'))), weights)
    const ranges = hub.requests.filter(({url}) => url.includes('signed')).map(({range}) => range)
    assert.equal(ranges[0], undefined)
    assert.match(ranges[1] ?? '', /^bytes=[1-9]\d*-$/)
    assert.equal(retries.length, 1)
  })

  it('resumes in a later pull, also without range support of the server', async (test) => {
    const {hub, pull, repository} = await setUp(test)
    hub.ranges = false
    for (let i = 0; i < 3; i++) hub.faults.push({path: 'store/', fault: {kind: 'drop', after: 50_000}})
    await assert.rejects(pull(), {code: 'hub_unreachable'})
    const partial = (await readdir(join(repository, 'blobs'))).find((name) => name.endsWith('.incomplete'))
    assert.ok(partial !== undefined)
    assert.equal(existsSync(join(repository, 'refs/main')), false)
    const {folder} = await pull()
    assert.deepEqual(new Uint8Array(await readFile(join(folder, 'model.safetensors'))), weights)
  })

  for (const [kind, retryAfter] of [
    ['busy', '0'],
    ['down', undefined],
  ] as const)
    it(`is retried while the hub is ${kind}`, async (test) => {
      const {hub, pull, retries} = await setUp(test)
      const fault = {
        kind: 'status',
        status: kind === 'busy' ? 429 : 503,
        ...(retryAfter === undefined ? {} : {retryAfter}),
      } as const
      hub.faults.push({path: '/api/', fault}, {path: 'config.json', fault})
      await pull()
      assert.equal(retries.length, 2)
    })

  it('fails after the maximum number of attempts', async (test) => {
    const {hub, pull} = await setUp(test)
    for (let i = 0; i < 5; i++) hub.faults.push({path: '/api/', fault: {kind: 'status', status: 500}})
    await assert.rejects(pull(), {code: 'hub_failed'})
    assert.equal(hub.requests.length, 3)
  })

  it('retries a wrong checksum once, then fails', async (test) => {
    const {hub, pull, repository} = await setUp(test)
    hub.faults.push({path: 'store/', fault: {kind: 'garbage'}})
    await pull()
    await rm(repository, {recursive: true})
    for (let i = 0; i < 2; i++) hub.faults.push({path: 'store/', fault: {kind: 'garbage'}})
    await assert.rejects(pull(), {code: 'checksum_mismatch'})
    assert.equal(existsSync(join(repository, 'snapshots')), false)
    assert.ok((await readdir(join(repository, 'blobs'))).every((name) => !name.endsWith('.incomplete')))
  })

  it('restarts if the server rejects the range', async (test) => {
    const {hub, pull, retries} = await setUp(test)
    hub.faults.push(
      {path: 'store/', fault: {kind: 'drop', after: 100_000}},
      {path: 'store/', fault: {kind: 'status', status: 416}},
    )
    const {folder} = await pull()
    assert.deepEqual(new Uint8Array(await readFile(join(folder, 'model.safetensors'))), weights)
    assert.equal(retries.length, 2)
  })

  it('retries a file that is too long once', async (test) => {
    const {hub, pull} = await setUp(test)
    hub.faults.push({path: 'store/', fault: {kind: 'surplus'}})
    const {folder} = await pull()
    assert.deepEqual(new Uint8Array(await readFile(join(folder, 'model.safetensors'))), weights)
  })

  it('reports a full disk and removes the partial file', {skip: !existsSync('/dev/full')}, async (test) => {
    const {pull, repository} = await setUp(test)
    await mkdir(join(repository, 'blobs'), {recursive: true})
    const blob = createHash('sha256').update(weights).digest('hex')
    await symlink('/dev/full', join(repository, 'blobs', `${blob}.incomplete`))
    await assert.rejects(pull(), {code: 'disk_full'})
    assert.ok((await readdir(join(repository, 'blobs'))).every((name) => !name.startsWith(blob)))
    assert.equal(existsSync(join(repository, 'refs/main')), false)
    await pull()
  })

  it('reports a file size limit and leaves no truncated file', async (test) => {
    const {hub, cacheFolder, repository} = await setUp(test)
    const module = new URL('../../../src/weights/index.js', import.meta.url).href
    const program = `import {pullModel, speechModelFiles} from '${module}'
const options = ${JSON.stringify({endpoint: hub.endpoint, cacheFolder, offline: false, attempts: 1, retryDelayMs: 1})}
await pullModel('acme/whisper', 'main', {...options, select: speechModelFiles}).catch(({code}) => console.log(code))`
    // The last write before the limit is partial, as on a disk that is almost full.
    const limited = 'ulimit -f 130; exec "$0" --input-type=module -e "$1"'
    const {stdout} = await execa('bash', ['-c', limited, process.execPath, program])
    assert.equal(stdout, 'EFBIG')
    const large = (await readdir(join(repository, 'blobs'))).filter((name) => name.length >= 64)
    assert.ok(large.length === 1 && large[0]?.endsWith('.incomplete'))
  })

  it('keeps the partial file but no lock when aborted', async (test) => {
    const {hub, pull, repository, cacheFolder} = await setUp(test)
    hub.faults.push({path: 'store/', fault: {kind: 'slow', pauseMs: 5}})
    const stop = new AbortController()
    const reason = new Error('stopped')
    const onProgress = ({file, receivedBytes}: PullProgress) => {
      if (file === 'model.safetensors' && receivedBytes > 10_000) stop.abort(reason)
    }
    await assert.rejects(pull({signal: stop.signal, onProgress}), reason)
    const partial = (await readdir(join(repository, 'blobs'))).find((name) => name.endsWith('.incomplete'))
    assert.ok((await stat(join(repository, 'blobs', partial ?? ''))).size > 0)
    assert.deepEqual(await readdir(join(cacheFolder, '.locks')), [])
    await pull()
    assert.ok(hub.requests.some(({range}) => range !== undefined))
  })

  const denials = {
    'an unknown model': {id: 'acme/none', revision: 'main', code: 'hub_model_unknown'},
    'an unknown revision': {id: 'acme/whisper', revision: 'v9', code: 'hub_revision_unknown'},
    'an invalid revision': {id: 'acme/whisper', revision: '../main', code: 'hub_revision_unknown'},
    'an invalid id': {id: '../whisper', revision: 'main', code: 'model_id_invalid'},
  } as const
  for (const [what, {id, revision, code}] of Object.entries(denials))
    it(`is rejected without retries for ${what}`, async (test) => {
      const hub = await startHub(test, {'acme/whisper': whisper})
      const cacheFolder = await temporaryFolder(test)
      const options = {endpoint: hub.endpoint, cacheFolder, offline: false, attempts: 3, retryDelayMs: 5}
      await assert.rejects(pullModel(id, revision, {...options, select: speechModelFiles}), {code})
      assert.ok(hub.requests.length <= 1)
    })

  it('reports an unknown model if the hub returns 401 for it', async (test) => {
    const {hub, pull} = await setUp(test)
    const headers = {'x-error-code': 'RepoNotFound'}
    hub.faults.push({path: '/api/', fault: {kind: 'status', status: 401, headers}})
    await assert.rejects(pull(), {code: 'hub_model_unknown'})
  })

  it('reports whether a token was sent for a model that requires one', async (test) => {
    const {pull} = await setUp(test, {...whisper, token: 'right'})
    await assert.rejects(pull(), /no token was sent/)
    await assert.rejects(pull({token: 'wrong-token'}), (error: Error & {code: string}) => {
      assert.equal(error.code, 'hub_access_denied')
      assert.doesNotMatch(error.message, /wrong-token/)
      return true
    })
  })

  it('reports an unreachable hub', async (test) => {
    const {pull} = await setUp(test)
    await assert.rejects(pull({endpoint: 'http://127.0.0.1:9'}), {code: 'hub_unreachable'})
    const server = createSecureServer(selfSigned())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    test.after(() => server.close())
    const {port} = server.address() as AddressInfo
    await assert.rejects(pull({endpoint: `https://127.0.0.1:${port}`}), {code: 'certificate_untrusted'})
  })

  it('reports a cache folder that is not writable', async (test) => {
    const {pull, cacheFolder} = await setUp(test)
    await writeFile(join(cacheFolder, 'file'), '')
    await assert.rejects(pull({cacheFolder: join(cacheFolder, 'file')}))
  })
})

describe('a file in Xet storage', () => {
  it('is downloaded by the redirect for other clients, and resumes with a new signed URL', async (test) => {
    const {hub, pull, repository} = await setUp(test, {...whisper, xet: ['model.safetensors']})
    hub.faults.push(
      {path: 'store/', fault: {kind: 'drop', after: 100_000}},
      {path: 'store/', fault: {kind: 'status', status: 403}},
    )
    const {folder} = await pull()
    assert.deepEqual(new Uint8Array(await readFile(join(folder, 'model.safetensors'))), weights)
    const sha256 = createHash('sha256').update(weights).digest('hex')
    assert.ok((await readdir(join(repository, 'blobs'))).includes(sha256))
    const signed = hub.requests.filter(({url}) => url.includes('signed'))
    assert.deepEqual(
      signed.map(({range, status}) => [range === undefined, status]),
      [
        [true, 200],
        [false, 403],
        [false, 206],
      ],
    )
  })

  it('fails with the status if its storage always refuses', async (test) => {
    const {hub, pull} = await setUp(test)
    for (let i = 0; i < 3; i++) hub.faults.push({path: 'store/', fault: {kind: 'status', status: 403}})
    await assert.rejects(pull(), {code: 'hub_failed', message: /403/})
  })
})

describe('the hub', () => {
  it('receives the token, but other hosts after a redirect do not', async (test) => {
    const {hub, pull} = await setUp(test, {...whisper, token: 'secret'})
    await pull({token: 'secret'})
    for (const {url, authorization} of hub.requests)
      assert.equal(authorization, url.includes('signed') ? undefined : 'Bearer secret', url)
    assert.ok(hub.requests.some(({url}) => url.includes('signed')))
  })

  for (const name of ['../../evil.json', '/etc/passwd', 'a/../../b.json', 'a\\..\\b.json'])
    it(`is rejected if it lists ${name}`, async (test) => {
      const {hub, pull, cacheFolder} = await setUp(test)
      hub.lies = {'config.json': name}
      await assert.rejects(pull(), {code: 'hub_answer_invalid'})
      assert.deepEqual(await readdir(cacheFolder), [])
    })
})

describe('a redirect of the hub', () => {
  for (const [where, location] of [
    ['to nowhere', 'http://'],
    ['to a file', 'file:///etc/passwd'],
    ['in a circle', '/api/models/acme/whisper/revision/main'],
  ] as const)
    it(`${where} is rejected`, async (test) => {
      const {hub, pull} = await setUp(test)
      for (let i = 0; i < 6; i++)
        hub.faults.push({path: '/api/', fault: {kind: 'status', status: 302, headers: {location}}})
      await assert.rejects(pull(), {code: 'hub_answer_invalid'})
    })
})

describe('concurrent pulls of one model', () => {
  it('download each file only once', async (test) => {
    const {hub, pull} = await setUp(test)
    hub.faults.push({path: 'store/', fault: {kind: 'slow', pauseMs: 1}})
    const [first, second] = await Promise.all([pull(), pull()])
    assert.equal(first.folder, second.folder)
    assert.equal(urls(hub).filter((url) => url.includes('signed')).length, 1)
  })

  it('do not wait for a process that has ended', async (test) => {
    const {pull, cacheFolder} = await setUp(test)
    await mkdir(join(cacheFolder, '.locks'))
    await writeFile(join(cacheFolder, lock), gone(hostname()))
    await Promise.all([pull(), pull(), pull()])
    assert.deepEqual(await readdir(join(cacheFolder, '.locks')), [])
  })

  it('wait for each other across machines while the lock is refreshed', async (test) => {
    const {hub, pull, cacheFolder} = await setUp(test)
    await writeFiles(cacheFolder, {[lock]: gone('another-machine')})
    const stop = new AbortController()
    const stopped = assert.rejects(pull({signal: stop.signal}), /stopped/)
    await until(() => urls(hub).length === 1, 'it waits after its first request')
    await sleep(300)
    stop.abort(new Error('stopped'))
    await stopped
    assert.deepEqual(urls(hub).length, 1)
    const longAgo = new Date(Date.now() - 120_000)
    await utimes(join(cacheFolder, lock), longAgo, longAgo)
    await pull()
  })
})

describe('pullModel offline', () => {
  it('uses only the cache', async (test) => {
    const {hub, pull} = await setUp(test)
    await assert.rejects(pull({offline: true}), {code: 'hub_offline'})
    const {folder} = await pull()
    hub.requests.length = 0
    assert.equal((await pull({offline: true})).folder, folder)
    assert.deepEqual(hub.requests, [])
  })
})

describe('hubCacheFolder', () => {
  const folders: readonly (readonly [env: Record<string, string>, folder: string])[] = [
    [{SVC_SPEECH_CACHE_DIR: '/a', HF_HUB_CACHE: '/b'}, '/a'],
    [{HF_HUB_CACHE: '/b', HF_HOME: '/c'}, '/b'],
    [{HF_HOME: '/c', XDG_CACHE_HOME: '/d'}, '/c/hub'],
    [{XDG_CACHE_HOME: '/d'}, '/d/huggingface/hub'],
  ]
  for (const [env, folder] of folders)
    it(`returns ${folder} for ${JSON.stringify(env)}`, () => assert.equal(hubCacheFolder(env), folder))
})
