import assert from 'node:assert/strict'
import {once} from 'node:events'
import {chmod, readdir, readFile, rm, writeFile} from 'node:fs/promises'
import {delimiter, join} from 'node:path'
import {after, before, beforeEach, describe, it} from 'node:test'
import {execa} from 'execa'
import {parse as parseToml} from 'smol-toml'
import {parse as parseYaml} from 'yaml'
import {contractViolations} from '../../src/contracts/index.js'
import {knownPrograms} from '../../src/launch/index.js'
import {claudeSettings, keyVariable} from '../../src/launch/settings.js'
import {processesWith, processStart} from '../../src/process/index.js'
import {type RunningServer, startServer} from '../support/server.js'
import {environment, startSvc, svc} from '../support/svc.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder, writeFiles} from '../support/temporary.js'
import {tinyModelFiles} from '../support/tiny-model.js'
import {until} from '../support/until.js'

/** What a stand-in for a program has received. */
interface Recorded {
  pid: number
  env: Record<string, string>
  args: string[]
  /** Contents of the files that the arguments name. */
  files: Record<string, string>
  /** Status of a request to the server with the key, and without. */
  statuses: [number, number]
}

/** Records its environment, asks the server, and does what its last argument says. */
const standIn = `#!${process.execPath}
import {readFileSync, renameSync, statSync, writeFileSync} from 'node:fs'
const {env, pid} = process
const args = process.argv.slice(2)
const isFile = (arg) => statSync(arg, {throwIfNoEntry: false})?.isFile()
const files = Object.fromEntries(args.filter(isFile).map((arg) => [arg, readFileSync(arg, 'utf8')]))
const ask = async (headers) => (await fetch(env.SVC_INFERENCE_URL + '/v1/models', {headers})).status
const statuses = [await ask({authorization: 'Bearer ' + env.SVC_INFERENCE_API_KEY}), await ask({})]
const record = env.HOME + '/record.json'
writeFileSync(record + '.new', JSON.stringify({pid, env, args, files, statuses}))
const action = args.at(-1)
if (action === 'wait') process.on('SIGTERM', () => process.exit(5))
renameSync(record + '.new', record)
if (action === 'wait' || action === 'sleep') setInterval(() => {}, 60_000)
else process.exitCode = 7
`

describe('svc launch', () => {
  const folder = suiteFolder()
  const key = 'a-secret-key-of-the-test'
  const record = join(folder, 'record.json')
  let env: Record<string, string>
  let server: RunningServer

  before(async () => {
    const files = tinyModelFiles({contextLength: 8192})
    await writeFiles(folder, Object.fromEntries(Object.entries(files).map(([name, text]) => [`tiny/${name}`, text])))
    for (const {executable} of knownPrograms) {
      const path = join(folder, 'bin', `${executable}.mjs`)
      await writeFiles(folder, {[`bin/${executable}.mjs`]: standIn, [`bin/${executable}`]: ''})
      await writeFile(join(folder, 'bin', executable), `#!/bin/sh\nexec ${process.execPath} ${path} "$@"\n`)
      await chmod(join(folder, 'bin', executable), 0o755)
    }
    env = {
      PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}`,
      HOME: folder,
      TMPDIR: folder,
      SVC_THREADS: '1',
      SVC_INFERENCE_URL: 'http://127.0.0.1:9',
    }
    server = await startServer(['--model', 'tiny'], {cwd: folder, env: {SVC_INFERENCE_API_KEY: key}})
  })
  after(() => server?.stop())
  beforeEach(() => rm(record, {force: true}))

  const recorded = async (): Promise<Recorded> => JSON.parse(await readFile(record, 'utf8'))
  const started = async (): Promise<Recorded> => {
    await until(() => recorded().then(Boolean, () => false), 'the program has started')
    return recorded()
  }
  const isGone = (url: string) =>
    fetch(url).then(
      () => false,
      () => true,
    )
  const launch = (args: readonly string[], more: Record<string, string> = {}) =>
    svc(['launch', ...args], {cwd: folder, env: {...env, ...more}})
  /** With the server of the suite; each program is started once. */
  const launchOn = (program: string): Promise<Recorded> => {
    const known = launched.get(program) ?? launchOnce(program)
    launched.set(program, known)
    return known
  }
  const launched = new Map<string, Promise<Recorded>>()
  const launchOnce = async (program: string): Promise<Recorded> => {
    const {exitCode, stderr} = await launch([program, '--', 'hello world'], {
      SVC_INFERENCE_URL: server.baseUrl,
      SVC_INFERENCE_API_KEY: key,
    })
    assert.equal(exitCode, 7, stderr)
    const run = await recorded()
    assert.deepEqual([run.statuses, run.args.at(-1), run.env.SVC_INFERENCE_API_KEY], [[200, 401], 'hello world', key])
    return run
  }

  it('starts a server with a key for the program, and stops it afterwards', async () => {
    const {exitCode, stderr} = await launch(['claude', '--model', 'tiny', '--num-ctx', '2048', '--', '-p', 'hi'], {
      ANTHROPIC_API_KEY: 'sk-of-the-user',
      CLAUDE_CODE_USE_BEDROCK: '1',
    })
    assert.equal(exitCode, 7, stderr)
    const {env: seen, args, statuses} = await recorded()
    const {ANTHROPIC_BASE_URL: url = '', ANTHROPIC_AUTH_TOKEN: token} = seen
    assert.deepEqual(statuses, [200, 401])
    assert.deepEqual(args, ['-p', 'hi'])
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
    assert.equal(seen.SVC_INFERENCE_URL, url)
    assert.equal(token, seen.SVC_INFERENCE_API_KEY)
    const models = ['MODEL', 'DEFAULT_OPUS_MODEL', 'DEFAULT_SONNET_MODEL', 'DEFAULT_HAIKU_MODEL', 'SMALL_FAST_MODEL']
    assert.deepEqual(new Set(models.map((name) => seen[`ANTHROPIC_${name}`])), new Set(['tiny']))
    assert.deepEqual([seen.CLAUDE_CODE_AUTO_COMPACT_WINDOW, seen.CLAUDE_AUTOCOMPACT_PCT_OVERRIDE], ['100000', '1'])
    assert.deepEqual([seen.ANTHROPIC_API_KEY, seen.CLAUDE_CODE_USE_BEDROCK], [undefined, undefined])
    assert.ok(await isGone(url))
    assert.match(stderr, /warning: tiny cannot call tools, and Claude Code can only chat with it\./)
    assert.match(stderr, /warning: The context of tiny has 2048 tokens, and Claude Code needs about 65536/)
    assert.ok(!stderr.includes(token ?? ''), stderr)
  })

  it('configures Codex by arguments', async () => {
    const {args} = await launchOn('codex')
    const overrides = args.filter((_, i) => args[i - 1] === '-c')
    assert.deepEqual(JSON.parse(JSON.stringify(parseToml(overrides.join('\n')))), {
      model_provider: 'svc',
      model_providers: {
        svc: {
          name: 'svc',
          base_url: `${server.baseUrl}/v1`,
          wire_api: 'responses',
          env_key: 'SVC_INFERENCE_API_KEY',
          stream_idle_timeout_ms: 3_600_000,
        },
      },
      model_context_window: 8192,
    })
    assert.deepEqual(args.slice(-3), ['-m', 'tiny', 'hello world'])
    assert.ok(!args.join(' ').includes(key))
  })

  it('configures opencode by a variable', async () => {
    const {env: seen, args} = await launchOn('opencode')
    const {model, provider} = JSON.parse(seen.OPENCODE_CONFIG_CONTENT ?? '')
    assert.deepEqual(args, ['hello world'])
    assert.equal(model, 'svc/tiny')
    assert.deepEqual(provider.svc.options, {baseURL: `${server.baseUrl}/v1`, apiKey: '{env:SVC_INFERENCE_API_KEY}'})
    assert.deepEqual(provider.svc.models, {tiny: {name: 'tiny', limit: {context: 8192, output: 2048}}})
  })

  it('configures Continue by a file that exists as long as the program runs', async () => {
    const {args, files} = await launchOn('continue')
    const [flag, path = ''] = args
    assert.equal(flag, '--config')
    const {models} = parseYaml(files[path] ?? '')
    const [{apiBase, apiKey, model, provider}] = models
    assert.deepEqual([apiBase, model, provider], [`${server.baseUrl}/v1`, 'tiny', 'openai'])
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of Continue
    assert.equal(apiKey, '${{ secrets.SVC_INFERENCE_API_KEY }}')
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name.startsWith('svc-launch-')),
      [],
    )
  })

  for (const {id} of knownPrograms)
    it(`prints the settings of ${id} as lines of a shell that start it equally`, async () => {
      const {env: seen, files, args} = await launchOn(id)
      const on = {SVC_INFERENCE_URL: server.baseUrl, SVC_INFERENCE_API_KEY: key}
      const all = {...env, ...on}
      const {stdout} = await svcInTurn(['launch', id, '--print', '--', 'hello world'], {cwd: folder, env: all})
      assert.ok(!stdout.includes(key), stdout)
      const {exitCode, stderr} = await execa('sh', ['-c', stdout], {
        cwd: folder,
        env: environment(all),
        extendEnv: false,
        reject: false,
      })
      assert.equal(exitCode, 7, stderr)
      const printed = await recorded()
      const ofShell = /^(_|PWD|OLDPWD|SHLVL)$/
      const comparable = (values: Record<string, string>) =>
        Object.fromEntries(Object.entries(values).filter(([name]) => !ofShell.test(name)))
      assert.deepEqual(comparable(printed.env), comparable(seen))
      assert.deepEqual(Object.values(printed.files), Object.values(files))
      const path = Object.keys(files)[0] ?? ''
      assert.deepEqual(
        printed.args,
        args.map((arg) => (arg === path ? 'continue.yaml' : arg)),
      )
    })

  it('prints settings as JSON', async () => {
    const on = {SVC_INFERENCE_URL: server.baseUrl, SVC_INFERENCE_API_KEY: key}
    const {stdout} = await svcInTurn(['launch', 'claude', '--print', '--json'], {cwd: folder, env: {...env, ...on}})
    const result = JSON.parse(stdout)
    assert.deepEqual(await contractViolations('cli/launch.v1', result), [])
    assert.deepEqual([result.is_running, result.key_variables], [true, ['ANTHROPIC_AUTH_TOKEN']])
    assert.ok(!stdout.includes(key), stdout)
  })

  it('prints settings without a server, too', async () => {
    const {stdout, stderr} = await svcInTurn(['launch', 'claude', '--print', '--model', './tiny'], {cwd: folder, env})
    assert.match(stdout, /^export SVC_INFERENCE_API_KEY=svc\nexport ANTHROPIC_AUTH_TOKEN="\$SVC_INFERENCE_API_KEY"$/m)
    assert.match(stdout, /^export ANTHROPIC_BASE_URL=http:\/\/127\.0\.0\.1:9$/m)
    assert.match(stderr, /notice: No running server has the model\. Start one before you use these settings\.\n/)
  })

  it('passes signals on, and returns how the program ended', async () => {
    for (const [action, status] of [
      ['wait', 5],
      ['sleep', 143],
    ] as const) {
      await rm(record, {force: true})
      const running = startSvc(['launch', 'codex', '--server', server.baseUrl, '--', action], {
        cwd: folder,
        env: {...env, SVC_INFERENCE_API_KEY: key},
      })
      await started()
      running.kill('SIGTERM')
      assert.equal((await running).exitCode, status, action)
    }
  })

  it('leaves no server behind when it is killed', async () => {
    const running = startSvc(['launch', 'claude', '--model', 'tiny', '--', 'sleep'], {cwd: folder, env})
    const {env: seen, pid} = await started()
    try {
      const ended = once(running, 'exit')
      running.kill('SIGKILL')
      await ended
      await until(() => isGone(seen.ANTHROPIC_BASE_URL ?? ''), 'the server has ended')
    } finally {
      process.kill(pid)
    }
  })

  it('warns if the server ended before the program', async () => {
    const running = startSvc(['launch', 'claude', '--model', 'tiny', '--', 'wait'], {cwd: folder, env})
    const {env: seen, pid} = await started()
    const [serverPid] = processesWith(keyVariable, seen[keyVariable] ?? '').filter((other) => other !== pid)
    process.kill(serverPid as number)
    await until(() => processStart(serverPid as number) === undefined, 'the server has ended')
    running.kill('SIGTERM')
    const {exitCode, stderr} = await running
    assert.equal(exitCode, 5)
    assert.match(String(stderr), /warning: The server ended before the program\./)
  })

  it('lets Claude Code summarize before the context is full', () => {
    const variablesOf = (contextLength: number) =>
      Object.entries(claudeSettings({baseUrl: 'http://127.0.0.1:9', model: 'm', contextLength}).env)
        .filter(([name]) => /COMPACT/.test(name))
        .map(([, value]) => value)
    // 61 % of 80,000 tokens are three quarters of 65,536.
    assert.deepEqual(variablesOf(65_536), ['100000', '61'])
    assert.deepEqual(variablesOf(131_072), ['131072'])
  })

  it('lists the programs with the versions that they were tried with', async () => {
    const {stdout} = await svcInTurn(['launch'], {cwd: folder, env})
    for (const {id, version, install} of knownPrograms)
      assert.match(stdout, new RegExp(`^${id} +${version} .*${install}`, 'm'))
    const json = await svcInTurn(['launch', '--json'], {cwd: folder, env})
    assert.deepEqual(await contractViolations('cli/launch-programs.v1', JSON.parse(json.stdout)), [])
  })

  const refused: [string, string[], number, RegExp][] = [
    ['an unknown program', ['claud'], 2, /know how to launch claud\. Did you mean claude\?/],
    ['--json without --print', ['claude', '--json'], 2, /--json requires --print/],
    ['a server that does not answer', ['codex', '--server', 'http://127.0.0.1:9'], 5, /does not answer/],
    ['a model that does not exist', ['codex', '--model', './none'], 1, /did not start: Model .*none not found/],
  ]
  for (const [what, args, status, message] of refused)
    it(`refuses ${what}`, async () => {
      const {exitCode, stdout, stderr} = await svcInTurn(['launch', ...args], {cwd: folder, env})
      assert.deepEqual([exitCode, message.test(stdout + stderr)], [status, true], stdout + stderr)
    })

  it('names the command that installs a missing program', async () => {
    const {exitCode, stderr} = await svcInTurn(['launch', 'continue'], {cwd: folder, env: {...env, PATH: folder}})
    assert.equal(exitCode, 3)
    assert.match(
      stderr,
      /Continue is not installed: no directory of PATH contains cn\..*npm install -g @continuedev\/cli\./s,
    )
  })
})
