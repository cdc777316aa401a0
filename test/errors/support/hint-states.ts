import assert from 'node:assert/strict'
import {execFile} from 'node:child_process'
import {once} from 'node:events'
import {chmod, mkdir, readdir, readFile, rm, symlink, writeFile} from 'node:fs/promises'
import {createServer} from 'node:net'
import {join} from 'node:path'
import {promisify} from 'node:util'
import {execa} from 'execa'
import {prompts, writePrompt} from '../../../src/mcp/prompts.js'
import {freePort} from '../../../src/net/index.js'
import {type OrchWorkspace, until} from '../../support/orch-workspace.js'
import {projectFile} from '../../support/project.js'
import {answerLines, scriptedChat, scriptedInference} from '../../support/scripted-inference.js'
import {Driver} from '../../support/sqlite.js'
import type {SvcOptions, SvcResult} from '../../support/svc.js'
import {writeFiles} from '../../support/temporary.js'
import {writeTinyModel} from '../../support/tiny-model.js'
import {wordsOf} from './commands.js'

/** Where a hint is brought about. */
export interface World {
  readonly cwd: string
  /** Variables of all commands from now on. */
  readonly env: Record<string, string>
  /** Texts of earlier steps, which command lines contain as `{NAME}`. */
  readonly found: Record<string, string>
  /** Options of a command in the folder of another machine. */
  at(folder: string): SvcOptions
  svc(line: string, options?: SvcOptions): Promise<SvcResult>
  /** The same for a command that must succeed. */
  text(line: string, options?: SvcOptions): Promise<string>
  /** Starts a command, which ends with the test at the latest. */
  start(line: string, options?: SvcOptions): ReturnType<OrchWorkspace['startInTurn']>
  /** The same in a process of its own. */
  alone(line: string, options?: SvcOptions): ReturnType<OrchWorkspace['start']>
  after(end: () => unknown): void
}

/** A step that one command line cannot do. The last one returns the output with the message. */
export type Act = (world: World) => Promise<unknown>

/** Keeps the first group of a pattern in the output of a command. */
export const keeping =
  (name: string, line: string, pattern: RegExp): Act =>
  async ({text, found}) => {
    const output = await text(line)
    const [, value = ''] = pattern.exec(output) ?? []
    assert.notEqual(value, '', output)
    found[name] = value
  }

/** Runs a command until it prints a pattern to standard error, then other commands; sends it a signal, if any. */
export const during =
  (line: string, shown: RegExp, rest: {lines?: readonly string[]; signal?: 'SIGINT' | 'SIGTERM'} = {}): Act =>
  async (world) => {
    const going = world.start(line)
    await going.says(shown)
    for (const each of rest.lines ?? []) await world.text(each)
    if (rest.signal !== undefined) going.signal(rest.signal)
    return going.ended
  }

/** Starts a command that runs on, and waits for its first line. @param variable is set to the first group of a pattern */
export const running =
  (line: string, variable?: string, pattern = /(http:\S+)/): Act =>
  async ({start, env}) => {
    const first = await start(line).line(1)
    const [, value = ''] = pattern.exec(first) ?? []
    if (variable !== undefined) env[variable] = value
  }

/** A daemon in a process of its own, which ends with it. */
export const daemon =
  (line = 'daemon run --json'): Act =>
  async ({alone}) =>
    void (await alone(line).line(1))

/** Changes the store, as an earlier version or another machine would have done. */
export const withStore =
  (sql: string): Act =>
  async ({cwd}) => {
    const database = new Driver(join(cwd, '.svc', 'store.db'))
    try {
      database.exec(sql)
    } finally {
      database.close()
    }
  }

export const withFiles =
  (files: Readonly<Record<string, string | Uint8Array>>): Act =>
  ({cwd}) =>
    writeFiles(cwd, files)

/** A recorder that lists a microphone, but cannot record. */
export const brokenRecorder: Act = async ({cwd, env}) => {
  await writeFiles(cwd, {'bin/arecord': '#!/bin/sh\n[ "$1" = -L ] && echo hw:0 && exit\necho busy >&2\nexit 1\n'})
  await chmod(join(cwd, 'bin/arecord'), 0o755)
  env.PATH = join(cwd, 'bin')
}

/** A model of random weights in the folder `tiny`. */
export const tinyModel: Act = ({cwd}) => writeTinyModel(join(cwd, 'tiny'))

/** A server that is not a model server. */
export const otherServer: Act = async (world) => {
  world.env.SVC_INFERENCE_URL = (await scriptedChat(world, (response) => response.end('<html>\n'))).baseUrl
}

type Going = ReturnType<World['start']>

const controlPlanes = new WeakMap<World, Going>()

/** Sets the address of a control plane that can be started here. */
export const freeMeshPort: Act = async ({env}) => {
  env.SVC_MESH_CONTROL_ADDR = `http://localhost:${await freePort()}`
}

/** A control plane of this folder, with the secrets of `svc mesh init`. */
export const ownMesh: Act = async (world) => {
  await freeMeshPort(world)
  await world.text('mesh init')
  const going = world.start('mesh serve --json')
  await going.line(1)
  controlPlanes.set(world, going)
}

/** Lets the control plane read its secrets again. */
export const hangUp: Act = async (world) => {
  const going = controlPlanes.get(world)
  const before = going?.stderr() ?? ''
  going?.signal('SIGHUP')
  while (going?.stderr() === before) await going.told()
}

const secretsFile = '.svc/mesh/mesh.env'

const readSecrets = ({cwd}: World) => readFile(join(cwd, secretsFile), 'utf8')

/** Changes the secrets of the control plane. */
export const changedSecrets =
  (change: (text: string) => string): Act =>
  async (world) => {
    await writeFile(join(world.cwd, secretsFile), change(await readSecrets(world)))
    await hangUp(world)
  }

export const bootstrapToken = async (world: World): Promise<string> =>
  /^SVC_MESH_BOOTSTRAP_TOKEN=(.*)$/m.exec(await readSecrets(world))?.[1] ?? ''

/** Lets another machine join. @param token made from that of the control plane */
export const joinWith =
  (token: (kept: string) => string, folder = 'elsewhere'): Act =>
  async (world) => {
    const {env, ...at} = world.at(folder)
    return world.svc('mesh join --bootstrap --once', {
      ...at,
      env: {...env, SVC_MESH_BOOTSTRAP_TOKEN: token(await bootstrapToken(world))},
    })
  }

/** Time for the control plane to read a bootstrap token before it expires, ms. */
const expiryMs = 2000

/** Waits until the bootstrap token has expired. */
export const expiredToken: Act = async (world) => {
  const end = Date.now() + expiryMs
  await changedSecrets((text) => text.replace(/(EXPIRES_UNIX_MS=).*/, `$1${end}`))(world)
  await until(() => Date.now() > end, 'the expiry')
}

/** Drops a dead message that does not exist, on the dashboard. */
export const dropUnknown: Act = async ({start}) => {
  const url = new URL(await start('mesh dashboard --port 0').line(1))
  const response = await fetch(`${url.origin}/api/drop-dead`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      origin: url.origin,
      authorization: `Bearer ${url.hash.slice('#token='.length)}`,
    },
    body: JSON.stringify({message_id: 999_999}),
  })
  const stdout = await response.text()
  return {stdout, stderr: '', exitCode: response.status}
}

/** A daemon that listens on nothing, whose start time the system does not report. */
export const unverifiable: Act = async ({alone, cwd}) => {
  await alone('daemon run --listen off --json').line(1)
  const path = join(cwd, '.svc/daemon.json')
  await writeFiles(cwd, {
    '.svc/daemon.json': JSON.stringify({...JSON.parse(await readFile(path, 'utf8')), process_start: ''}),
  })
}

/** A daemon whose lease another one takes over, as it may if its machine sleeps. */
export const replacedDaemon: Act = async (world) => {
  const first = world.alone('daemon run')
  await first.says(/Listening on/)
  await rm(join(world.cwd, '.svc/daemon.json'))
  await withStore("UPDATE orch_leases SET expires_at_ms = 0, pid = 0, process_start = ''")(world)
  await world.text('daemon start')
  return first.ended
}

/** Calls a daemon of another version, which answers with an error that this one does not know. */
export const strangerAnswers =
  (code: number): Act =>
  async ({svc, after}) => {
    const error = {code, message: 'It is not like that here.'}
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.on('data', (data) => {
        for (const line of String(data).trim().split('\n'))
          socket.write(`${JSON.stringify({jsonrpc: '2.0', id: JSON.parse(line).id, error})}\n`)
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    after(() => server.close())
    const {port} = server.address() as {port: number}
    return svc('daemon call orch.ping', {env: {SVC_ORCHESTRATOR_DAEMON_SOCKET: `127.0.0.1:${port}`}})
  }

/** Waits until no daemon runs. */
export const noDaemon: Act = async ({svc}) => {
  await until(async () => (await svc('daemon status')).exitCode === 3, 'the end of the daemon')
}

/** Waits until the daemon has received a request to end: two signals before that may be delivered as one. */
export const endingDaemon: Act = async ({svc}) => {
  await until(async () => /is shutting down/.test((await svc('daemon status')).stdout), 'the request to end')
}

/** A daemon with a task that does not end, and if `isEnding`, with a request to end. */
export const busyDaemon =
  ({isEnding}: {isEnding: boolean}): Act =>
  async (world) => {
    const {alone, text} = world
    await text('orch submit work --exec wait')
    const daemon = alone('daemon run --drain 600 --json')
    await daemon.line(1)
    await until(async () => /InProgress/.test(await text('orch task 1')), 'the start of the task')
    if (!isEnding) return
    daemon.signal('SIGTERM')
    await endingDaemon(world)
  }

/** A client whose daemon stops. */
export const lostConnection: Act = async ({start, text}) => {
  const following = start('daemon call orch.events.subscribe {}')
  await following.line(1)
  await text('daemon stop')
  return following.ended
}

/** Replans while another replan waits for its model. */
export const replanWhilePlanning: Act = async (world) => {
  const steps = JSON.stringify([{description: 'Add the lexer', depends_on: []}])
  const {baseUrl} = await scriptedInference(world, async (response, _call, count) => {
    if (count === 1) await world.text('orch plan replan {PLAN} first')
    response.end(answerLines(steps))
  })
  return world.start('orch plan replan {PLAN} second', {env: {...world.env, SVC_INFERENCE_URL: baseUrl}}).ended
}

/** A run whose process is suspended until another one has taken it over. */
export const lostLease: Act = async (world) => {
  const first = world.alone('workflow run f.yaml --run-id r')
  await first.says(/workflow signal r go/)
  first.signal('SIGSTOP')
  await withStore("UPDATE workflow_run_log SET lease_until_ms = 0 WHERE run_id = 'r'")(world)
  const second = world.start('workflow resume r')
  await second.says(/workflow signal r go/)
  first.signal('SIGCONT')
  return first.ended
}

/** Links the entries of a folder except some, which are paths below it. */
async function linkWithout(source: string, target: string, without: readonly string[]): Promise<void> {
  await mkdir(target, {recursive: true})
  for (const name of await readdir(source)) {
    const inside = without.flatMap((path) => (path.startsWith(`${name}/`) ? [path.slice(name.length + 1)] : []))
    if (inside.length > 0) await linkWithout(join(source, name), join(target, name), inside)
    else if (!without.includes(name)) await symlink(join(source, name), join(target, name))
  }
}

/** From now on, the settings of the user, which are not in the workspace, have a hidden check. */
export const withHiddenCheck: Act = async ({cwd, env, after}) => {
  const home = `${cwd}-home`
  after(() => rm(home, {recursive: true, force: true}))
  await writeFiles(home, {'.svc/config.toml': '[[orchestrator.harness.hidden_checks]]\ncommand = ["true"]\n'})
  env.HOME = home
}

/** Runs a command of an installation that lacks some of its files. */
export const withoutFiles =
  (line: string, ...without: readonly string[]): Act =>
  async ({cwd, env}) => {
    await linkWithout(projectFile('.'), join(cwd, 'installation'), without)
    const options = ['--preserve-symlinks', '--preserve-symlinks-main', join(cwd, 'installation/bin/svc.js')]
    return execa(process.execPath, [...options, ...wordsOf(line)], {
      ...{cwd, env, extendEnv: false, reject: false, stripFinalNewline: false},
    })
  }

/** What a model is asked for when it writes a program. */
export const programPrompt: Act = async () => {
  const {content} = await writePrompt(
    prompts,
    'write_program',
    {purpose: 'to-do lists'},
    {open: () => Promise.reject(new Error())},
  )
  return {stdout: JSON.stringify(content), stderr: '', exitCode: 0}
}

/** Runs another program, as hints ask for, with its standard input. @returns its output */
export async function runProgram(
  [program = '', ...args]: readonly string[],
  input: string | Uint8Array,
): Promise<Buffer> {
  const running = promisify(execFile)(program, args, {encoding: 'buffer'})
  running.child.stdin?.on('error', () => undefined).end(input)
  return (await running).stdout
}
