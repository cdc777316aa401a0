import {existsSync} from 'node:fs'
import {createRequire} from 'node:module'
import {dirname, join} from 'node:path'
import {SpeechCommand} from '../../src/cli/index.js'
import {
  hubSettings,
  speechRefineSettings,
  speechServerSettings,
  speechSessionSettings,
  speechSettings,
  speechStatus,
} from '../../src/config/index.js'
import type {SpeechStatusV1} from '../../src/contracts/index.js'

export default class SpeechStatus extends SpeechCommand<typeof SpeechStatus> {
  static override summary = 'Show what recognises speech, and the settings it runs with.'
  static override description =
    `Loads no model and no runtime. A value comes from the environment, else from the file that SVC_SPEECH_CONFIG names,
else from [speech] of Svc.toml, else from its default; svc config show says from where.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --json | jq -r .streaming.stream_ws_url',
  ]

  async run(): Promise<void> {
    const values = {
      ...this.settings(speechSettings),
      ...this.settings(speechRefineSettings),
      ...this.settings(speechSessionSettings),
      ...this.settings(speechServerSettings),
      ...this.settings(hubSettings),
    }
    const result: SpeechStatusV1 = speechStatus(values, {
      version: this.config.version,
      cudaInstalled: cudaInstalled(),
      cudaRequested: cudaRequested(process.env.SVC_SPEECH_CUDA),
      modelDirectory: values.model === undefined ? null : ((await this.findModel())?.path ?? null),
    })
    await this.output.result(result, ({summary, ...details}) => `${summary}\n${JSON.stringify(details, null, 2)}\n`)
  }
}

const cudaRequested = (value = '') => speechSettings.rows.device.type.parse(value.trim()) === 'cuda'

/** Whether the CUDA provider lies beside the runtime: its package brings the CPU alone. Loads nothing. */
function cudaInstalled(): boolean {
  const {resolve} = createRequire(import.meta.url)
  const name = process.platform === 'win32' ? 'onnxruntime_providers_cuda.dll' : 'libonnxruntime_providers_cuda.so'
  const root = dirname(resolve('onnxruntime-node/package.json'))
  return existsSync(join(root, 'bin', 'napi-v6', process.platform, process.arch, name))
}
