import {formatTable, SpeechCommand, type TableView, wrapped} from '../../src/cli/index.js'
import type {SpeechStatusV1} from '../../src/contracts/index.js'

export default class SpeechStatus extends SpeechCommand<typeof SpeechStatus> {
  static override summary = 'Show the speech model, device and settings.'
  static override description =
    `Does not load the model. Settings come from the environment, the file named by SVC_SPEECH_CONFIG, [speech] in Svc.toml, or
the defaults, in this order; svc config show prints the source of each value. --json includes all settings of recognition,
text refinement and routing.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --json | jq -r .active_model.dir',
  ]

  async run(): Promise<void> {
    await this.output.result(await this.speechStatus(), (status) => asText(status, this.view))
  }
}

function asText(status: SpeechStatusV1, view: TableView): string {
  const {summary, active_model: active, model, engine, device, precision, inference_note: note} = status
  const name = model ?? engine.default_model
  const rows = [
    ['model', active === null ? `${name} (not on this machine)` : `${active.name} in ${active.dir}`],
    ['device', note === null ? device : `${device}; ${note}`],
    ['precision', precision],
    ['CUDA files', status.cuda_feature_enabled ? 'installed' : 'not installed'],
  ]
  return `${summary}\n\n${formatTable(['WHAT', wrapped('IS')], rows, view)}`
}
