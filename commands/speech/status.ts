import {formatTable, SpeechCommand} from '../../src/cli/index.js'
import type {SpeechStatusV1} from '../../src/contracts/index.js'

export default class SpeechStatus extends SpeechCommand<typeof SpeechStatus> {
  static override summary = 'Show what recognises speech, and the settings it runs with.'
  static override description =
    `Loads no model and no runtime. A value comes from the environment, else from the file that SVC_SPEECH_CONFIG names,
else from [speech] of Svc.toml, else from its default; svc config show says from where. --json has all settings of
recognition, refinement and routing.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --json | jq -r .active_model.dir',
  ]

  async run(): Promise<void> {
    await this.output.result(await this.speechStatus(), (status) => asText(status, process.stdout.columns))
  }
}

function asText(status: SpeechStatusV1, width: number | undefined): string {
  const {summary, active_model: active, model, engine, device, precision, inference_note: note} = status
  const name = model ?? engine.default_model
  const rows = [
    ['model', active === null ? `${name}, which is not on this machine` : `${active.name} in ${active.dir}`],
    ['device', note === null ? device : `${device}; ${note}`],
    ['precision', precision],
    ['CUDA files', status.cuda_feature_enabled ? 'installed' : 'not installed'],
  ]
  return `${summary}\n\n${formatTable(['WHAT', 'IS'], rows, width)}`
}
