import assert from 'node:assert/strict'
import {readdirSync, readFileSync} from 'node:fs'
import {join, relative, resolve} from 'node:path'
import {describe, it} from 'node:test'
import {importsOf} from './support/imports.js'
import {projectFile} from './support/project.js'

/** The rooms of `src/`, ground floor first. A room imports the doors of lower floors, and nothing else. */
const floors: readonly (readonly string[])[] = [
  ['errors', 'config', 'contracts', 'log', 'store', 'net', 'process', 'files'],
  ['onnx', 'weights', 'audio', 'text', 'decode', 'thread', 'lang', 'telemetry', 'inference'],
  ['llm', 'speech', 'mesh', 'orchestrator', 'assistant'],
  ['operations', 'prove'],
  ['serve', 'speech-http', 'endpoints', 'lsp', 'mcp', 'daemon'],
  ['cli'],
]

/**
 * Arrows within a floor. On the ground floor every room may use the errors, and the servers of `net` log; above, the
 * orchestrator may use the mesh.
 */
const sideways = new Set([
  'config -> errors',
  'contracts -> errors',
  'contracts -> files',
  'store -> errors',
  'files -> errors',
  'net -> errors',
  'net -> log',
  'orchestrator -> mesh',
])

const src = projectFile('src')
const commands = projectFile('commands')

interface Import {
  file: string
  room: string
  target: string
  specifier: string
}

const floorOf = (room: string) => floors.findIndex((rooms) => rooms.includes(room))
const roomOf = (file: string) => relative(src, file).split('/')[0] ?? ''

function sources(folder: string): string[] {
  return readdirSync(folder, {recursive: true, encoding: 'utf8'})
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file))
}

function relativeImports(folder: string): Import[] {
  return sources(folder).flatMap((file) =>
    importsOf(readFileSync(file, 'utf8'))
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => ({file, room: roomOf(file), target: resolve(file, '..', specifier), specifier})),
  )
}

const acrossRooms = relativeImports(src).filter(({room, target}) => roomOf(target) !== room)
const describeImport = ({file, specifier}: Import) => `${relative(src, file)} imports ${specifier}`

describe('the house', () => {
  it('has only rooms that stand on a floor, each with a door that says what it is for', () => {
    const rooms = readdirSync(src, {withFileTypes: true})
    assert.ok(
      rooms.every((room) => room.isDirectory()),
      'src holds rooms alone',
    )
    for (const {name} of rooms) {
      assert.notEqual(floorOf(name), -1, `${name} stands on no floor`)
      assert.match(
        readFileSync(join(src, name, 'index.ts'), 'utf8'),
        /^\/\*\*/,
        `the door of ${name} has a head comment`,
      )
    }
  })

  it('has no import that goes up, or sideways but for the arrows that are named', () => {
    const wrong = acrossRooms.filter(({room, target}) => {
      const other = roomOf(target)
      return floorOf(other) >= floorOf(room) && !sideways.has(`${room} -> ${other}`)
    })
    assert.deepEqual(wrong.map(describeImport), [])
  })

  it('has no import that goes behind a door', () => {
    const isDoor = ({target}: Import) => /^[^/]+\/index\.js$/.test(relative(src, target))
    assert.deepEqual(acrossRooms.filter((found) => !isDoor(found)).map(describeImport), [])
    const fromCommands = relativeImports(commands).filter(({target}) => target.startsWith(src))
    assert.deepEqual(fromCommands.filter((found) => !isDoor(found)).map(describeImport), [])
  })

  it('has commands that load heavy rooms only when they run', () => {
    const light = ['cli', 'config', 'errors', 'files', 'operations']
    for (const file of sources(commands)) {
      const source = readFileSync(file, 'utf8')
      const eager = [...source.matchAll(/^import (?!type )[^;]*? from '(.*)'$/gm)].map((match) => match[1] ?? '')
      const heavy = eager.filter((specifier) => {
        const target = resolve(file, '..', specifier)
        return specifier.startsWith('.') && target.startsWith(src) && !light.includes(roomOf(target))
      })
      assert.deepEqual(heavy, [], relative(commands, file))
    }
  })

  it('has no circle of files', () => {
    const graph = new Map<string, string[]>()
    for (const {file, target} of relativeImports(src).filter(isStatic)) {
      const source = target.replace(/\.js$/, '.ts')
      graph.set(file, [...(graph.get(file) ?? []), source])
    }
    assert.deepEqual(findCircle(graph), [])
  })
})

/** Types are gone when the program runs, so an `import type` closes no circle. */
function isStatic({file, specifier}: Import): boolean {
  const statements = readFileSync(file, 'utf8').match(/^(import|export)[\s\S]*?from '.*'$/gm) ?? []
  return statements.some(
    (statement) => statement.endsWith(`from '${specifier}'`) && !/^(import|export) type/.test(statement),
  )
}

function findCircle(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): string[] => {
    const at = path.indexOf(file)
    if (at !== -1) return [...path.slice(at), file].map((each) => relative(src, each))
    if (done.has(file)) return []
    for (const next of graph.get(file) ?? []) {
      const circle = visit(next, [...path, file])
      if (circle.length > 0) return circle
    }
    done.add(file)
    return []
  }
  for (const file of graph.keys()) {
    const circle = visit(file, [])
    if (circle.length > 0) return circle
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
