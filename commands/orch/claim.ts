import {hostname, userInfo} from 'node:os'
import {Flags} from '@oclif/core'
import {OrchCommand, readings} from '../../src/cli/index.js'
import {isErrorOf} from '../../src/errors/index.js'

export default class OrchClaim extends OrchCommand<typeof OrchClaim> {
  static override summary = 'Take the next task that waits for a client.'
  static override description =
    `Prints the id of the task and the generation of the claim. Whoever has a claim tells with svc orch heartbeat that it is
alive, and completes or fails the task under that generation. A claim that is not renewed in time ends, and the task is
queued again.`
  static override examples = [
    'read id claim < <(<%= config.bin %> <%= command.id %> --wait)',
    '<%= config.bin %> <%= command.id %> --as worker-1 --ttl 300 --json | jq -r .task.description',
  ]
  static override flags = {
    agent: Flags.string({char: 'a', description: 'Only tasks of this agent: its name or its id.', helpValue: 'NAME'}),
    as: Flags.string({description: 'Who claims; user and machine when left out.', helpValue: 'OWNER'}),
    ttl: Flags.integer({
      description: 'Seconds without a heartbeat after which the claim ends.',
      min: 1,
      max: 3600,
      helpValue: 'SECONDS',
    }),
    wait: Flags.boolean({description: 'Wait until there is a task.'}),
  }

  async run(): Promise<void> {
    const {modules, orchestrator} = await this.open()
    const {agent, as: owner = somebody(), ttl, wait} = this.flags
    const request = {
      owner,
      ...(agent === undefined ? {} : {agent}),
      ...(ttl === undefined ? {} : {ttlMs: ttl * 1000}),
    }
    const take = () => {
      try {
        return modules.tasks.claimTask(orchestrator, request)
      } catch (error) {
        if (wait && isErrorOf(error, 'no_task_to_claim')) return undefined
        throw error
      }
    }
    for await (const started of readings(orchestrator, take, this.signal))
      if (started !== undefined)
        return this.output.result(started, ({task, generation}) => `${task.display_id} ${generation}`)
    this.signal.throwIfAborted()
  }
}

function somebody(): string {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    // A container may have no name for its user.
    return `${process.env.USER ?? 'svc'}@${hostname()}`
  }
}
