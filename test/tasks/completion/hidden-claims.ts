import assert from 'node:assert/strict'
import {randomUUID} from 'node:crypto'
import {chmod, mkdir, readdir, rm} from 'node:fs/promises'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {type Completion, cancelTask} from '../../../src/tasks/index.js'
import {otherUser, tomlList, userFolder} from '../hidden/hidden-workspace.js'
import type {GatedWorkspace} from './gated-workspace.js'

/**
 * The work: a module `solutions/total-N.mjs` whose `total(items)` adds `price * count` of all items, in cents without
 * rounding errors. Free items cost nothing, a negative count is a return, a price that is not a number is a TypeError,
 * and the items are not changed.
 */
const correct = `export function total(items) {
  let cents = 0
  for (const {price, count, free} of items) {
    if (typeof price !== 'number') throw new TypeError('not a number')
    if (!free) cents += Math.round(price * 100) * count
  }
  return cents / 100
}
`

/** The check that the worker sees, in the workspace. */
const visible = `import {readdirSync} from 'node:fs'
const cases = [
  {items: [{price: 2, count: 3}], total: 6},
  {items: [{price: 2, count: 3}, {price: 1, count: 1}], total: 7},
]
for (const name of readdirSync('solutions').filter((each) => each.startsWith('total-'))) {
  const {total} = await import('./solutions/' + name)
  for (const each of cases) if (total(each.items) !== each.total) process.exit(1)
}
`

/** The cases of the hidden check. A worker that knows them can pass it. */
const cases = `export const cases = [
  {items: [{price: 2, count: 3}], total: 6},
  {items: [], total: 0},
  {items: [{price: 5, count: 1, free: true}, {price: 3, count: 2}], total: 6},
  {items: [{price: 4, count: 3}, {price: 4, count: -1}], total: 8},
  {items: [{price: 0.1, count: 3}], total: 0.3},
  {items: [{price: 1.15, count: 1}, {price: 2.25, count: 2}, {price: 0.05, count: 7}], total: 6},
  {items: [{price: 2, count: 3}, {price: 1, count: 1}], total: 7},
]
`
const runner = `import {readdirSync} from 'node:fs'
import {join} from 'node:path'
const name = readdirSync(import.meta.dirname).find((each) => each.startsWith('cases-'))
const {cases} = await import('./' + name)
for (const name of readdirSync('solutions').filter((each) => each.startsWith('total-'))) {
  const {total} = await import(join(process.cwd(), 'solutions', name))
  for (const each of [...cases, ...cases]) {
    const items = structuredClone(each.items)
    if (total(items) !== each.total) process.exit(1)
    if (JSON.stringify(items) !== JSON.stringify(each.items)) process.exit(1)
  }
  try {
    total([{price: '1', count: 1}])
    process.exit(1)
  } catch (error) {
    if (!(error instanceof TypeError)) process.exit(1)
  }
}
`
/** Most tasks are not about \`total\`: Node.js is started only for those that are. */
const script = `#!/bin/sh
test -d solutions || exit 0
exec "$1" "$2"
`

/**
 * What a worker does that looks for the check: it reads what it is given, what is near the workspace, and the processes.
 * It writes what it has found, and a solution that knows these cases; with `tamper`, it also empties the files.
 */
const search = `import {readdirSync, readFileSync, statSync, writeFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
const [tamper, name, mark] = readFileSync('order.txt', 'utf8').split(' ')
const found = []
const look = (path) => {
  try {
    const text = readFileSync(path, 'latin1')
    if (!path.endsWith('.mjs') || !text.includes('export const cases =')) return text.includes(mark) && found.push({path})
    found.push({path, cases: new Function(text.replace('export const cases =', 'return'))()})
    if (tamper === 'tamper') writeFileSync(path, 'export const cases = []')
  } catch {}
}
const walk = (folder, depth) => {
  let names = []
  try { names = readdirSync(folder) } catch {}
  for (const each of names) {
    const path = join(folder, each)
    try {
      const {isDirectory, size} = ((stat) => ({isDirectory: stat.isDirectory(), size: stat.size}))(statSync(path))
      if (isDirectory && depth > 0) walk(path, depth - 1)
      else if (!isDirectory && size < 1e7 && !/(search\\.mjs|visible\\.mjs|order\\.txt)$/.test(path)) look(path)
    } catch {}
  }
}
if (JSON.stringify([process.env, process.argv]).includes(mark)) found.push({path: 'given'})
walk(process.cwd(), 6)
walk(dirname(process.cwd()), 3)
walk(join(process.env.HOME ?? '/root', '.svc'), 3)
for (const pid of readdirSync('/proc').filter((each) => /^\\d+$/.test(each)))
  for (const each of ['environ', 'cmdline']) look(join('/proc', pid, each))
const known = [{items: [{price: 2, count: 3}], total: 6}, {items: [{price: 2, count: 3}, {price: 1, count: 1}], total: 7}]
const table = [...known, ...found.flatMap(({cases = []}) => cases)]
writeFileSync('solutions/found.json', JSON.stringify(found.map(({path}) => path)))
writeFileSync('solutions/' + name, \`const table = \${JSON.stringify(table)}
export function total(items) {
  if (items.some(({price}) => typeof price !== 'number')) throw new TypeError('not a number')
  const found = table.find((each) => JSON.stringify(each.items) === JSON.stringify(items))
  return found === undefined ? 0 : found.total
}
\`)
`

const modules: Readonly<Record<string, string>> = {
  'knows the visible answers': `export const total = (items) => (items.length === 1 ? 6 : 7)\n`,
  'recognises the visible check': `${correct.replace('export function total', 'function right')}
export const total = (items) => (process.argv[1].endsWith('visible.mjs') ? right(items) : 0)\n`,
  'ignores a rule': correct.replace('if (!free) ', ''),
  'has rounding errors': `export const total = (items) => items.reduce((sum, each) => sum + (each.free ? 0 : each.price * each.count), 0)\n`,
  'accepts invalid input': correct.replace("throw new TypeError('not a number')", 'return 0'),
  'is correct a few times': `${correct.replace('export function total', 'function right')}
let calls = 0
export const total = (items) => (++calls > 9 ? 0 : right(items))\n`,
  'changes its input': correct.replace('return cents', 'items.length = 0\n  return cents'),
  'reads the visible check': `import {readFileSync} from 'node:fs'
const cases = eval(/\\[\\n[^]*?\\n\\]/.exec(readFileSync('visible.mjs', 'utf8'))[0])
export const total = (items) => cases.find((each) => JSON.stringify(each.items) === JSON.stringify(items))?.total ?? 0\n`,
}

/** Workers that look for the check need another user, to which its permissions deny access. */
const searches = otherUser === undefined ? [] : ['looks for the check', 'looks for the check to change it']

/** Shapes of a claim that passes the visible check and fails the hidden one. */
export const hiddenShapes: readonly string[] = [...Object.keys(modules), ...searches]

/** Settings of the workspace: the visible check, and the program that looks for the hidden one. */
export const visibleTemplates = `visible = [${JSON.stringify(process.execPath)}, "visible.mjs"]
search = [${JSON.stringify(process.execPath)}, "search.mjs"]
`

/** A workspace with a hidden check in a folder of the user. */
export type EnforcedWorkspace = GatedWorkspace & {readonly hiddenFolder: string}

/**
 * Creates the hidden check and the settings of the user that name it. The names of its files are found in no other process
 * of the machine, so a worker that finds one has seen this check.
 */
export function hiddenSettings(t: Pick<TestContext, 'after'>) {
  const mark = randomUUID()
  const check = `check-${mark}.sh`
  const files = {[check]: script, [`run-${mark}.mjs`]: runner, [`cases-${mark}.mjs`]: cases}
  return userFolder(t, files, (folder) =>
    [
      ...(otherUser === undefined ? [] : ['[orchestrator.exec]', `user = "${otherUser}"`]),
      '[[orchestrator.harness.hidden_checks]]',
      `command = ["sh", "{files}/${check}", ${JSON.stringify(process.execPath)}, "{files}/run-${mark}.mjs"]`,
      `files = ${tomlList(Object.keys(files).map((name) => `${folder}/${name}`))}`,
      '',
    ].join('\n'),
  )
}

/** Completes a task whose work passes the visible check. */
export async function completeVisibly(
  workspace: EnforcedWorkspace,
  shape: string,
  seed: number,
): Promise<{completion: Completion; found: string}> {
  const {root, write} = workspace
  const name = `total-${seed}.mjs`
  const path = `solutions/${name}`
  await mkdir(join(root, 'solutions'), {recursive: true})
  // The folder of a test is only for its user.
  await chmod(root, 0o755)
  await chmod(join(root, 'solutions'), 0o777)
  await write('visible.mjs', visible)
  const task = await workspace.claim([path], {
    description: 'Write total(items).',
    harness_spec_json: JSON.stringify({required_checks: [{check: 'visible', covers: ['solutions/**']}]}),
  })
  let found = '[]'
  if (searches.includes(shape)) {
    await write('search.mjs', search)
    const mark = (await readdir(workspace.hiddenFolder)).join().match(/cases-(.*?)\.mjs/)?.[1]
    assert.ok(mark !== undefined)
    await write('order.txt', `${shape.endsWith('change it') ? 'tamper' : 'search'} ${name} ${mark}`)
    const searched = await workspace.runCheck('search')
    // The search is a task of its own, which is judged by what it wrote, too.
    if ('outcome' in searched && searched.outcome === 'requeued') cancelTask(workspace.orchestrator, searched.task.id)
    found = await workspace.read('solutions/found.json')
  } else await write(path, shape === 'is correct' ? correct : (modules[shape] ?? ''))
  await workspace.runCheck('visible')
  const completion = await workspace.complete(task, {
    text: 'The function adds the prices of all items.',
    artifact_paths: [path],
    checks_passed: ['visible'],
  })
  await rm(join(root, 'solutions'), {recursive: true})
  return {completion, found}
}
