import assert from 'node:assert/strict'
import {existsSync, readdirSync} from 'node:fs'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {projectFile} from '../../support/project.js'
import {svc} from '../../support/svc.js'
import {svcInTurn} from '../../support/svc-in-turn.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'

/** All commands of the orchestrator with valid arguments. */
const commands: Readonly<Record<string, readonly string[]>> = {
  'daemon call': ['orch.ping'],
  'daemon run': [],
  'daemon start': [],
  'daemon status': [],
  'daemon stop': [],
  'orch agent drain': ['ada'],
  'orch agent pause': ['ada'],
  'orch agent resume': ['ada'],
  'orch agent retire': ['ada'],
  'orch agent spawn': ['ada'],
  'orch agents': [],
  'orch approve': ['1'],
  'orch cancel': ['1'],
  'orch claim': [],
  'orch complete': ['1'],
  'orch config': [],
  'orch doubt': ['1'],
  'orch events': [],
  'orch fail': ['1', '--reason', 'broken'],
  'orch heartbeat': ['1', '--claim', '1'],
  'orch journey': [],
  'orch oplog': [],
  'orch prune': ['--older-than', '1d'],
  'orch overrule': ['1'],
  'orch plan execute': ['1'],
  'orch plan list': [],
  'orch plan new': ['Add a test'],
  'orch plan replan': ['1', 'more'],
  'orch plan status': ['1'],
  'orch rebalance': [],
  'orch redo': ['1'],
  'orch reorder': ['1', 'urgent'],
  'orch resolve': ['1', '--validated', '--report', 'sound'],
  'orch retry': ['1'],
  'orch status': [],
  'orch submit': ['work'],
  'orch task': ['1'],
  'orch tasks': [],
  'orch undo': ['1'],
  'orch verify': ['1'],
  'orch attention': [],
  'orch questions': [],
  'orch questions answer': ['1', 'yes'],
  'orch questions ask': ['Which format?', '--session-id', 's1'],
  'orch questions close': ['--session-id', 's1'],
  'orch session cleanup': [],
  'orch session compact': ['s1'],
  'orch session create': ['core'],
  'orch session list': [],
  'orch session reset': ['s1'],
  'orch session show': ['s1'],
  'orch start': [],
  'orch stop': ['--emergency'],
}

const found = ['orch', 'daemon'].flatMap((topic) =>
  readdirSync(projectFile(`dist/commands/${topic}`), {recursive: true, encoding: 'utf8'})
    .filter((file) => file.endsWith('.js'))
    .map((file) => `${topic} ${file.slice(0, -3).split(/[\\/]/).join(' ')}`),
)

interface Refusal {
  code: string
  message: string
  remediation: string
  exit: number
}

async function refusal(root: string, command: string): Promise<Refusal> {
  const args = [...command.split(' '), ...(commands[command] ?? []), '--json']
  const {stdout, exitCode} = await svcInTurn(args, {cwd: root, env: {SVC_DATA_DIR: join(root, 'data')}})
  const {error} = JSON.parse(stdout) as {error: Refusal}
  assert.equal(exitCode, error.exit, `${command}: ${stdout}`)
  assert.match(error.message, /^\S.*\.$/)
  return error
}

describe('an unparsable Svc.toml', () => {
  it('is tested with every command', () => {
    assert.deepEqual(found.sort(), Object.keys(commands).sort())
  })

  for (const command of Object.keys(commands))
    it(`makes svc ${command} fail with line and column, without creating files`, async (test) => {
      const root = await temporaryFolder(test)
      await writeFiles(root, {'Svc.toml': '[orchestrator]\nmax_agents = 4\nmin_agents = = 2\n'})
      const {code, exit, message} = await refusal(root, command)
      assert.deepEqual([code, exit], ['config_unparsable', 2])
      assert.ok(message.includes(`${join(root, 'Svc.toml')}:3:14 `), message)
      assert.equal(existsSync(join(root, '.svc')), false)
    })

  it('is reported in one line and a hint without --json', async (test) => {
    const root = await temporaryFolder(test)
    await writeFiles(root, {'Svc.toml': 'x = "\n'})
    const {stdout, stderr, exitCode} = await svc(['orch', 'status'], {cwd: root})
    assert.deepEqual([stdout, exitCode], ['', 2])
    assert.match(stderr, /^error: .*Svc\.toml:1:\d+ is not valid TOML: .*\. \(config_unparsable\)\n {2}hint: .*\n$/)
  })

  const garbage: readonly [kind: string, bytes: Uint8Array | string][] = [
    ['random bytes', Uint8Array.from({length: 4096}, (_, i) => (i * 197 + 13) % 256)],
    ['NUL bytes', new Uint8Array(64)],
    ['UTF-16', Buffer.from('\uFEFF[orchestrator]\nmax_agents = 4\n', 'utf16le')],
    ['an incomplete table', '[orchestrator.exec.templates]\nwork = ["sh", '],
    ['a duplicate key', '[orchestrator]\nmax_agents = 1\nmax_agents = 2\n'],
  ]
  for (const [kind, bytes] of garbage)
    it(`is reported if it contains ${kind}`, async (test) => {
      const root = await temporaryFolder(test)
      await writeFiles(root, {'Svc.toml': bytes})
      const {code, message} = await refusal(root, 'orch submit')
      assert.equal(code, 'config_unparsable')
      assert.match(message, /Svc\.toml:\d+:\d+ is not valid TOML: /)
    })
})

describe('a Svc.toml with invalid values', () => {
  const cases: readonly [toml: string, code: string, message: RegExp][] = [
    ['orchestrator.max_agents = "many"', 'config_type', /orchestrator\.max_agents must be .*, not "many"\.$/],
    ['orchestrator.max_agents = 0', 'config_type', /orchestrator\.max_agents must be .*, not 0\.$/],
    ['orchestrator.max_agents = 2.5', 'config_type', /orchestrator\.max_agents must be .*, not 2\.5\.$/],
    ['orchestrator.enabled = "perhaps"', 'config_type', /orchestrator\.enabled must be .*, not "perhaps"\.$/],
    ['orchestrator.task_timeout_ms = -1', 'config_type', /orchestrator\.task_timeout_ms must be .*, not -1\.$/],
    ['orchestrator.task_timeout_ms = nan', 'config_type', /orchestrator\.task_timeout_ms must be /],
    [
      'orchestrator.default_priority = "soon"',
      'config_type',
      /orchestrator\.default_priority must be .*, not "soon"\.$/,
    ],
    ['orchestrator.exec.templates = ["sh"]', 'config_type', /orchestrator\.exec\.templates must be /],
    ['orchestrator.exec.templates.work = "sh work.sh"', 'config_type', /orchestrator\.exec\.templates/],
    ['orchestrator = 3', 'config_type', /orchestrator/],
    [
      'orchestrator.lock_timeout_ms = 99\norchestrator.bulletin_capacity = 0\norchestrator.planning_depth = "low"',
      'config_type',
      /: orchestrator\.lock_timeout_ms must be .*, not 99; .*bulletin_capacity must be .*, not 0; .*planning_depth .* not "low"\.$/,
    ],
    [
      'orchestrator.planning_enabled = false\norchestrator.planning_replan_enabled = true',
      'orchestrator_config_invalid',
      /orchestrator\.planning_replan_enabled requires orchestrator\.planning_enabled\.$/,
    ],
    [
      'orchestrator.min_agents = 5\norchestrator.max_agents = 2',
      'orchestrator_config_invalid',
      /orchestrator\.min_agents \(5\) is larger than orchestrator\.max_agents \(2\)\.$/,
    ],
    [
      'orchestrator.socrates_policy.abstain_threshold = 0.9\norchestrator.socrates_policy.ask_for_help_threshold = 0.1',
      'orchestrator_config_invalid',
      /abstain_threshold \(0\.9\) is larger than \S+ \(0\.1\)/,
    ],
  ]
  for (const [toml, code, message] of cases)
    it(`is rejected: ${toml.replace('\n', ', ')}`, async (test) => {
      const root = await temporaryFolder(test)
      await writeFiles(root, {'Svc.toml': `${toml}\n`})
      for (const command of ['orch submit', 'orch status', 'daemon run']) {
        const error = await refusal(root, command)
        assert.deepEqual([command, error.code, error.exit], [command, code, 2])
        assert.match(error.message, message)
      }
      assert.equal(existsSync(join(root, '.svc')), false)
    })
})
