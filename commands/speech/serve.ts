import {Flags} from '@oclif/core'
import {inGroup, SpeechCommand, settingFlags, speechFlags, withProgress} from '../../src/cli/index.js'
import {speechServerSettings} from '../../src/config/index.js'
import {SvcError} from '../../src/errors/index.js'

/** Time that running requests have to finish after the server was asked to stop, ms. */
const drainMs = 5000

export default class SpeechServe extends SpeechCommand<typeof SpeechServe> {
  static override summary = 'Serve speech recognition over HTTP and WebSocket.'
  static override description =
    `The page at / transcribes files and the microphone in a browser. Routes: POST /api/audio/transcribe for recordings in the
workspace, POST /api/audio/transcribe/upload for uploads, GET /api/audio/transcribe/stream for live audio over WebSocket,
GET /api/audio/status, /health and /metrics. For OpenAI clients: POST /v1/audio/transcriptions, POST /v1/audio/translations
and GET /v1/models. Paths outside the workspace, or outside SVC_SPEECH_WORKSPACE if that is set, are refused.

Listens on the loopback interface by default. On another address, clients must send a token, and browsers allow the page to
use the microphone only with --tls-cert and --tls-key. Recordings are transcribed one at a time, concurrently with live
audio; up to 16 requests are queued. Changes to the configuration files apply to the next request. On SIGTERM, in-flight
requests have five seconds to finish; then the server exits with status 0.

If SVC_SPEECH_CANARY_KPI names a file of svc speech eval --write-kpi, the server starts only if its values are within the
limits.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --model openai/whisper-base',
    'curl -s http://127.0.0.1:3847/api/audio/transcribe/upload -F file=@meeting.wav | jq -r .text',
    'SVC_SPEECH_TOKEN=$(openssl rand -hex 16) <%= config.bin %> <%= command.id %> --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem',
  ]
  static override flags = {
    'no-resume': Flags.boolean({description: 'Keep nothing of live sessions: they end with their connection.'}),
    ...settingFlags(speechServerSettings, 'dashHost', 'dashPort', 'tlsCertPath', 'tlsKeyPath'),
    ...inGroup('network', {
      'token-env': Flags.string({
        description: 'Environment variable that contains the token clients must send.',
        default: 'SVC_SPEECH_TOKEN',
        helpValue: 'NAME',
      }),
    }),
    ...speechFlags,
  }

  async run(): Promise<void> {
    const {
      dashHost: host,
      dashPort: port,
      maxUploadBytes,
      workspace,
      token: configured,
      tlsCertPath: cert,
      tlsKeyPath: key,
      canaryKpi,
    } = this.settings(speechServerSettings)
    const variable = this.flags['token-env']
    const token = process.env[variable]?.trim() || (variable === 'SVC_SPEECH_TOKEN' ? configured : undefined)
    const {isExposed, readTlsFiles} = await import('../../src/net/index.js')
    if (isExposed(host, token !== undefined)) throw new SvcError('app_unprotected', {host, variable})
    const {configureLog} = await import('../../src/log/index.js')
    const log = this.logOptions()
    configureLog({...log, secrets: [...log.secrets, ...(token === undefined ? [] : [token])]})
    const tls = await readTlsFiles({cert, key, minVersion: '1.3'})
    if (canaryKpi !== undefined) await (await import('../../src/speech/index.js')).requireKpis(canaryKpi)
    const service = await this.openSpeechService()
    try {
      await withProgress('Loading the speech model', !this.flags.quiet, () => service.load(this.signal))
      const {startSpeechServer} = await import('../../src/speech-server/index.js')
      const sessions = await this.openSessions(service, !this.flags['no-resume'])
      const server = await startSpeechServer(service, {
        address: {host, port},
        token,
        tls,
        root: workspace ?? this.workspace.root,
        maxUploadBytes,
        status: () => this.speechStatus(),
        sessions,
      })
      if (tls === undefined) await this.warnWithoutTls(host)
      await this.output.event({event: 'ready', base_url: server.baseUrl, pid: process.pid})
      this.output.notice(`Listening on ${server.baseUrl}.`)
      if (process.stderr.isTTY && !this.output.json) this.output.notice(`Page: ${pageUrl(server, token)}`)
      await this.untilStopped()
      await server.close(drainMs)
    } finally {
      await service.close()
    }
  }
}

/** Address of the page for this machine, with the token in the fragment, which browsers do not send. */
function pageUrl({baseUrl}: {baseUrl: string}, token: string | undefined): string {
  const url = baseUrl.replace(/\/\/(0\.0\.0\.0|\[::\])/, '//localhost')
  return token === undefined ? `${url}/` : `${url}/#token=${encodeURIComponent(token)}`
}
