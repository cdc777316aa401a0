import {Args} from '@oclif/core'
import {SpeechCommand, settingFlags} from '../../src/cli/index.js'
import {hubSettings, speechSettings} from '../../src/config/index.js'
import type {SpeechPullV1} from '../../src/contracts/index.js'

export default class SpeechPull extends SpeechCommand<typeof SpeechPull> {
  static override summary = 'Download a speech model.'
  static override description =
    `Downloads the configuration, the tokenizer and the safetensors weights, or the ONNX files if there are no safetensors.
Files are stored in the Hugging Face cache (HF_HOME), which is shared with other tools. Existing files are not
downloaded again, interrupted downloads resume, and checksums are verified. A short name such as base.en means
openai/whisper-base.en.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> openai/whisper-tiny.en',
    '<%= config.bin %> <%= command.id %> large-v3-turbo',
    'HF_TOKEN=… <%= config.bin %> <%= command.id %> acme/private-whisper --revision v2 --json | jq -r .folder',
  ]
  static override args = {
    id: Args.string({description: 'Model id (owner/name), or a Whisper size such as base.en.', required: true}),
  }
  static override flags = {
    ...settingFlags(speechSettings, 'revision'),
    ...settingFlags(hubSettings),
  }

  async run(): Promise<void> {
    const result: SpeechPullV1 = await this.pullSpeechModel(this.args.id)
    await this.output.result(result, ({folder}) => folder)
  }
}
