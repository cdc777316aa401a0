import {Args} from '@oclif/core'
import {HubCommand, settingFlags} from '../src/cli/index.js'
import {hubSettings} from '../src/config/index.js'
import type {PullV1} from '../src/contracts/index.js'

export default class Pull extends HubCommand<typeof Pull> {
  static override summary = 'Download a language or speech model.'
  static override description =
    `Downloads configuration, tokenizer, chat template, licence and safetensors weights, or the ONNX files of a speech model.
The configuration is read first: a model that svc cannot run is refused before anything is stored. With :FILE, only that file is
downloaded, such as a whisper.cpp model. A short name such as base.en means openai/whisper-base.en.

Files are stored in the Hugging Face cache (HF_HOME), which is shared with other tools. Existing files are not downloaded again,
interrupted downloads resume, and checksums are verified. The access token is read from HF_TOKEN, and HF_ENDPOINT selects a
mirror. Only svc run and a server with --manage-models also download language models.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> Qwen/Qwen2.5-0.5B-Instruct',
    '<%= config.bin %> <%= command.id %> tiny.en',
    '<%= config.bin %> <%= command.id %> acme/llama@v2 --json | jq -r .path',
    '<%= config.bin %> <%= command.id %> ggerganov/whisper.cpp:ggml-tiny.en.bin',
  ]
  static override args = {
    name: Args.string({description: 'Model owner/name[:FILE][@revision], or a Whisper size.', required: true}),
  }
  static override flags = settingFlags(hubSettings)

  async run(): Promise<void> {
    const {id, revision, commit, kind, path, files} = await this.pullNamed(this.args.name)
    const result: PullV1 = {id, revision, commit, kind, path, files}
    await this.output.result(result, () => path)
  }
}
