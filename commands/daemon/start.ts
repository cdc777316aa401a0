import {join} from 'node:path'
import {Flags} from '@oclif/core'
import {SvcCommand, settingFlags} from '../../src/cli/index.js'
import {daemonSettings, meshSettings} from '../../src/config/index.js'
import type {DaemonStartV1} from '../../src/contracts/index.js'
import type {StartedDaemon} from '../../src/daemon/index.js'
import {SvcError} from '../../src/errors/index.js'

const meshVariable = 'SVC_ORCHESTRATOR_MESH_INFERENCE_BASE_URL'
const inferenceVariable = 'SVC_INFERENCE_URL'
const anyFreePort = '127.0.0.1:0'

export default class DaemonStart extends SvcCommand<typeof DaemonStart> {
  static override summary = 'Start a daemon in the background, and wait until it answers.'
  static override description =
    `It is svc daemon run, in the folder of the workspace and with the environment of this command; what it has to say goes to
.svc/daemon.log. It listens on a free port of this machine unless told otherwise. Where an inference server is configured
for the mesh, the daemon finds it in SVC_INFERENCE_URL, unless that is set already. Ends with 4 where a daemon runs.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --listen 127.0.0.1:9745 --json',
  ]
  static override flags = {
    ...settingFlags(daemonSettings, 'socket'),
    'allow-remote': Flags.boolean({
      description:
        'Listen where other machines can connect; takes a token of 16 characters or more in SVC_DAEMON_TOKEN.',
    }),
    drain: Flags.integer({
      description: 'How long running tasks may go on once it is asked to stop; 10 when left out.',
      min: 0,
      max: 86_400,
      helpValue: 'SECONDS',
    }),
    timeout: Flags.integer({
      description: 'How long it may take until it answers; fails with 5.',
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
    await this.output.result(toResult(started), ({pid, addr}) => `Process ${pid} runs, and answers at ${addr}.`)
  }

  /** @throws usage, daemon_address_invalid */
  async #listen(): Promise<string> {
    const {listen: flag} = this.flags as {listen?: string}
    const {formatAddress, parseListen, parsePeer} = await import('../../src/daemon/index.js')
    if (flag !== undefined && parseListen(flag)?.kind !== 'tcp')
      throw new SvcError('usage', {reason: 'A daemon in the background listens on HOST:PORT.'})
    const address = parsePeer(this.settings(daemonSettings).socket)
    return address === undefined ? anyFreePort : formatAddress(address)
  }

  /** Processes of this machine find the inference server of the mesh where they look for any. */
  #environment(): NodeJS.ProcessEnv {
    const {inferenceBaseUrl: url} = this.settings(meshSettings)
    if (url === undefined) return process.env
    const own = process.env[inferenceVariable]?.trim() ? {} : {[inferenceVariable]: url}
    return {...process.env, [meshVariable]: url, ...own}
  }
}

const toResult = ({pid, addr, log}: StartedDaemon): DaemonStartV1 => ({pid, addr, log})
