import assert from 'node:assert/strict'
import type {TestContext} from 'node:test'
import {orchWorkspace} from '../../support/orch-workspace.js'
import {writeFiles} from '../../support/temporary.js'
import {commandsIn, isPlaceholder, wordsOf} from './commands.js'
import type {HintCase} from './hint-cases.js'
import type {TextCase} from './text-cases.js'

/** Commands that run until they are stopped. */
const longRunning = /^(serve|mcp serve|mesh serve|mesh join|daemon run)\b/

/** Environment with which commands use each server. */
export type Servers = Readonly<Record<'mesh' | 'hub', Readonly<Record<string, string>>>>

/** Brings about an error, runs the commands of its printed hint as printed, and checks what they do. */
export async function runHint(
  test: TestContext,
  servers: Servers,
  code: string,
  {
    toml = '',
    files = {},
    env: given = {},
    steps,
    mend = {},
    fill = {},
    lastEnv,
    prints,
    exits = [],
    again,
    ...more
  }: HintCase,
): Promise<void> {
  const {cwd, run, startInTurn} = await orchWorkspace(test, toml)
  await writeFiles(cwd, files)
  let env: Record<string, string> = {
    ...(more.with === undefined ? {} : servers[more.with]),
    HOME: cwd,
    SVC_DATA_DIR: `${cwd}/data`,
    ...given,
  }
  const svc = (line: string, own = {}) => run(wordsOf(line), {env: {...env, ...own}})
  const failed = steps.at(-1) ?? ''
  for (const step of steps.slice(0, -1)) await mustRun(await svc(step), step)
  const {stdout: printed, stderr: complaint} = await svc(failed, lastEnv)
  const [, shown = '', hint = ''] = /\((\w+)\)\n {2}hint: (.*)\n$/.exec(complaint) ?? toolError(printed)
  assert.equal(shown, code, printed + complaint)

  await writeFiles(cwd, mend.files ?? {})
  env = {...env, ...mend.env}
  let output = ''
  for (const [i, line] of commandsIn(hint).entries()) {
    const [program, ...words] = wordsOf(line).map((word) => filledIn(word, fill))
    assert.equal(program, 'svc', hint)
    if (longRunning.test(words.join(' '))) {
      const going = startInTurn(words, {env})
      output += await going.line()
      assert.equal(await going.end('SIGTERM'), 0, going.stderr())
      continue
    }
    const {stdout, stderr, exitCode} = await run(words, {env})
    assert.equal(exitCode, exits[i] ?? 0, `${line}: ${stderr}`)
    output += stdout
  }
  if (prints !== undefined) assert.match(output, prints, hint)
  if (again) await mustRun(await svc(failed), `${failed}, again`)
  for (const step of more.cleanup ?? []) await mustRun(await svc(step), step)
}

/** The error that a tool answered with. */
function toolError(printed: string): readonly string[] {
  const {code, remediation} = JSON.parse(printed) as {code: string; remediation: string}
  return [printed, code, remediation]
}

function filledIn(word: string, fill: Readonly<Record<string, string>>): string {
  if (!isPlaceholder(word)) return word
  const value = fill[word]
  assert.ok(value !== undefined, `the case has no value for ${word}`)
  return value
}

async function mustRun({stderr, exitCode}: {stderr: string; exitCode: number | undefined}, line: string) {
  assert.equal(exitCode, 0, `${line}: ${stderr}`)
}

/** Brings about a message that is not an error, and runs the command that it contains as it is printed. */
export async function runText(test: TestContext, {shown, ...textCase}: TextCase): Promise<void> {
  const {toml = '', files = {}, mend = {}, fill = {}, steps, cleanup = []} = textCase
  const {cwd, run} = await orchWorkspace(test, toml)
  await writeFiles(cwd, files)
  const env = {HOME: cwd, SVC_DATA_DIR: `${cwd}/data`}
  const svc = (line: string) => run(wordsOf(line), {env})
  for (const step of steps.slice(0, -1)) await mustRun(await svc(step), step)
  const {stdout, stderr} = await svc(steps.at(-1) ?? '')
  assert.ok((stdout + stderr).includes(shown), stdout + stderr)
  await writeFiles(cwd, mend.files ?? {})
  const words = wordsOf(shown).map((word) => filledIn(word, fill))
  await mustRun(await run(words.slice(1), {env}), shown)
  for (const step of cleanup) await mustRun(await svc(step), step)
}
