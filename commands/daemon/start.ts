import {join} from 'node:path'
import {Flags} from '@oclif/core'
import {SvcCommand, settingFlags} from '../../src/cli/index.js'
import {daemonSettings, meshSettings} from '../../src/config/index.js'
import type {DaemonStartV1} from '../../src/contracts/index.js'
import type {StartedDaemon} from '../../src/daemon/index.js'
import {SvcError} from '../../src/errors/index.js'

const meshVariable = 'SVC_ORCHESTRATOR_MESH_INFERENCE_BASE_URL'
const inferenceVariable = 'SVC_INFERENCE_URL'

export default class DaemonStart extends SvcCommand<typeof DaemonStart> {
  static override summary = 'Start the daemon in the background.'
  static override description =
    `Runs svc daemon run in the workspace directory with the current environment, writes its log to .svc/daemon.log, and
waits until the daemon responds. By default, the daemon listens on a free port of the loopback interface. --listen stdio
is not supported. Without SVC_INFERENCE_URL, the daemon uses the inference server in the [mesh] settings, if one is set.
Exits with status 4 if a daemon is already running.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --listen 127.0.0.1:9745 --json',
  ]
  static override flags = {
    ...settingFlags(daemonSettings, 'socket'),
    'allow-remote': Flags.boolean({
      description:
        'Accept connections from other machines; requires a token of at least 16 characters in SVC_DAEMON_TOKEN.',
    }),
    drain: Flags.integer({
      description: 'Grace period for running tasks on shutdown. (default: 10)',
      min: 0,
      max: 86_400,
      helpValue: 'SECONDS',
    }),
    timeout: Flags.integer({
      description: 'Time to wait for the first response; exits with status 5 on timeout.',
      default: 30,
      min: 1,
      max: 86_400,
      helpValue: 'SECONDS',
    }),
  }

  async run(): Promise<void> {
    const {startDaemon} = await import('../../src/daemon/index.js')
    const {drain, timeout, 'allow-remote': allowRemote} = this.flags
    const {token} = this.settings(daemonSettings)
    const started = await startDaemon({
      root: this.workspace.root,
      binary: join(this.config.root, 'bin', 'svc.js'),
      args: [
        '--listen',
        await this.#listen(),
        ...(allowRemote ? ['--allow-remote'] : []),
        ...(drain === undefined ? [] : ['--drain', String(drain)]),
      ],
      env: this.#environment(),
      token,
      timeoutMs: timeout * 1000,
      signal: this.signal,
    })
    await this.warnWithoutTls(started.addr.replace(/:\d+$/, ''))
    await this.output.result(toResult(started), ({pid, addr}) => `The daemon (pid ${pid}) is listening on ${addr}.`)
  }

  /** @throws usage, daemon_address_invalid */
  async #listen(): Promise<string> {
    const {listen: flag} = this.flags as {listen?: string}
    const {anyFreePort, formatAddress, parseListen, parsePeer} = await import('../../src/daemon/index.js')
    if (flag !== undefined && parseListen(flag)?.kind !== 'tcp')
      throw new SvcError('usage', {reason: '--listen must be HOST:PORT for a daemon in the background.'})
    return formatAddress(parsePeer(this.settings(daemonSettings).socket) ?? anyFreePort)
  }

  /** Passes the inference server of the mesh on, so that the commands of tasks use it too. */
  #environment(): NodeJS.ProcessEnv {
    const {inferenceBaseUrl: url} = this.settings(meshSettings)
    if (url === undefined) return process.env
    const own = process.env[inferenceVariable]?.trim() ? {} : {[inferenceVariable]: url}
    return {...process.env, [meshVariable]: url, ...own}
  }
}

const toResult = ({pid, addr, log}: StartedDaemon): DaemonStartV1 => ({pid, addr, log})
