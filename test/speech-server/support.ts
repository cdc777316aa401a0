import {copyFile, readdir} from 'node:fs/promises'
import {join} from 'node:path'
import {text} from 'node:stream/consumers'
import {after} from 'node:test'
import WebSocket from 'ws'
import {openAudio} from '../../src/audio/index.js'
import {
  hubSettings,
  resolveSettings,
  speechAudioSettings,
  speechRefineSettings,
  speechSessionSettings,
  speechSettings,
  speechStatus,
} from '../../src/config/index.js'
import type {SpeechEventV1, SpeechFinalV1} from '../../src/contracts/index.js'
import {
  chosenSettings,
  LiveSession,
  ModelHolder,
  type SpeechCallSettings,
  SpeechService,
  Transcriber,
  transcriberOptions,
} from '../../src/speech/index.js'
import {
  Sessions,
  type SpeechServer,
  type SpeechServerOptions,
  startSpeechServer,
} from '../../src/speech-server/index.js'
import {projectFile} from '../support/project.js'
import {suiteFolder} from '../support/temporary.js'

export const hello = projectFile('examples/hello.wav')
export const helloText = 'hello and welcome to your own machine'

const sources = {flags: {}, env: {}}
const speech = resolveSettings(speechSettings, sources).values
const audio = resolveSettings(speechAudioSettings, sources).values
const refine = resolveSettings(speechRefineSettings, sources).values
const session = resolveSettings(speechSessionSettings, sources).values
const hub = resolveSettings(hubSettings, sources).values

/** The starter model on one thread, with the default settings. */
export const defaultSettings: SpeechCallSettings = {
  modelKey: 'starter',
  source: {
    locate: async () => ({name: 'starter', path: projectFile('examples/models/starter')}),
    engine: {threads: 1, device: 'cpu', precision: 'auto', backend: 'auto', derivedFolder: ''},
  },
  transcriber: {...transcriberOptions({speech, audio, refine}, {entries: []}, []), refine: true},
  session: {...session, captureTimeoutMs: 60_000},
  live: {streamPartialQuietMs: 350, streamMaxWaitMs: 2500, streamMaxBufferMs: 300_000},
  keepAliveMs: -1,
  partial: undefined,
  runtime: {},
}

/** The status with the starter model. */
export const defaultStatus = async () =>
  speechStatus(
    {...speech, ...refine, ...session, ...hub},
    {
      version: '0.0.0',
      cudaInstalled: false,
      cudaRequested: false,
      activeModel: {name: 'starter', dir: projectFile('examples/models/starter')},
    },
  )

/** A response of the server. */
export interface Answer {
  status: number
  headers: Headers
  text: string
  /** The body if it is JSON, otherwise empty. */
  json: Record<string, unknown>
}

export interface Part {
  /** Undefined leaves the name out. */
  name: string | undefined
  filename?: string
  content: string | Uint8Array
}

/** Speech recognition for all tests of a file, and a workspace with `hello.wav`. */
export function speechSuite() {
  const root = suiteFolder()
  const temporary = suiteFolder()
  const settings = {...defaultSettings}
  const service = new SpeechService({
    root,
    settings: async (choice) => {
      const chosen = transcriberOptions(chosenSettings({speech, audio, refine}, choice), {entries: []}, [])
      return {...settings, transcriber: {...settings.transcriber, ...chosen}}
    },
  })
  const servers: SpeechServer[] = []
  after(async () => {
    for (const server of servers) await server.close(0)
    await service.close()
  })
  return {
    root,
    service,
    /** Names of the recordings that the servers have received and not deleted. */
    async uploads(): Promise<string[]> {
      const folders = await readdir(temporary)
      return (await Promise.all(folders.map((name) => readdir(join(temporary, name))))).flat()
    },
    /** Starts a live session without a server, which adds its final results to a list. */
    async startSession(finals: SpeechFinalV1[]): Promise<LiveSession> {
      const model = new ModelHolder(defaultSettings.source)
      after(() => model.close())
      const session = await LiveSession.start({
        ...defaultSettings.live,
        transcriber: new Transcriber({...defaultSettings.transcriber, model}),
        limits: {maxDurationMs: 120_000},
        silenceMs: 400,
        heartbeatMs: 3000,
        signal: new AbortController().signal,
      })
      void (async () => {
        for await (const event of session) if (event.type === 'final') finals.push(event.event)
      })()
      return session
    },
    /** Replaces settings for the calls of one test. */
    async withSettings(changes: Partial<SpeechCallSettings>, work: () => Promise<void>): Promise<void> {
      Object.assign(settings, changes)
      try {
        await work()
      } finally {
        Object.assign(settings, defaultSettings)
      }
    },
    async start(options: Partial<SpeechServerOptions> = {}): Promise<Client> {
      await copyFile(hello, join(root, 'hello.wav'))
      // The folder for uploads is created in the one for temporary files, which the files of tests would share.
      const {TMPDIR, TEMP} = process.env
      Object.assign(process.env, {TMPDIR: temporary, TEMP: temporary})
      const starting = startSpeechServer(service, {
        address: {host: '127.0.0.1', port: 0},
        token: undefined,
        root,
        maxUploadBytes: 1 << 20,
        sessions: options.sessions ?? (await Sessions.start(service, undefined)),
        status: defaultStatus,
        ...options,
      })
      const server = await starting.finally(() => restore({TMPDIR, TEMP}))
      servers.push(server)
      return new Client(server)
    },
  }
}

function restore(variables: Record<string, string | undefined>): void {
  for (const [name, value] of Object.entries(variables))
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
}

/** Sends requests to a server and opens live connections. */
export class Client {
  readonly server: SpeechServer

  constructor(server: SpeechServer) {
    this.server = server
  }

  async send(path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await fetch(this.server.baseUrl + path, init)
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
    const json = isJson && text !== '' ? JSON.parse(text) : {}
    return {status: response.status, headers: response.headers, text, json}
  }

  post(body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('/api/audio/transcribe', {
      method: 'POST',
      headers: {'content-type': 'application/json', ...headers},
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  }

  upload(
    parts: readonly Part[],
    headers: Record<string, string> = {},
    path = '/api/audio/transcribe/upload',
  ): Promise<Answer> {
    return this.send(path, {
      method: 'POST',
      headers: {'content-type': `multipart/form-data; boundary=${boundary}`, ...headers},
      body: new Uint8Array(form(parts)),
    })
  }

  live(query = '', options: WebSocket.ClientOptions = {}, protocols: string[] = []): Live {
    const url = `${this.server.baseUrl.replace('http', 'ws')}/api/audio/transcribe/stream${query}`
    return new Live(new WebSocket(url, protocols, options))
  }
}

export const boundary = 'boundary-of-the-form'

/** The body of a form. */
export function form(parts: readonly Part[]): Buffer {
  const pieces = parts.flatMap(({name, filename, content}) => [
    `--${boundary}\r\ncontent-disposition: form-data${name === undefined ? '' : `; name="${name}"`}`,
    `${filename === undefined ? '' : `; filename="${filename}"`}\r\n\r\n`,
    content,
    '\r\n',
  ])
  return Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece)))
}

/** A live connection that records its events. */
export class Live {
  readonly socket: WebSocket
  readonly events: SpeechEventV1[] = []
  /** Resolves with the close code and reason. */
  readonly closed: Promise<{code: number; reason: string}>
  /** Resolves with the response to a refused upgrade. */
  readonly refusal: Promise<{status: number; connection: string | undefined; body: string}>
  pings = 0
  #waiting: {type: string; resolve: (event: SpeechEventV1) => void; reject: (error: Error) => void}[] = []

  constructor(socket: WebSocket) {
    this.socket = socket
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => {
        resolve({code, reason: reason.toString()})
        for (const {type, reject} of this.#waiting.splice(0))
          reject(new Error(`It was closed with ${code} before ${type}.`))
      })
    })
    this.refusal = new Promise((resolve, reject) => {
      socket.once('unexpected-response', (_request, response) => {
        const {statusCode: status = 0, headers} = response
        text(response).then((body) => resolve({status, connection: headers.connection, body}), reject)
      })
    })
    socket.on('error', () => undefined)
    socket.on('ping', () => this.pings++)
    socket.on('message', (data) => {
      const event = JSON.parse(String(data)) as SpeechEventV1
      this.events.push(event)
      this.#waiting = this.#waiting.filter((one) => {
        if (one.type === event.type) one.resolve(event)
        return one.type !== event.type
      })
    })
  }

  /** Resolves with the status of a refused upgrade. */
  get refused(): Promise<number> {
    return this.refusal.then(({status}) => status)
  }

  /** Resolves with the next event of a type. Fails if the connection is closed before. */
  next<T extends SpeechEventV1['type']>(type: T): Promise<Extract<SpeechEventV1, {type: T}>> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({type, resolve: resolve as (event: SpeechEventV1) => void, reject})
    })
  }

  op(message: object): void {
    this.socket.send(JSON.stringify(message))
  }

  ofType<T extends SpeechEventV1['type']>(type: T): Extract<SpeechEventV1, {type: T}>[] {
    return this.events.filter((event): event is Extract<SpeechEventV1, {type: T}> => event.type === type)
  }
}

/** A recording as 16-bit samples, mono at 16 kHz. */
export async function pcmOf(path: string): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const samples of await openAudio({path}, {sampleRate: 16_000})) {
    const piece = Buffer.alloc(2 * samples.length)
    for (const [i, sample] of samples.entries())
      piece.writeInt16LE(Math.max(-32_768, Math.min(32_767, Math.round(32_768 * sample))), 2 * i)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/** What final results say, and when. */
export const results = (finals: readonly SpeechFinalV1[]) =>
  finals.map(({start_ms, end_ms, text}) => ({start_ms, end_ms, text}))
