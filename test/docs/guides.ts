/**
 * Runs the shell blocks of a guide and compares what they print.
 *
 * A ```console block has commands, `$ COMMAND`, each followed by its exact output; lines that start with `> ` continue a
 * command. In the output, `...` stands for any text within a line, and as a line of its own for any number of lines. A
 * command without output is checked by its exit status only. Words behind `console` change how a block is run:
 * `background` starts its command and waits for the output, `exit=N` expects another status, `skip=REASON` does not run it.
 * A block with a file name behind its language is written to that file; with `stopped` behind the name, after all
 * background commands were stopped. Ports are replaced by free ones.
 */
import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdir, readFile, symlink, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {createInterface} from 'node:readline'
import {after, before, describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {freePort} from '../../src/net/index.js'
import {allPrograms, skipWithoutProgram} from '../support/programs.js'
import {projectFile} from '../support/project.js'
import {svcBinary} from '../support/svc.js'
import {suiteFolder} from '../support/temporary.js'

/** Reasons for which a block may be left out. */
const skipReasons = ['network', 'gpu', 'editor', 'terminal'] as const

/** Languages of blocks that are only shown. */
const shownOnly = new Set(['text', 'json', 'svc', 'toml', 'sql', 'ebnf', 'ts', 'js', 'http', 'yaml', ''])

interface Step {
  command: string
  output: string
}

export interface Block {
  language: string
  words: readonly string[]
  text: string
  /** Line of its first fence in the guide, from 1. */
  line: number
}

/** The fenced blocks of a guide. */
export const blocksOf = (guide: string): Block[] =>
  [...guide.matchAll(/^```([^\n`]*)\n(.*?)^```$/gms)].map(({1: info = '', 2: text = '', index}) => {
    const [language = '', ...words] = info.trim().split(/\s+/)
    return {language, words, text, line: guide.slice(0, index).split('\n').length}
  })

/** The commands of a console block, each with its expected output. */
export function stepsOf(text: string): Step[] {
  const steps: Step[] = []
  const lines = text.replace(/\n$/, '').split('\n')
  for (const [i, line] of lines.entries()) {
    const step = steps.at(-1)
    if (line.startsWith('$ ')) steps.push({command: line.slice(2), output: ''})
    else if (line.startsWith('# ') && /^[$#] /.test(lines[i + 1] ?? '')) continue
    else if (step === undefined) throw new Error(`no command before: ${line}`)
    else if (line.startsWith('> ') && step.output === '') step.command += `\n${line.slice(2)}`
    else step.output += `${line}\n`
  }
  return steps
}

/** An expected output as a pattern. */
export function patternOf(output: string, {isPrefix = false} = {}): RegExp {
  const lines = output.trimEnd().split('\n')
  const patterns = lines.map((line) =>
    line.trim() === '...' ? '(?:.*\\n)*' : `${line.trimEnd().split('...').map(escapePattern).join('.*')} *\\n`,
  )
  return new RegExp(`^${patterns.join('')}${isPrefix ? '' : '\\n*$'}`)
}

const escapePattern = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')

/** Ports that commands of a guide listen on or connect to. */
const portsOf = (blocks: readonly Block[]): string[] => [
  ...new Set(
    blocks.flatMap(({text}) =>
      [...text.matchAll(/(?:--port |(?:127\.0\.0\.1|localhost):)(\d+)/g)].map(([, port = '']) => port),
    ),
  ),
]

/**
 * A function that replaces the ports of a guide by free ones, so that several runs of the tests do not disturb each other.
 */
async function freePorts(blocks: readonly Block[]): Promise<(text: string) => string> {
  const entries = portsOf(blocks).map(async (port) => [port, String(await freePort())] as const)
  const ports = new Map(await Promise.all(entries))
  return (text) => text.replaceAll(/\b\d{4,5}\b/g, (number) => ports.get(number) ?? number)
}

/** A shell that keeps its folder, variables and background commands from one command to the next. */
class Shell {
  readonly #folder: string
  readonly #process
  readonly #lines
  #commands = 0

  constructor(folder: string, workspace: string, env: NodeJS.ProcessEnv) {
    this.#folder = folder
    const loop = 'while IFS= read -r script; do source "$script" </dev/null 2>&1; printf "\\n\\1%s\\n" $?; done'
    this.#process = spawn('bash', ['-c', loop], {
      cwd: workspace,
      env,
      detached: true,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.#lines = createInterface({input: this.#process.stdout})[Symbol.asyncIterator]()
  }

  async run(command: string): Promise<{status: number; output: string}> {
    await this.#send(command)
    const output: string[] = []
    for (;;) {
      const {value: line, done} = await this.#lines.next()
      if (done) throw new Error(`The shell ended during: ${command}\n${output.join('\n')}`)
      if (line.startsWith('\u0001')) {
        if (output.at(-1) === '') output.pop()
        return {status: Number(line.slice(1)), output: output.map((each) => `${each}\n`).join('')}
      }
      output.push(line)
    }
  }

  /**
   * Starts a command that stays, and returns once it has printed what is expected. It prints to a file: reading a pipe
   * would keep a thread of Node.js waiting for as long as the command stays.
   */
  async start(command: string, expected: RegExp): Promise<void> {
    const path = join(this.#folder, `output-${this.#commands}`)
    await writeFile(path, '')
    await this.run(`{ trap 'kill $!; wait' TERM; ${command} & wait; printf '\\1'; } </dev/null >'${path}' 2>&1 &`)
    for (;;) {
      const output = await readFile(path, 'utf8')
      if (expected.test(output)) return
      if (output.endsWith('\u0001')) throw new Error(`${command} ended, and printed:\n${output.slice(0, -1)}`)
      await sleep(20)
    }
  }

  /** Stops all background commands and waits for their end. */
  async stopAll(): Promise<void> {
    await this.run('kill $(jobs -p); wait')
  }

  async #send(command: string): Promise<void> {
    const script = join(this.#folder, `command-${this.#commands++}`)
    await writeFile(script, `${command}\n`)
    this.#process.stdin.write(`${script}\n`)
  }

  /** Ends the shell and everything that it has started. */
  async close(): Promise<void> {
    const closed = once(this.#process, 'close')
    process.kill(-this.#process.pid!, 'SIGTERM')
    await closed
  }
}

/** Whether a word after `console` is a reason for which a block is not run. */
const isSkip = (word: string) => word.startsWith('skip=')

/** Whether one of the commands of a block runs a program. */
const uses = (text: string, program: string) =>
  stepsOf(text).some(({command}) => new RegExp(`(^|[|(;&] *)${program} `, 'm').test(command))

/** A test fails when a command hangs, not when the machine is slow, ms. */
const timeout = 15 * 60_000

/** Runs the blocks of a guide in their order, in an empty folder with an empty home and the project's `examples/`. */
export function testGuide(path: string): void {
  describe(path, {concurrency: 1}, async () => {
    const shown = blocksOf(await readFile(projectFile(path), 'utf8'))
    const withFreePorts = await freePorts(shown)
    const blocks = shown.map((block) => ({...block, text: withFreePorts(block.text)}))
    const home = suiteFolder()
    const workspace = join(home, 'workspace')
    const programs = join(home, 'bin')
    const commands = blocks.filter(({language, words}) => language === 'console' && !words.some(isSkip))
    // Later blocks may use the results of one that is skipped.
    const needs = commands.map(({text}) => skipWithoutProgram(...allPrograms.filter((name) => uses(text, name))))
    const firstSkipped = needs.findIndex((reason) => reason !== false)
    const skipOf = (block: Block) =>
      firstSkipped >= 0 && commands.indexOf(block) >= firstSkipped ? (needs[firstSkipped] ?? false) : false
    let shell: Shell

    before(async () => {
      for (const folder of [workspace, programs]) await mkdir(folder)
      await symlink(svcBinary, join(programs, 'svc'))
      await symlink(process.execPath, join(programs, 'node'))
      await symlink(projectFile('examples'), join(workspace, 'examples'))
      const env = {
        PATH: `${programs}:${process.env.PATH}`,
        HOME: home,
        TMPDIR: home,
        LANG: 'C.UTF-8',
        SVC_THREADS: '1',
        // Leases of the guides last until the end, however slow the machine is.
        SVC_MESH_A2A_LEASE_MS: String(timeout),
      }
      shell = new Shell(home, workspace, env)
    })
    after(() => shell.close())

    for (const block of blocks) {
      const {language, words, text, line} = block
      if (commands.includes(block))
        it(`line ${line}: ${text.split('\n')[0]}`, {timeout, skip: skipOf(block)}, () => runBlock(shell, text, words))
      else if (language !== 'console' && words.length > 0)
        it(`line ${line}: ${words[0]}`, {timeout}, async () => {
          if (words.includes('stopped')) await shell.stopAll()
          await writeBlock(join(workspace, words[0]!), text)
        })
    }

    it('has no block of an unknown kind', () => {
      for (const {language, words, line} of blocks) {
        const reason = words.find(isSkip)?.slice('skip='.length)
        if (reason !== undefined)
          assert.ok((skipReasons as readonly string[]).includes(reason), `line ${line}: ${reason}`)
        else assert.ok(language === 'console' || shownOnly.has(language), `line ${line}: ${language}`)
      }
    })
  })
}

async function runBlock(shell: Shell, text: string, words: readonly string[]): Promise<void> {
  const steps = stepsOf(text)
  const status = Number(words.find((word) => word.startsWith('exit='))?.slice('exit='.length) ?? 0)
  for (const [i, {command, output}] of steps.entries()) {
    if (words.includes('background')) {
      await shell.start(command, patternOf(output, {isPrefix: true}))
      continue
    }
    const result = await shell.run(command)
    assert.equal(result.status, i === steps.length - 1 ? status : 0, `$ ${command}\n${result.output}`)
    if (output !== '') assert.match(result.output, patternOf(output), `$ ${command}`)
  }
}

async function writeBlock(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), {recursive: true})
  await writeFile(file, text)
}
