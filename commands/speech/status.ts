import {SpeechCommand} from '../../src/cli/index.js'

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
    const result = await this.speechStatus()
    await this.output.result(result, ({summary, ...details}) => `${summary}\n${JSON.stringify(details, null, 2)}\n`)
  }
}
