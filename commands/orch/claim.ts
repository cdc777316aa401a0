import {hostname, userInfo} from 'node:os'
import {Flags} from '@oclif/core'
import {OrchCommand, readings} from '../../src/cli/index.js'
import {isErrorOf} from '../../src/errors/index.js'

export default class OrchClaim extends OrchCommand<typeof OrchClaim> {
  static override summary = 'Claim the next task for an external worker.'
  static override description =
    `Prints the task id and the generation of the claim. The worker extends the claim with svc orch heartbeat, and passes the
generation to svc orch complete or svc orch fail. If the claim expires, the task is requeued.`
  static override examples = [
    'read id claim < <(<%= config.bin %> <%= command.id %> --wait)',
    '<%= config.bin %> <%= command.id %> --as worker-1 --ttl 300 --json | jq -r .task.description',
  ]
  static override flags = {
    agent: Flags.string({char: 'a', description: 'Claim only tasks of this agent (name or id).', helpValue: 'NAME'}),
    as: Flags.string({description: 'Name of the worker. (default: USER@HOST)', helpValue: 'OWNER'}),
    ttl: Flags.integer({
      description: 'Time after which a claim without a heartbeat expires. (default: four heartbeat intervals)',
      min: 1,
      max: 3600,
      helpValue: 'SECONDS',
    }),
    wait: Flags.boolean({description: 'Wait until a task is available.'}),
  }

  async run(): Promise<void> {
    const {modules, orchestrator} = await this.open()
    const {agent, as: owner = defaultOwner(), ttl, wait} = this.flags
    const request = {
      owner,
      ...(agent === undefined ? {} : {agent}),
      ...(ttl === undefined ? {} : {ttlMs: ttl * 1000}),
    }
    const claim = () => {
      try {
        return modules.tasks.takeClaim(orchestrator, request)
      } catch (error) {
        if (wait && isErrorOf(error, 'no_task_to_claim')) return undefined
        throw error
      }
    }
    for await (const started of readings(orchestrator, claim, this.signal))
      if (started !== undefined) {
        await new modules.tasks.TaskRun(orchestrator, started).baseline()
        return this.output.result(started, ({task, generation}) => `${task.display_id} ${generation}`)
      }
    this.signal.throwIfAborted()
  }
}

function defaultOwner(): string {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    // In a container, the user may have no name.
    return `${process.env.USER ?? 'svc'}@${hostname()}`
  }
}
