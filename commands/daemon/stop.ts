import {Flags} from '@oclif/core'
import {SvcCommand} from '../../src/cli/index.js'
import {daemonSettings} from '../../src/config/index.js'
import type {DaemonStopV1} from '../../src/contracts/index.js'

export default class DaemonStop extends SvcCommand<typeof DaemonStop> {
  static override summary = 'Stop the daemon and wait until it has exited.'
  static override description =
    `The daemon completes pending requests and gives running tasks the grace period that --drain set when it was started.
Exits with status 3 if no daemon is running.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --timeout 120',
  ]
  static override flags = {
    timeout: Flags.integer({
      description: 'Time to wait until the daemon exits; exits with status 5 on timeout.',
      default: 30,
      min: 0,
      max: 86_400,
      helpValue: 'SECONDS',
    }),
  }

  async run(): Promise<void> {
    const {stopDaemon} = await import('../../src/daemon/index.js')
    const {token} = this.settings(daemonSettings)
    const {pid} = await stopDaemon(this.workspace.root, {
      token,
      timeoutMs: this.flags.timeout * 1000,
      signal: this.signal,
    })
    const result: DaemonStopV1 = {pid, stopped: true}
    await this.output.result(result, () => `The daemon (pid ${pid}) has stopped.`)
  }
}
