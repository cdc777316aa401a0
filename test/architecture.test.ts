import assert from 'node:assert/strict'
import {readdirSync, readFileSync} from 'node:fs'
import {join, relative, resolve} from 'node:path'
import {describe, it} from 'node:test'
import {importsOf} from './support/imports.js'
import {projectFile} from './support/project.js'

const src = projectFile('src')
const commands = projectFile('commands')

/** The modules of `src/` in layers, the lowest first, as the table in CONTRIBUTING.md lists them. */
const layers = readFileSync(projectFile('CONTRIBUTING.md'), 'utf8')
  .split('\n')
  .flatMap((line) => /^\| \d+ +\| (.*) \|$/.exec(line)?.[1] ?? [])
  .map((cell) => cell.split(' · ').flatMap((module) => /^`([\w-]+)`:/.exec(module)?.[1] ?? []))
  .reverse()

const layerOf = (module: string) => layers.findIndex((modules) => modules.includes(module))

interface Import {
  /** Path of the importing file, relative to the folder of the sources, without the extension. */
  from: string
  to: string
}

/** Every import of one source by another, `import type` and `import()` included. */
function importsIn(folder: string): Import[] {
  return sources(folder).flatMap((file) =>
    importsOf(readFileSync(file, 'utf8'))
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => ({from: withoutExtension(file), to: withoutExtension(resolve(file, '..', specifier))})),
  )
}

const sources = (folder: string): string[] =>
  readdirSync(folder, {recursive: true, encoding: 'utf8'})
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file))

const withoutExtension = (path: string) => relative(src, path).replace(/\.(ts|js)$/, '')

const imports = importsIn(src)
const moduleOf = (path: string) => path.split('/')[0] ?? ''
const betweenModules = imports.filter(({from, to}) => moduleOf(from) !== moduleOf(to))
const describeImport = ({from, to}: Import) => `${from} imports ${to}`
const isPublicApi = (path: string) => /^[^/]+\/index$/.test(path)

describe('the modules of src', () => {
  const modules = readdirSync(src, {withFileTypes: true})

  it('are those in the table of CONTRIBUTING.md', () => {
    assert.deepEqual(modules.map(({name}) => name).sort(), layers.flat().sort())
    assert.ok(modules.every((entry) => entry.isDirectory()))
  })

  it('each have a public API with a head comment', () => {
    for (const {name} of modules) assert.match(readFileSync(join(src, name, 'index.ts'), 'utf8'), /^\/\*\*/, name)
  })

  it('import modules of lower layers only', () => {
    const wrong = betweenModules.filter(({from, to}) => layerOf(moduleOf(to)) >= layerOf(moduleOf(from)))
    assert.deepEqual(wrong.map(describeImport), [])
  })

  it('import the public API of another module only, as commands do', () => {
    const fromCommands = importsIn(commands).filter(({to}) => !to.startsWith('..'))
    const wrong = [...betweenModules, ...fromCommands].filter(({to}) => !isPublicApi(to))
    assert.deepEqual(wrong.map(describeImport), [])
  })

  for (const {name} of modules)
    it(`${name}: the folders inside have layers, so that no two import each other`, () => {
      const partOf = (path: string) => path.split('/')[1] ?? ''
      const inside = imports.filter(
        ({from, to}) => moduleOf(from) === name && moduleOf(to) === name && partOf(from) !== partOf(to),
      )
      const edges = inside.map(({from, to}) => ({from: partOf(from), to: partOf(to)}))
      assert.deepEqual(findCycle(edges), [])
    })

  it('have no cycle of files, type imports included', () => {
    assert.deepEqual(findCycle(imports), [])
  })

  it('wait for the abort of a signal through src/process/abort.ts only', () => {
    const wrong = [src, commands].flatMap((folder) =>
      sources(folder).filter((file) => /(EventListener\(|once\(.*)'abort'/.test(readFileSync(file, 'utf8'))),
    )
    assert.deepEqual(wrong.map(withoutExtension), ['process/abort'], 'a signal that has aborted sends no event')
  })
})

describe('the tables of a module', () => {
  /** Tables by the module that declares them in its schema. */
  const owners = new Map<string, string>()
  for (const file of sources(src))
    for (const [, table = ''] of readFileSync(file, 'utf8').matchAll(
      /CREATE (?:VIRTUAL )?TABLE (?:IF NOT EXISTS )?(\w+)/g,
    ))
      if (table.includes('_')) owners.set(table, moduleOf(relative(src, file)))

  // Its table is in the schema of tasks, where it was first used; moving the declaration would change stored schemas.
  owners.set('mesh_delegations', 'delegation')

  it('occur in statements of that module only, except for a reason', () => {
    const foreign = sources(src).flatMap((file) => {
      const path = withoutExtension(file)
      const statements = readFileSync(file, 'utf8').matchAll(/\b(FROM|JOIN|INTO|UPDATE)\s+(\w+)/g)
      return [...statements].flatMap(([, verb = '', table = '']) => {
        const owner = owners.get(table)
        return owner === undefined || owner === moduleOf(path) ? [] : [{path, owner, verb, table}]
      })
    })
    const unexplained = foreign.filter(({path, owner}) => foreignStatements[`${path} on ${owner}`] === undefined)
    assert.deepEqual(
      unexplained.map(({path, verb, table}) => `${path}: ${verb} ${table}`),
      [],
      'move the statement into the module that declares the table',
    )
    const found = new Set(foreign.map(({path, owner}) => `${path} on ${owner}`))
    assert.deepEqual(
      Object.keys(foreignStatements).filter((key) => !found.has(key)),
      [],
      'no longer needed in the list',
    )
  })
})

/** Files with statements on tables of another module, each with the reason. */
const foreignStatements: Readonly<Record<string, string>> = {
  'cli/completion/stored-ids on mesh': 'shell completion reads ids without loading a module',
  'cli/completion/stored-ids on messages': 'shell completion reads ids without loading a module',
  'cli/completion/stored-ids on orchestrator': 'shell completion reads ids without loading a module',
  'cli/completion/stored-ids on plans': 'shell completion reads ids without loading a module',
  'cli/completion/stored-ids on sessions': 'shell completion reads ids without loading a module',
  'cli/completion/stored-ids on tasks': 'shell completion reads ids without loading a module',
  'cli/completion/stored-ids on workflow': 'shell completion reads ids without loading a module',
  'lang/run/change-log on store': 'the store shares the numbers of its restores',
  'messages/receiver on tasks': 'finds the retired agent of an old message',
  'orchestrator/operation-log/reversals on tasks': 'decides which operations can be undone, over all tables',
  'orchestrator/status-report on plans': 'counts over the tables of all modules',
  'orchestrator/status-report on tasks': 'counts over the tables of all modules',
  'plans/node-status on tasks': 'copies the duration of a task in one statement',
  'plans/replan on tasks': 'joins the tasks of a plan with their statuses',
  'prove/history/database-rows on mesh': 'an oracle reads what is stored, not what a module reports',
  'prove/history/orchestrator-rows on tasks': 'an oracle reads what is stored, not what a module reports',
  'prove/history/orchestrator-rows on delegation': 'an oracle reads what is stored, not what a module reports',
  'store/maintenance on lang': 'recognises what kind of database a file is',
  'tasks/base/restored on delegation': 'continues the generations of claims, wherever they are stored',
  'tasks/base/restored on store': 'the store shares the numbers of its restores',
  'tasks/completion/task-evidence on plans': 'shows the plan of a task, from a lower layer',
  'tasks/events/lineage on plans': 'shows the plan of a task, from a lower layer',
  'tasks/lifecycle/prune on orchestrator': 'deletes the operations of the tasks that it removes',
  'tasks/lifecycle/prune on plans': 'keeps the tasks of active plans, and detaches the others from their plans',
  'tasks/routing/place on plans': 'finds the agents that work for a workflow',
  'workflow/store/activities on tasks': 'looks for the task of an activity in one statement',
}

describe('the commands', () => {
  it('load heavy modules only when they run', () => {
    // `mesh`, `process` and `tasks` load no large package, and the bundle contains only what a command uses of them.
    const light = ['cli', 'config', 'errors', 'files', 'mesh', 'operations', 'process', 'tasks', 'workspace']
    for (const file of sources(commands)) {
      const source = readFileSync(file, 'utf8')
      const eager = [...source.matchAll(/^import (?!type )[^;]*? from '(.*)'$/gm)].map((match) => match[1] ?? '')
      const heavy = eager.filter((specifier) => {
        const target = resolve(file, '..', specifier)
        return specifier.startsWith('.') && target.startsWith(src) && !light.includes(moduleOf(relative(src, target)))
      })
      assert.deepEqual(heavy, [], relative(commands, file))
    }
  })
})

/** The nodes of one cycle, the first repeated at the end; empty where there is none. */
function findCycle(edges: readonly Import[]): string[] {
  const graph = new Map<string, string[]>()
  for (const {from, to} of edges) graph.set(from, [...(graph.get(from) ?? []), to])
  const done = new Set<string>()
  const visit = (node: string, path: readonly string[]): string[] => {
    const at = path.indexOf(node)
    if (at !== -1) return [...path.slice(at), node]
    if (done.has(node)) return []
    for (const to of graph.get(node) ?? []) {
      const cycle = visit(to, [...path, node])
      if (cycle.length > 0) return cycle
    }
    done.add(node)
    return []
  }
  for (const node of graph.keys()) {
    const cycle = visit(node, [])
    if (cycle.length > 0) return cycle
  }
  return []
}

describe('the lexer that reads imports', () => {
  const cases: readonly [string, string[]][] = [
    ["import {a} from './a.js'", ['./a.js']],
    ["import './effect.js'", ['./effect.js']],
    ['export * from "./b.js"', ['./b.js']],
    ["const c = await import('./c.js')", ['./c.js']],
    ["type D = import('./d.js').D", ['./d.js']],
    ["new Worker(new URL('./worker.js', import.meta.url))", ['./worker.js']],
    ["// import './no.js'", []],
    ["/* from './no.js' */ const s = \"from './no.js'\"", []],
    ["const t = `import './no.js'`", []],
    ["Array.from('./no.js')", []],
  ]
  for (const [source, expected] of cases) it(source, () => assert.deepEqual(importsOf(source), expected))
})
