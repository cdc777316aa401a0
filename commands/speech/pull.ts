import {Args} from '@oclif/core'
import {SpeechCommand, settingFlags, withProgress} from '../../src/cli/index.js'
import {hubSettings, speechSettings} from '../../src/config/index.js'
import type {SpeechPullV1} from '../../src/contracts/index.js'

export default class SpeechPull extends SpeechCommand<typeof SpeechPull> {
  static override summary = 'Download a speech model.'
  static override description =
    `Takes what a speech model needs from the hub: configuration, tokenizer and safetensors, or else its ONNX files. Files
lie where other tools of Hugging Face look for them, under HF_HOME; what is there is not fetched again, a download that
was broken off goes on, and checksums are compared. A short name such as base.en stands for openai/whisper-base.en.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> openai/whisper-tiny.en',
    '<%= config.bin %> <%= command.id %> large-v3-turbo',
    'HF_TOKEN=… <%= config.bin %> <%= command.id %> acme/private-whisper --revision v2 --json | jq -r .folder',
  ]
  static override args = {
    id: Args.string({description: 'Model on the hub, owner/name, or the size of a Whisper.', required: true}),
  }
  static override flags = {
    ...settingFlags(speechSettings, 'revision'),
    ...settingFlags(hubSettings),
  }

  async run(): Promise<void> {
    const {pullModel, speechModelFiles} = await import('../../src/weights/index.js')
    const {speechModelId} = await import('../../src/speech/index.js')
    const {revision} = this.settings(speechSettings)
    const id = speechModelId(this.args.id)
    const result: SpeechPullV1 = await withProgress(`Downloading ${id}`, !this.flags.quiet, async (show) =>
      pullModel(id, revision, {...(await this.hubOptions(show)), select: speechModelFiles}),
    )
    await this.output.result(result, ({folder}) => folder)
  }
}
