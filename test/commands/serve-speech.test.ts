import assert from 'node:assert/strict'
import {once} from 'node:events'
import {createReadStream} from 'node:fs'
import type {ClientRequest, IncomingMessage} from 'node:http'
import {after, before, describe, it} from 'node:test'
import OpenAI from 'openai'
import WebSocket from 'ws'
import {packagesLoadedBy} from '../support/loads.js'
import {projectFile} from '../support/project.js'
import {type RunningServer, startServer} from '../support/server.js'
import {readClip} from '../support/sounds.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder, temporaryFolder} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'

describe('svc serve --speech-model', () => {
  const model = suiteFolder()
  const key = 'sesame-open'
  let server: RunningServer
  let openai: OpenAI
  before(async () => {
    await writeTinyModel(model)
    const args = ['--model', model, '--model-name', 'tiny', '--speech-model', 'starter']
    server = await startServer(args, {
      cwd: model,
      env: {SVC_INFERENCE_API_KEY: key, SVC_SPEECH_THREADS: '1', HOME: model},
    })
    openai = new OpenAI({baseURL: `${server.baseUrl}/v1`, apiKey: key, maxRetries: 0})
  })
  after(() => server.stop())
  const file = () => createReadStream(projectFile('examples/hello.wav'))
  const spoken = 'hello and welcome to your own machine'

  it('chats and transcribes on one port', async () => {
    const messages = [{role: 'user' as const, content: 'Hi'}]
    const chat = await openai.chat.completions.create({model: 'tiny', messages, max_tokens: 3})
    assert.equal(chat.usage?.completion_tokens, 3)
    assert.deepEqual(await openai.audio.transcriptions.create({file: file(), model: 'whisper-1'}), {text: spoken})
    const types: string[] = []
    for await (const {type} of await openai.audio.transcriptions.create({file: file(), model: 'starter', stream: true}))
      types.push(type)
    assert.deepEqual(types, ['transcript.text.delta', 'transcript.text.done'])
  })

  it('lists both models, and refuses each for the routes of the other', async () => {
    const ids: string[] = []
    for await (const {id} of openai.models.list()) ids.push(id)
    assert.deepEqual(ids, ['tiny', 'starter'])
    for (const id of ids) assert.equal((await openai.models.retrieve(id)).id, id)
    await assert.rejects(openai.models.retrieve('other'), {status: 404, code: 'model_not_found'})
    const unknown = {status: 404, code: 'model_not_found', param: 'model'}
    await assert.rejects(openai.audio.transcriptions.create({file: file(), model: 'tiny'}), unknown)
    await assert.rejects(openai.completions.create({prompt: 'Hi', model: 'starter'}), unknown)
  })

  it('applies the key and the origins of the server, and has only the routes of OpenAI', async () => {
    const path = '/v1/audio/transcriptions'
    const status = async (path: string, headers: Record<string, string>) =>
      (await fetch(server.baseUrl + path, {method: 'POST', headers})).status
    const authorization = `Bearer ${key}`
    assert.equal(await status(path, {}), 401)
    assert.equal(await status(path, {authorization, origin: 'https://evil.example'}), 403)
    assert.equal(await status(path, {authorization}), 400)
    assert.equal(await status('/api/audio/transcribe', {authorization}), 404)
  })

  it('transcribes live audio over the Realtime API, with the key', async () => {
    const url = `${server.baseUrl.replace('http', 'ws')}/v1/realtime?intent=transcription`
    const refused = new WebSocket(url)
    const [, response] = (await once(refused, 'unexpected-response')) as [ClientRequest, IncomingMessage]
    assert.equal(response.statusCode, 401)
    refused.on('error', () => undefined).terminate()
    const socket = new WebSocket(url, ['realtime', `openai-insecure-api-key.${key}`])
    const completed = new Promise<string>((resolve) => {
      socket.on('message', (data) => {
        const {type, transcript} = JSON.parse(String(data)) as {type: string; transcript?: string}
        if (type.endsWith('transcription.completed')) resolve(transcript ?? '')
      })
    })
    await once(socket, 'open')
    const samples = await readClip(projectFile('examples/hello.wav'))
    const audio = Buffer.from(Int16Array.from(samples, (x) => Math.round(32_767 * x)).buffer).toString('base64')
    const input = {format: {type: 'audio/pcm', rate: 16_000}}
    for (const event of [
      {type: 'session.update', session: {type: 'transcription', audio: {input}}},
      {type: 'input_audio_buffer.append', audio},
      {type: 'input_audio_buffer.commit'},
    ])
      socket.send(JSON.stringify(event))
    assert.equal(await completed, spoken)
    socket.close(1000)
    await once(socket, 'close')
  })

  it('names both models when it is ready, and stops with status 0', async () => {
    assert.match(server.stderr(), /serving tiny and starter on cpu/)
    assert.equal(await server.stop(), 0)
  })

  it('loads the code for uploads only with the flag', async (test) => {
    const loadedBy = async (args: readonly string[]) =>
      packagesLoadedBy(await temporaryFolder(test), async (env) => {
        const short = await startServer(['--model', model, ...args], {env: {...env, HOME: model}})
        await short.stop()
      })
    assert.ok((await loadedBy(['--speech-model', 'starter'])).has('@fastify/multipart'))
    assert.ok(!(await loadedBy([])).has('@fastify/multipart'))
  })

  it('reports a speech model that does not exist before it opens the port', async () => {
    const args = ['serve', '--model', model, '--port', '0', '--speech-model', './none.bin']
    const {stdout, stderr, exitCode} = await svcInTurn(args)
    assert.match(stderr, /none\.bin.*model_not_found/)
    assert.deepEqual([stdout, exitCode], ['', 3])
  })
})
