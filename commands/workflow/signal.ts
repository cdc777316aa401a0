import {Args, Flags} from '@oclif/core'
import {OrchCommand} from '../../src/cli/index.js'
import {SvcError} from '../../src/errors/index.js'
import {parseExactJson} from '../../src/files/index.js'

export default class WorkflowSignal extends OrchCommand<typeof WorkflowSignal> {
  static override summary = 'Send a signal to a run, or decide on an approval.'
  static override description =
    `The key of an approval is the id of its step. A signal that arrives before the run waits for it is kept.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> wf-release-0b7c publish',
    '<%= config.bin %> <%= command.id %> wf-release-0b7c publish --reject "wrong version"',
    `<%= config.bin %> <%= command.id %> wf-import-91aa uploaded '{"files": 3}'`,
  ]
  static override args = {
    run: Args.string({description: 'Run id.', required: true}),
    key: Args.string({description: 'Key of the signal, or id of the approval.', required: true}),
    payload: Args.string({description: 'Payload as JSON, or - for standard input. (default: null)'}),
  }
  static override flags = {
    reject: Flags.string({description: 'Reject an approval, with the reason.', helpValue: 'REASON'}),
  }

  async run(): Promise<void> {
    const {modules, orchestrator} = await this.open()
    const {run, key, payload} = this.args
    const {reject} = this.flags
    const value =
      reject === undefined ? parsePayload(payload && (await this.textOf(payload))) : {approved: false, reason: reject}
    const sent = modules.workflows.sendSignal(orchestrator, {run, key, payload: value, isPerson: true})
    await this.output.result(sent, () => `Sent signal ${key} to ${run}.`)
  }
}

/** @throws flag_value */
function parsePayload(text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    return parseExactJson(text)
  } catch (error) {
    throw new SvcError('flag_value', {flag: 'PAYLOAD', value: text, expected: `JSON: ${(error as Error).message}`})
  }
}
