import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import {readFile, symlink} from 'node:fs/promises'
import {join} from 'node:path'
import {before, describe, it} from 'node:test'
import {Config} from '@oclif/core'
import {execa} from 'execa'
import {commandGroups} from '../../src/cli/help.js'
import {contractViolations} from '../../src/contracts/index.js'
import {operations} from '../../src/operations/index.js'
import {projectFile} from '../support/project.js'
import {svc, svcBinary} from '../support/svc.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder, temporaryFolder} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'
import {testLoadedPackages} from './loaded-packages.js'

const {version} = JSON.parse(readFileSync(projectFile('package.json'), 'utf8'))

describe('the svc command line', () => {
  for (const [args, run] of [
    [['--version'], svc],
    [['-V'], svc],
    [['-v'], svc],
    [['version'], svc],
    [['version', '-q'], svcInTurn],
  ] as const)
    it(`svc ${args.join(' ')} prints its version`, async () => {
      const {stdout, stderr, exitCode} = await run(args)
      assert.equal(stdout.split(' ')[0], `svc/${version}`)
      assert.deepEqual([stderr, exitCode], ['', 0])
    })

  for (const words of [[], ['transcribe'], ['db'], ['db', 'serve'], ['mesh', 'dead'], ['merge-qlora']])
    it(`svc ${['help', ...words].join(' ')} prints what ${['svc', ...words, '--help'].join(' ')} prints`, async () => {
      const help = await svcInTurn(['help', ...words])
      assert.deepEqual(help, await svcInTurn([...words, '--help']))
      assert.match(help.stdout, /^USAGE$/m)
      assert.deepEqual([help.stderr, help.exitCode], ['', 0])
    })

  it('wraps descriptions only at the width of the terminal', async () => {
    const {stdout} = await svcInTurn(['orch', 'submit', '--help'], {env: {COLUMNS: '80'}})
    const [, description = ''] = /\nDESCRIPTION\n([\s\S]*)$/.exec(stdout) ?? []
    for (const paragraph of description.trimEnd().split('\n\n')) {
      const lines = paragraph.split('\n')
      for (const [i, line] of lines.slice(0, -1).entries()) {
        const [word = ''] = (lines[i + 1] ?? '').trim().split(' ')
        assert.ok(line.length + 1 + word.length > 80, `${word} fits into the line before: ${line}`)
      }
    }
  })

  it('lists every command and topic once, in groups, with a summary', async () => {
    const {stdout} = await svcInTurn(['--help'], {env: {COLUMNS: '80'}})
    const listed = [...stdout.matchAll(/^ {2}([a-z]\S+) {2,}(\S.*)$/gm)].map(([, name]) => name)
    assert.deepEqual(
      listed,
      commandGroups.flatMap(([, names]) => names),
    )
    const {commands} = await Config.load({root: projectFile('.'), userPlugins: false})
    const families = new Set(commands.filter(({id, aliases}) => !aliases.includes(id)).map(({id}) => id.split(':')[0]))
    assert.deepEqual([...families, 'help', 'version'].sort(), [...listed].sort())
    for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line)
  })

  it('has summaries of one sentence in 60 characters, except those that are shared with tools', async () => {
    const {commands} = await Config.load({root: projectFile('.'), userPlugins: false})
    const shared = new Set(operations.map(({summary}) => summary))
    for (const {id, summary = '', pluginName} of commands)
      if (pluginName === 'svc-toolkit' && !shared.has(summary)) {
        assert.match(summary, /^[A-Z][a-z]+ .*\.$/, id)
        assert.ok(summary.length <= 60, `${id}: ${summary}`)
      }
  })

  it('shows arguments and required flags in the usage, and no list of alternatives', async () => {
    const usage = async (...words: string[]) =>
      /^USAGE\n {2}\$ (.*)\n\n/m.exec((await svcInTurn([...words, '--help'])).stdout)?.[1]
    assert.equal(await usage('orch', 'submit'), 'svc orch submit [DESCRIPTION] [FLAGS]')
    assert.equal(await usage('bench', 'llm'), 'svc bench llm --model MODEL [FLAGS]')
    assert.equal(await usage('contracts', 'validate'), 'svc contracts validate [CONTRACT] [DOCUMENT...] [FLAGS]')
  })

  it('shows the descriptions of flags with wide names below the names', async () => {
    const {stdout} = await svcInTurn(['orch', 'plan', 'list', '--help'])
    assert.match(stdout, /^ {2}--limit=N\n {6}Maximum number of plans\. \(default: 50\)\n\n/m)
  })

  it('prints first commands without arguments', async () => {
    const {stdout, stderr, exitCode} = await svcInTurn([])
    for (const words of ['transcribe FILE', 'serve ', 'db serve FILE.svc', 'orch submit ', 'ask QUESTION', '--help'])
      assert.ok(stdout.includes(`svc ${words}`), words)
    assert.deepEqual([stdout.trimEnd().split('\n').length, stderr, exitCode], [6, '', 0])
  })

  it('prints no warning if the home folder is unreadable', async (test) => {
    // A link to itself cannot be opened, not even by root.
    const home = join(await temporaryFolder(test), 'home')
    await symlink(home, home)
    for (const args of [
      ['config', 'show'],
      ['db', '--help'],
      ['speech', 'status'],
    ]) {
      const {stderr, exitCode} = await svc(args, {env: {HOME: home}})
      assert.deepEqual([stderr, exitCode], ['', 0])
    }
  })

  for (const args of [['--help'], ['-h']])
    it(`prints the commands with ${args[0]}`, async () => {
      const {stdout, stderr, exitCode} = await svcInTurn(args)
      for (const word of ['generate', 'config', 'contracts', 'completion']) assert.ok(stdout.includes(word), word)
      assert.deepEqual([stderr, exitCode], ['', 0])
    })

  it('shows arguments, flags and examples with --help', async () => {
    const {stdout} = await svcInTurn(['generate', '--help'])
    for (const word of ['--model', '--max-tokens', 'PROMPT', 'EXAMPLES', '--json'])
      assert.ok(stdout.includes(word), word)
  })

  it('prints the commands of a topic', async () => {
    const {stdout, exitCode} = await svcInTurn(['config'])
    assert.match(stdout, /config check[\s\S]*config show/)
    assert.equal(exitCode, 0)
  })

  const unknown: readonly [string[], RegExp][] = [
    [['genrate'], /Unknown command genrate\. Did you mean generate\?/],
    [['config', 'shwo'], /Unknown command config shwo\. Did you mean config show\?/],
    [['contract', 'list'], /Unknown command contract\. Did you mean contracts\?/],
    [['help', 'transcrib'], /Unknown command transcrib\. Did you mean transcribe\?/],
    [['xyzzy'], /Unknown command xyzzy\. \(command_unknown\)/],
    [['config', 'show', '--chnged'], /Unknown flag --chnged\. Did you mean --changed\?/],
    [['transcribe', 'a.wav', '--beam_size', '5'], /Unknown flag --beam_size\. Did you mean --beam\?/],
    [['transcribe', 'a.wav', '--output_format=srt'], /Unknown flag --output_format\. Did you mean --format\?/],
    [['transcribe', 'a.wav', '--compute_type', 'int8'], /Unknown flag --compute_type\. Did you mean --precision\?/],
    [['transcribe', 'a.wav', '--output-srt'], /Unknown flag --output-srt\. Did you mean --format srt\?/],
    [['transcribe', 'a.wav', '--word_timestamps'], /Unknown flag --word_timestamps\. Did you mean --word-timestamps\?/],
    [['transcribe', 'a.wav', '--output_dir', 'x'], /Unknown flag --output_dir\. Did you mean --output-dir\?/],
    [['generate', '--compute_type', 'int8', 'Hi'], /Unknown flag --compute_type\. Did you mean --precision\?/],
    [['generate', '--beam_size', '5', 'Hi'], /Unknown flag --beam_size\. \(/],
    [['generate', '--max_tokens', '5', 'Hi'], /Unknown flag --max_tokens\. Did you mean --max-tokens\?/],
    [['config', 'show', '-z'], /Unknown flag -z\. /],
    [['orch', 'list'], /Unknown command orch list\. Did you mean orch tasks\?/],
    [['orch', 'run', 'x'], /Unknown command orch run\. Did you mean orch submit\?/],
    [['ls'], /Unknown command ls\. Did you mean list\?/],
    [['orch', 'ps'], /Unknown command orch ps\. Did you mean orch status\?/],
    [['submit', 'x'], /Unknown command submit\. Did you mean orch submit\?/],
    [['orch', 'questions', 'answr'], /Unknown command orch questions answr\. Did you mean orch questions answer\?/],
    [['orch', 'tasks', 'foo'], /Unexpected argument foo\. \(usage\)\n {2}hint: Usage: svc orch tasks \[FLAGS\]/],
    [['orch', 'task', '1', '2'], /Unexpected argument 2\. [\s\S]*Usage: svc orch task ID \[FLAGS\]/],
    [['orch', 'task'], /Missing argument ID\. /],
    [['db', 'client'], /Missing flag --output DIR\. [\s\S]*Usage: svc db client .*--output DIR \[FLAGS\]/],
    [
      ['bench', 'llm'],
      /Missing flag --model MODEL\. [\s\S]*, for example: svc bench llm --model examples\/runs\/guide/,
    ],
    [['orch', 'heartbeat', 'T-0042'], /Missing flag --claim N\. [\s\S]*, for example: svc orch heartbeat .*--claim \d/],
    [['orch', 'tasks', '--limit', 'x'], /--limit must be an integer, not "x"\. /],
    [['orch', 'tasks', '--limit', '0'], /--limit must be an integer greater than or equal to 1, not "0"\. /],
    [['orch', 'tasks', '--limit'], /--limit needs a value\. /],
    [['orch', 'plan', 'list', '--status', 'activ'], /--status must be .*, not "activ"\. Did you mean active\?/],
    [
      ['orch', 'tasks', '-o', 'wide', '--columns', 'task'],
      /--(output|columns) and --(output|columns) exclude each other\./,
    ],
    [['mesh', 'leases', '--key', 'x'], /--key requires --verify\. /],
    [['--model', 'x', 'generate'], /Flags such as --model must follow the command\. /],
  ]
  for (const [args, message] of unknown)
    it(`suggests the nearest name for svc ${args.join(' ')}`, async () => {
      const {stdout, stderr, exitCode} = await svcInTurn(args)
      assert.match(stderr, message)
      assert.deepEqual([stdout, exitCode], ['', 2])
      const json = await svcInTurn([...args, '--json'])
      assert.deepEqual(await contractViolations('cli/error.v1', JSON.parse(json.stdout)), [])
      assert.equal(json.stderr, '')
    })

  it('accepts global flags before the command', async () => {
    const after = await svcInTurn(['contracts', 'validate', 'cli/nope', '--', '--json'])
    assert.deepEqual(await svcInTurn(['-q', '--cwd=/', 'contracts', 'validate', 'cli/nope', '--', '--json']), after)
    const {stdout} = await svcInTurn(['-C', suiteFolder(), '--json', 'config', 'show', '--changed'])
    assert.equal(JSON.parse(stdout).file, null)
    assert.match((await svcInTurn(['-q', 'help', 'db'])).stdout, /^USAGE$/m)
  })

  it('treats --json after -- as an argument', async () => {
    const {stdout, stderr, exitCode} = await svcInTurn(['contracts', 'validate', 'cli/error.v1', '--', '--json'])
    assert.match(stderr, /--json does not exist/)
    assert.deepEqual([stdout, exitCode], ['', 3])
  })

  it('suppresses notices but not results with --quiet', async () => {
    const env = {SVC_THREADS: 'many'}
    const loud = await svcInTurn(['config', 'check'], {env})
    assert.match(loud.stderr, /^warning: SVC_THREADS/)
    const quiet = await svcInTurn(['config', 'check', '--quiet'], {env})
    assert.deepEqual([quiet.stderr, quiet.stdout], ['', loud.stdout])
  })

  it('prints no colours without a terminal or with NO_COLOR', async () => {
    const escapeCode = String.fromCharCode(27)
    for (const env of [{}, {NO_COLOR: '1', FORCE_COLOR: '0'}]) {
      const {stdout, stderr} = await svc(['generate', '--help'], {env})
      assert.ok(!stdout.includes(escapeCode) && !stderr.includes(escapeCode))
    }
  })

  for (const flags of [[], ['--json']])
    it(`reports an error when standard output cannot be written ${flags}`, async (test) => {
      const errors = join(await temporaryFolder(test), 'errors')
      const script = `"$0" "$@" >/dev/full 2>"${errors}"`
      const {exitCode} = await execa('bash', ['-c', script, process.execPath, svcBinary, 'config', 'show', ...flags], {
        reject: false,
      })
      assert.match(
        await readFile(errors, 'utf8'),
        /^error: No disk space left to write standard output\. \(disk_full\)\n/,
      )
      assert.equal(exitCode, 1)
    })

  it('exits silently when standard error is closed', async () => {
    const script = `{ "$0" "$@" 2>&1; } | true; exit "\${PIPESTATUS[0]}"`
    const {exitCode} = await execa('bash', ['-c', script, process.execPath, svcBinary, 'genrate'], {reject: false})
    assert.equal(exitCode, 2)
  })
})

describe('the packages that a command loads', () => {
  const model = suiteFolder()
  before(() => writeTinyModel(model))

  // `loaded-packages.test.ts` runs more commands.
  testLoadedPackages(model, [
    [['--version'], []],
    [['--help'], []],
    [['serve', '--help'], []],
    [
      ['generate', '-m', model, '--raw', '--max-tokens', '2', 'Hi'],
      ['@huggingface/tokenizers', 'onnxruntime-node'],
    ],
  ])
})
