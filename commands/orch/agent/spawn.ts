import {Args, Flags} from '@oclif/core'
import {agentLine, OrchCommand} from '../../../src/cli/index.js'

export default class OrchAgentSpawn extends OrchCommand<typeof OrchAgentSpawn> {
  static override summary = 'Add an agent.'
  static override description =
    `It has the capabilities that the configuration gives to every agent, those of this machine, and the labels that are
given here. It stays until it is retired.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> builder --label pool=dev',
    '<%= config.bin %> <%= command.id %> reviewer --parent builder --model run-7',
  ]
  static override args = {name: Args.string({description: 'Its name, which no other agent has.', required: true})}
  static override flags = {
    label: Flags.string({
      description: 'A label that tasks can ask for; may be repeated.',
      multiple: true,
      multipleNonGreedy: true,
    }),
    parent: Flags.string({description: 'The agent that delegates to it: its name or its id.', helpValue: 'NAME'}),
    model: Flags.string({description: 'Name of the model that it asks.', helpValue: 'NAME'}),
    reason: Flags.string({description: 'Why it is there.', helpValue: 'TEXT'}),
  }

  async run(): Promise<void> {
    const {room, orchestrator} = await this.open()
    const {label: labels, parent, model, reason} = this.flags
    const row = room.spawnAgent(orchestrator, {
      name: this.args.name,
      ...(labels === undefined ? {} : {labels}),
      ...(parent === undefined ? {} : {parent}),
      ...(model === undefined ? {} : {model}),
      ...(reason === undefined ? {} : {reason}),
    })
    await this.output.result(room.toAgent(orchestrator, row), agentLine)
  }
}
