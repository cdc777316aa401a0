import assert from 'node:assert/strict'
import {chmod, readdir} from 'node:fs/promises'
import {join} from 'node:path'
import {before, describe, it, type TestContext} from 'node:test'
import {execa} from 'execa'
import {readCommandTree} from '../../src/cli/completion/command-tree.js'
import {follow, printed} from '../../src/cli/completion/complete.js'
import {completionScripts, completionSetup} from '../../src/cli/completion/index.js'
import {valueKind, valueRules} from '../../src/cli/completion/value-kind.js'
import {skipWithoutProgram} from '../support/programs.js'
import {projectFile} from '../support/project.js'
import {environment, svcBinary} from '../support/svc.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder, temporaryFolder, writeFiles} from '../support/temporary.js'
import {startTerminal} from '../support/terminal.js'
import {until} from '../support/until.js'

const tree = readCommandTree(projectFile('.'))
const root = suiteFolder()

before(async () => {
  for (const line of [
    ['orch', 'submit', 'Fix the build'],
    ['orch', 'agent', 'spawn', 'ada'],
    ['workflow', 'run', 'flow.yaml', '--run-id', 'greet-1', '--no-wait'],
  ]) {
    await writeFiles(root, {
      'flow.yaml': 'version: 1\nworkflows: {greet: {steps: [{id: go, signal: go}]}}\n',
      'talk.wav': '',
      'notes.txt': '',
    })
    const {exitCode, stderr} = await svcInTurn(line, {cwd: root})
    assert.equal(exitCode, 0, stderr)
  }
})

describe('completion', () => {
  const at = (...words: string[]) => follow(['-C', root, ...words], tree)

  const cases: readonly [words: string[], expected: string[], paths?: unknown][] = [
    [['workf'], ['workflow']],
    [['help', 'workf'], ['workflow']],
    [['orch', 'plan', 're'], ['replan']],
    [['--json', 'orch', 'que'], ['questions']],
    [['orch', 'questions', 'an'], ['answer']],
    [['orch', 'tasks', '--lim'], ['--limit']],
    [['orch', 'tasks', '--limit', '3', '--lim'], []],
    [['transcribe', '--no-word'], ['--no-word-timestamps']],
    [['orch', 'plan', 'list', '--status', 'a'], ['active']],
    [['orch', 'plan', 'list', '--status=a'], ['--status=active']],
    [['orch', 'tasks', '--status', 'Comp'], ['Completed']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['orch', 'task', ''], ['T-0001']],
    [['orch', 'cancel', 'T-0001', 'T-'], ['T-0001']],
    [['orch', 'submit', '--after', ''], ['T-0001']],
    [['orch', 'tasks', '--agent=ad'], ['--agent=ada']],
    [['a2a', 'inbox', 'ad'], ['ada']],
    [['workflow', 'resume', ''], ['greet-1']],
    [['explain', 'workflow_inv'], ['workflow_invalid']],
    [
      ['explain', 'typecheck.unknown_t'],
      ['typecheck.unknown_table', 'typecheck.unknown_type'],
    ],
    [['contracts', 'validate', 'cli/db-ch'], ['cli/db-check.v1']],
    [['daemon', 'call', 'orch.pin'], ['orch.ping']],
    [['bench', 'run', 'start'], ['startup']],
    [['mcp', 'call', 'svc_submit_t'], ['svc_submit_task']],
    [['db', 'check', ''], [], {extensions: ['svc']}],
    [['db', 'check', 'a.svc', '--program='], [], {extensions: ['svc']}],
    [['workflow', 'check', 'a.yaml', ''], [], {extensions: ['yaml', 'yml', 'json']}],
    [['transcribe', '-o', ''], [], {extensions: []}],
    [['-C', ''], [], 'directories'],
    [['orch', 'task', '--', '-'], []],
    [['nonsense', ''], []],
  ]
  for (const [words, expected, paths = 'none'] of cases)
    it(`offers ${expected.join(', ') || JSON.stringify(paths)} after svc ${words.join(' ')}`, async () => {
      const found = await at(...words)
      assert.deepEqual(found.words.map(({value}) => value).sort(), [...expected].sort())
      assert.deepEqual(found.paths, paths)
    })

  it('describes commands and ids', async () => {
    assert.equal((await at('orch', 'task', '')).words[0]?.description, 'Queued, Fix the build')
    assert.match((await at('work')).words[0]?.description ?? '', /durable workflows/)
  })

  it('prints one line for each word, without control characters', () => {
    const lines = printed({
      words: [
        {value: 'T-0001', description: 'Queued, \u001b]0;title\u0007\u001b[31mred\ttab\nline'},
        {value: 'T-2\u001b[2J', description: ''},
      ],
      paths: 'none',
    })
    assert.equal(lines, ':words\nT-0001\tQueued, ]0;title[31mred tab line\n')
  })

  it('creates no store', async (test) => {
    const empty = await temporaryFolder(test)
    assert.deepEqual((await follow(['-C', empty, 'orch', 'task', ''], tree)).words, [])
    assert.deepEqual(await readdir(empty), [])
  })

  it('reads the store that the settings select', async (test) => {
    const cwd = await temporaryFolder(test)
    await writeFiles(cwd, {'Svc.toml': '[workspace]\njourney_store = "./tasks/shared.db"\n'})
    assert.equal((await svcInTurn(['orch', 'submit', 'Elsewhere'], {cwd})).exitCode, 0)
    const {words} = await follow(['-C', cwd, 'orch', 'task', ''], tree)
    assert.deepEqual(words, [{value: 'T-0001', description: 'Queued, Elsewhere'}])
  })

  it('knows what every path and id on the command line is', () => {
    const places = [...tree.commands].flatMap(([command, {args, flags}]) => [
      ...Object.values(args).map(({name}) => ({command, name, placeholder: undefined})),
      ...Object.values(flags).flatMap(({name, type, helpValue = '', options}) =>
        type === 'option' && options === undefined ? [{command, name, placeholder: helpValue}] : [],
      ),
    ])
    // Ids that another program chooses, and texts with an id in them.
    const free =
      /^(from|to|run-id|thread|thread-id|correlation-id|tenant-id|trace-id|campaign-id|journey-id|key|before|since|after|scope|fixture|id|lease|renew|release|verify|revoke|message|reply)$/
    const unknown = places.filter(
      ({command, name, placeholder}) =>
        /^(FILE|DIR|PATH|ID|AGENT|NODE|RUN|PLAN|SESSION)\b/.test(placeholder ?? name.toUpperCase()) &&
        valueKind({command, name, placeholder}) === 'text' &&
        !free.test(name),
    )
    assert.deepEqual(unknown, [])
    for (const rule of Object.keys(valueRules.ofCommands))
      assert.ok(
        places.some(({command, name}) => rule === `${command} ${name}`),
        rule,
      )
    for (const rule of Object.keys(valueRules.ofTopics))
      assert.ok(
        places.some(({command, name}) => rule === name || rule === `${command.split(' ')[0]} ${name}`),
        rule,
      )
  })
})

/** What shells insert for the incomplete line. */
const typed: readonly [line: string, inserted: string][] = [
  ['svc workf', 'workflow'],
  ['svc orch plan list --status=act', '--status=active'],
  ['svc orch task ', 'T-0001'],
  ['svc workflow resume gr', 'greet-1'],
  ['svc transcribe ', 'talk.wav'],
  ['svc db check --program=', '--program=todo.svc'],
]

/** A folder with svc on the search path. */
async function folderWithSvc(test: TestContext): Promise<{cwd: string; env: Record<string, string>}> {
  const bin = await temporaryFolder(test)
  await writeFiles(bin, {svc: `#!/bin/sh\nexec "${process.execPath}" "${svcBinary}" "$@"\n`})
  await chmod(join(bin, 'svc'), 0o755)
  await writeFiles(root, {'todo.svc': ''})
  return {
    cwd: root,
    env: environment({PATH: `${bin}:${process.env.PATH ?? ''}`, HOME: bin, TERM: 'xterm', PS1: '> '}),
  }
}

describe('completion in shells', () => {
  const load = {
    bash: ['--norc', '-c', '. ~/.bashrc; complete -p svc'],
    zsh: ['-f', '-c', '. ~/.zshrc; echo $_comps[svc]'],
    fish: ['-c', "complete -C 'svc workf'"],
  }
  for (const shell of ['bash', 'zsh', 'fish'] as const)
    it(`is set up for ${shell} in an empty home`, {skip: skipWithoutProgram(shell)}, async (test) => {
      const {cwd, env} = await folderWithSvc(test)
      const options = {cwd, env, extendEnv: false}
      await execa('sh', ['-c', completionSetup[shell]], options)
      const {stdout} = await execa(shell, load[shell], options)
      assert.match(stdout, /_svc|^workflow\t/)
    })

  it('completes in fish', {skip: skipWithoutProgram('fish')}, async (test) => {
    const {cwd, env} = await folderWithSvc(test)
    for (const [line, inserted] of typed) {
      const program = `${completionScripts.fish}\ncomplete -C '${line}'`
      const {stdout} = await execa('fish', ['--no-config', '-c', program], {cwd, env, extendEnv: false})
      assert.deepEqual(
        stdout.split('\n').map((found) => found.split('\t')[0]),
        [inserted],
        line,
      )
    }
  })

  const interactive = {
    bash: {args: 'bash --norc --noprofile -i', setUp: 'eval "$(svc completion bash)"'},
    zsh: {args: 'zsh -f -i', setUp: 'autoload -Uz compinit && compinit -u -D && source <(svc completion zsh)'},
  } as const
  for (const shell of ['bash', 'zsh'] as const)
    it(`completes in ${shell} while a user types`, {skip: skipWithoutProgram(shell, 'script')}, async (test) => {
      const {cwd, env} = await folderWithSvc(test)
      const {args, setUp} = interactive[shell]
      const terminal = startTerminal(test, `exec ${args}`, {cwd, env, columns: 200})
      const shown = () =>
        // biome-ignore lint/suspicious/noControlCharactersInRegex: Escape sequences of the terminal are removed.
        terminal.shown().replaceAll(/\u001b\[[?\d;]*[A-Za-z]|\u001b[=>]|\u0007|\r/g, '')
      terminal.type(`${setUp}; echo "set"up\n`)
      await until(() => /^setup$/m.test(shown()), shown)
      for (const [line, inserted] of typed) {
        terminal.type(`${line}\t`)
        const whole = `${line.slice(0, line.lastIndexOf(' ') + 1)}${inserted}`
        await until(
          () => shown().includes(whole),
          () => `${whole}: ${shown()}`,
        )
        terminal.type('\u0015\n')
      }
      terminal.type('exit\n')
      await terminal.ended
    })
})
