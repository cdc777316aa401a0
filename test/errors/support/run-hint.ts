import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {orchWorkspace} from '../../support/orch-workspace.js'
import {projectFile} from '../../support/project.js'
import type {SvcOptions, SvcResult} from '../../support/svc.js'
import {writeFiles} from '../../support/temporary.js'
import {commandsIn, isPlaceholder, wordsOf} from './commands.js'
import type {HintCase, Step} from './hint-cases.js'
import {runProgram, type World} from './hint-states.js'
import type {TextCase} from './text-cases.js'

/** Commands that run until they are stopped. */
const longRunning = /^(serve|mesh serve|mesh join|daemon run)\b/

/** Environment with which commands use each server. */
export type Servers = Readonly<Record<'mesh' | 'hub', Readonly<Record<string, string>>>>

/** Brings about an error, runs the commands of its printed hint as printed, and checks what they do. */
export const runHint = (test: TestContext, servers: Servers, code: string, hintCase: HintCase): Promise<void> =>
  run(test, servers, hintCase, (result) => {
    const [shown, hint] = hintIn(result)
    assert.equal(shown, code, result.stdout + result.stderr)
    return {text: hint, commands: hintCase.sameAs === undefined ? commandsIn(hint) : []}
  })

/** Brings about a message that is not an error, and runs the command that it contains as it is printed. */
export const runText = (test: TestContext, servers: Servers, textCase: TextCase): Promise<void> =>
  run(test, servers, textCase, ({stdout, stderr}) => {
    const text = stdout + stderr
    const {shown} = textCase
    const [command] = typeof shown === 'string' ? [text.includes(shown) ? shown : undefined] : (shown.exec(text) ?? [])
    assert.ok(command !== undefined, text)
    return {text, commands: [command]}
  })

async function run(
  test: TestContext,
  servers: Servers,
  hintCase: HintCase,
  read: (result: SvcResult) => {text: string; commands: readonly string[]},
): Promise<void> {
  const {
    steps,
    mend = {},
    fill = {},
    meanwhile = {},
    exits = [],
    input,
    lastEnv,
    prints,
    again,
    cleanup = [],
  } = hintCase
  const {world, workspace} = await worldOf(test, servers, hintCase)
  const perform = async (step: Step, options?: SvcOptions): Promise<SvcResult | undefined> =>
    typeof step === 'string' ? world.svc(step, options) : ((await step(world)) as SvcResult | undefined)
  const mustPerform = async (step: Step, options?: SvcOptions) => {
    const result = await perform(step, options)
    if (typeof step === 'string') assertSuccess(step, result)
  }
  for (const step of steps.slice(0, -1)) await mustPerform(step)
  const last = steps.at(-1) as Step
  const result = await perform(last, {env: {...world.env, ...lastEnv}, ...(input && {input})})
  assert.ok(result !== undefined)
  const {text, commands} = read(result)

  await writeFiles(world.cwd, mend.files ?? {})
  Object.assign(world.env, mend.env)
  await mend.act?.(world)
  let output = ''
  let made: Buffer | undefined
  const place = hintCase.folder === undefined ? {env: world.env} : world.at(hintCase.folder)
  for (const [i, line] of commands.entries()) {
    const {words, env} = wordsIn(line, fill)
    const [program = '', ...args] = words
    const options = {...place, env: {...place.env, ...env}}
    if (program === 'npm') {
      // It would change this installation, from a registry.
      assertNpm(args)
      continue
    }
    if (program !== 'svc') {
      made = await runProgram(words, input ?? '')
      output += made.toString('utf8')
      continue
    }
    const going = workspace.startInTurn(args, options)
    if (longRunning.test(args.join(' '))) {
      while (going.lines.length === 0 && !/Listening on/.test(going.stderr())) await going.told()
      output += going.lines.join('\n') + going.stderr()
      assert.equal(await going.end('SIGTERM'), 0, going.stderr())
      continue
    }
    for (const step of meanwhile[i] ?? []) await mustPerform(step)
    const {stdout, stderr, exitCode} = await going.ended
    assert.ok([exits[i] ?? 0].flat().includes(exitCode ?? -1), `${line}: ${exitCode}: ${stderr}`)
    output += stdout
  }
  if (prints !== undefined) assert.match(output, prints, text)
  if (again) assertSuccess('again', await perform(last, made === undefined ? undefined : {env: world.env, input: made}))
  for (const step of cleanup) assertSuccess('cleanup', await perform(step))
}

async function worldOf(test: TestContext, servers: Servers, {toml = '', files = {}, env = {}, ...more}: HintCase) {
  const workspace = await orchWorkspace(test, toml)
  const {cwd} = workspace
  await writeFiles(cwd, files)
  const homeIn = (folder: string) => ({HOME: folder, SVC_DATA_DIR: join(folder, 'data')})
  const found: Record<string, string> = {}
  const wordsWith = (line: string) =>
    wordsOf(line).map((word) => word.replaceAll(/\{([A-Z]+)\}/g, (whole, name: string) => found[name] ?? whole))
  const world: World = {
    cwd,
    env: {...(more.with === undefined ? {} : servers[more.with]), ...homeIn(cwd), ...env},
    found,
    at: (folder) => ({cwd: join(cwd, folder), env: {...world.env, ...homeIn(join(cwd, folder))}}),
    svc: (line, options) => workspace.run(wordsWith(line), {env: world.env, ...options}),
    async text(line, options) {
      const result = await world.svc(line, options)
      assertSuccess(line, result)
      return result.stdout
    },
    start: (line, options) => workspace.startInTurn(wordsWith(line), {env: world.env, ...options}),
    alone: (line, options) => workspace.start(wordsWith(line), {env: world.env, ...options}),
    after: (end) => test.after(end as () => void),
  }
  return {world, workspace}
}

/** The code of an error and its hint: in text, as an explanation, or as JSON. */
function hintIn({stdout, stderr}: SvcResult): readonly [code: string, hint: string] {
  const printed =
    /\((\w+)\)\n {2}hint: (.*)\n$/.exec(stderr) ?? /^(\w+) \(exit status [\s\S]*\nFix: +(.*)\n$/.exec(stdout)
  if (printed !== null) return [printed[1] ?? '', printed[2] ?? '']
  const {code, remediation, hint = ''} = JSON.parse(stdout) as {code: string; remediation?: string; hint?: string}
  return [code, remediation ?? hint]
}

/** The words of a command with its placeholders filled in, and the variables before it. */
function wordsIn(line: string, fill: Readonly<Record<string, string>>) {
  const words = wordsOf(line).map((word) => {
    if (!isPlaceholder(word)) return word
    const value = fill[word]
    assert.ok(value !== undefined, `the case has no value for ${word}`)
    return value
  })
  const first = words.findIndex((word) => !/^[A-Z_]+=/.test(word))
  return {words: words.slice(first), env: Object.fromEntries(words.slice(0, first).map((word) => word.split('=', 2)))}
}

/** Checks that `npm run` names a script of this package, and `npm install` one of its dependencies. */
function assertNpm([verb = '', name = '']: readonly string[]): void {
  const {scripts, ...manifest} = JSON.parse(readFileSync(projectFile('package.json'), 'utf8')) as Record<string, object>
  const known = verb === 'run' ? scripts : {...manifest.dependencies, ...manifest.optionalDependencies}
  assert.ok(Object.hasOwn(known ?? {}, name), `npm ${verb} ${name}`)
}

function assertSuccess(line: string, result: SvcResult | undefined) {
  if (result === undefined) return
  assert.ok((result.exitCode ?? 1) === 0, `${line}: ${result.stderr}`)
}
