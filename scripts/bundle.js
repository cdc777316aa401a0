/**
 * Bundles the executable from the output of the compiler: the entry file, one entry for each command, and the programs
 * of threads and child processes. A start then reads a few files in the place of hundreds. The exports of the library
 * stay plain modules.
 */
import {copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs'
import {dirname, join, relative, resolve} from 'node:path'
import {rolldown} from 'rolldown'

/** Stay in `node_modules`: native code, WebAssembly under other licences, and what oclif finds by itself. */
const external = [
  /^better-sqlite3/,
  'onnxruntime-node',
  'sqlite-vec',
  '@oclif/plugin-autocomplete',
  /^@wasm-audio-decoders\//,
  'mpg123-decoder',
  'opus-decoder',
  'typescript',
]

/** How a module names the program of a thread or of a child process. */
const programUrl = /new URL\('(\.\/[\w-]+\.js)', import\.meta\.url\)/g

/** The name of a program in the bundle, from its path below `src`. */
const programName = (path) => path.replaceAll(/[\\/]/g, '-').slice(0, -'.js'.length)

/** Has each URL of a program point to its bundle. */
const locatePrograms = (src) => ({
  name: 'locate-programs',
  transform: {
    filter: {code: programUrl},
    handler: (code, id) =>
      code.replaceAll(programUrl, (_, path) => {
        const name = programName(relative(src, resolve(dirname(id), path)))
        return `new URL('bundle:programs/${name}.js', import.meta.url)`
      }),
  },
  generateBundle(_, files) {
    for (const file of chunksOf(files)) {
      const up = '../'.repeat(file.fileName.split('/').length - 1) || './'
      file.code = file.code.replaceAll('bundle:programs/', `${up}programs/`)
    }
  },
})

/**
 * Writes the wrappers of CommonJS modules as function expressions in parentheses. V8 compiles those at once, so that the
 * compile cache holds them; arrow functions it would compile again at each start.
 */
const compileWrappersAtOnce = {
  name: 'compile-wrappers-at-once',
  generateBundle(_, files) {
    for (const file of chunksOf(files))
      file.code = file.code.replaceAll(/\b(__commonJS(?:Min)?)\(\(\(?([\w$,]*)\)?=>\{/g, '$1((function($2){')
  },
}

/** Names the packages of each file on its first line, and collects them. */
const namePackages = (all) => ({
  name: 'name-packages',
  generateBundle(_, files) {
    for (const file of chunksOf(files)) {
      const packages = new Map(file.moduleIds.map(packageOf).flatMap((found) => (found ? [[found.id, found]] : [])))
      for (const [id, found] of packages) all.set(id, found)
      file.code = `// Packages: ${[...packages.keys()].sort().join(' ')}\n${file.code}`
    }
  },
})

const chunksOf = (files) => Object.values(files).filter(({type}) => type === 'chunk')

/** The name, the version and the folder of the package that a file belongs to; undefined for files of this project. */
function packageOf(file) {
  const folder = /.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file.replaceAll('\\', '/'))?.[0]
  if (folder === undefined) return undefined
  const {name, version, license} = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return {id: `${name}@${version}`, license, folder}
}

/** The packages that are installed with this one: its dependencies, and theirs. */
function installedPackages(root) {
  const found = new Map()
  const visit = (folder) => {
    const {dependencies = {}} = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    for (const name of Object.keys(dependencies)) {
      const place = [folder, root].map((from) => join(from, 'node_modules', name)).find((path) => existsSync(path))
      if (place === undefined || found.has(place)) continue
      found.set(place, packageOf(join(place, 'package.json')))
      visit(place)
    }
  }
  visit(root)
  return [...found.values()]
}

/** Parts under the LGPL, which are installed next to the program and can be replaced there. */
function copyleftNotice(root) {
  const packages = installedPackages(root).filter(({license}) => /GPL|MPL/.test(license))
  return `Packages under the GNU Lesser General Public License. They are not part of the bundle: each is a package of its own in
node_modules, can be replaced there by another version, and comes with its license or a link to its source.

${packages.map(({id, license}) => `${id} (${license})`).join('\n')}
mpg123-decoder (MIT) contains libmpg123 (LGPL-2.1-only), https://www.mpg123.de, compiled to WebAssembly
`
}

function licenceOf({id, license, folder}) {
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
  return `${id} (${license})\n\n${files.map((file) => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n')}\n`
}

const filesOf = (folder) =>
  readdirSync(folder, {recursive: true, encoding: 'utf8'})
    .filter((file) => file.endsWith('.js'))
    .sort()

/** The executable; `log` is an entry so that tests can run many command lines in one process. */
const executable = (compiled) => ({
  svc: join(compiled, 'src/cli/start.js'),
  main: join(compiled, 'src/cli/main.js'),
  log: join(compiled, 'src/log/index.js'),
  ...Object.fromEntries(
    filesOf(join(compiled, 'commands')).map((file) => [
      `commands/${file.replaceAll('\\', '/').slice(0, -3)}`,
      join(compiled, 'commands', file),
    ]),
  ),
})

const programsOf = (src) =>
  Object.fromEntries(
    filesOf(src).flatMap((file) =>
      [...readFileSync(join(src, file), 'utf8').matchAll(programUrl)].map(([, path]) => {
        const program = join(dirname(file), path)
        return [programName(program), join(src, program)]
      }),
    ),
  )

/** Writes the bundle of a compiled tree to its folder `bundle`. */
export async function bundle(compiled) {
  const src = join(compiled, 'src')
  const packages = new Map()
  const write = async (input, dir, groups = []) => {
    const build = await rolldown({
      input,
      cwd: compiled,
      platform: 'node',
      external,
      // Its CommonJS build hides its imports from bundlers.
      resolve: {alias: {'jsonc-parser': 'jsonc-parser/lib/esm/main.js'}},
      plugins: [locatePrograms(src), compileWrappersAtOnce, namePackages(packages)],
      // Modules of this project act when they are called, but for one: a command loads only those that it uses.
      treeshake: {moduleSideEffects: [{test: /[\\/]src[\\/](?!onnx[\\/]no-telemetry)/, sideEffects: false}]},
      checks: {pluginTimings: false},
    })
    await build.write({
      dir,
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: 'chunks/[name]-[hash].js',
      hoistTransitiveImports: false,
      codeSplitting: {groups},
      keepNames: true,
      minify: {compress: false, mangle: false, codegen: {removeWhitespace: true}},
    })
    await build.close()
  }
  // Apart from each other: what a thread does when it is loaded must be in no file of the main thread.
  const folder = join(compiled, 'bundle')
  // What nearly every command loads is one file.
  await write(executable(compiled), folder, [{name: 'base', minShareCount: 60}])
  await write(programsOf(src), join(folder, 'programs'))
  const licences = [...packages].sort().map(([, found]) => licenceOf(found))
  const notices = [copyleftNotice(dirname(compiled)), ...licences].join(`\n${'-'.repeat(80)}\n\n`)
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES.txt'), notices)
}

/** Pages that servers send: static files below `src`, with a script of modules. */
const pages = ['mesh/dashboard/page']

/** Writes the files of each page next to the compiled modules, with the modules of its script as one file. */
export async function bundlePages(source, compiled) {
  for (const page of pages) {
    const [from, to] = [join(source, page), join(compiled, 'src', page)]
    mkdirSync(to, {recursive: true})
    for (const file of ['index.html', 'style.css']) copyFileSync(join(from, file), join(to, file))
    const build = await rolldown({input: join(from, 'script', 'start.js'), checks: {pluginTimings: false}})
    await build.write({file: join(to, 'script.js'), format: 'iife', strict: true})
    await build.close()
  }
}
