/**
 * Bundles the compiled executable: the entry file, the help, one entry per command, and the programs of threads and child
 * processes, so that svc reads a few files at startup instead of hundreds. The library exports are not bundled.
 */
import {cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs'
import {isBuiltin} from 'node:module'
import {dirname, join, relative, resolve} from 'node:path'
import {rolldown} from 'rolldown'

/** Packages that stay in `node_modules`: native code, and WebAssembly under other licences. */
const external = [
  /^better-sqlite3/,
  'onnxruntime-node',
  'sqlite-vec',
  /^@wasm-audio-decoders\//,
  'mpg123-decoder',
  'opus-decoder',
  'typescript',
]

/** How a module refers to the program of a thread or child process. */
const programUrl = /new URL\('(\.\/[\w-]+\.js)', import\.meta\.url\)/g

/** Name of a program in the bundle. @param path relative to `src` */
const programName = (path) => path.replaceAll(/[\\/]/g, '-').slice(0, -'.js'.length)

/** Rewrites the URL of each program to its file in the bundle. @param folder of the programs, relative to that of the build */
const locatePrograms = (src, folder) => ({
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
      file.code = file.code.replaceAll('bundle:programs/', `${up}${folder}`)
    }
  },
})

/**
 * Rewrites the wrappers of CommonJS modules to function expressions in parentheses. V8 compiles these eagerly, so they are
 * in the compile cache; it would compile arrow functions again at each start.
 */
const compileWrappersAtOnce = {
  name: 'compile-wrappers-at-once',
  generateBundle(_, files) {
    for (const file of chunksOf(files))
      file.code = file.code.replaceAll(/\b(__commonJS(?:Min)?)\(\(\(?([\w$,]*)\)?=>\{/g, '$1((function($2){')
  },
}

const builtinImport = /\bimport ?(?:([\w$]+) ?,?)?(?:\*as ([\w$]+) )?(?:(\{[^}]*\}))?from"([\w:/]+)"/g

/**
 * Gets modules of Node.js without importing them. An import resolves a URL, and reads all exports, which loads, for example,
 * all of Web Cryptography for a hash. An export that Node.js does not have is undefined.
 */
const getBuiltins = {
  name: 'get-builtins',
  generateBundle(_, files) {
    for (const file of chunksOf(files))
      file.code = file.code.replaceAll(builtinImport, (whole, one, all, some, name) => {
        if (!isBuiltin(name)) return whole
        const names = [one, all, some?.replaceAll(' as ', ':')].filter((each) => each !== undefined)
        const value = `globalThis.process.getBuiltinModule("${name}")`
        return `const ${names.map((each) => `${each}=${value}`).join(',')}`
      })
  },
}

/** Compares the ids of commands, which are ASCII, by code units: the first comparison by language takes milliseconds. */
const compareIds = {
  name: 'compare-ids',
  transform: {
    filter: {id: /[\\/]@oclif[\\/]core[\\/]lib[\\/]config[\\/]plugin\.js$/},
    handler: (code) => code.replaceAll('a.id.localeCompare(b.id)', '(a.id < b.id ? -1 : 1)'),
  },
}

/** Lists the packages of each file in its first line, and adds them to `all`. */
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

/** The file that declares what a module of this project exports as `name`, and its name there. */
function declarationOf(file, name) {
  for (const [, list, from] of readFileSync(file, 'utf8').matchAll(/^export \{([^}]*)\} from '(\.[^']+)';$/gm))
    for (const [, inner, outer = inner] of list.matchAll(/(\w+)(?: as (\w+))?/g))
      if (outer === name) return declarationOf(resolve(dirname(file), from), inner)
  return {file, name}
}

/** Files that declare the names of an import, with the list of those names; `separator` precedes a local name. */
function declarationsOf(list, from, separator) {
  const byFile = new Map()
  for (const [, outer, local = outer] of list.matchAll(new RegExp(`(\\w+)(?:${separator}(\\w+))?`, 'g'))) {
    const {file, name} = declarationOf(from, outer)
    byFile.set(file, [...(byFile.get(file) ?? []), `${name}${separator}${local}`])
  }
  return Array.from(byFile, ([file, names]) => ({names: `{${names}}`, file: JSON.stringify(file)}))
}

/**
 * Imports from the files that declare a name instead of from the public interfaces of modules, because the bundler loads
 * all that an interface exports where one name of it is imported. An `import()` is rewritten only for `weights`, whose names
 * are used one at a time: each further file that is imported so divides the bundle into more files.
 */
const importDeclarations = {
  name: 'import-declarations',
  transform: {
    filter: {code: /\/index\.js'/},
    handler: (code, id) =>
      code
        .replaceAll(/^import \{([^}]*)\} from '(\.[^']*\/index\.js)';$/gm, (_, list, from) =>
          declarationsOf(list, resolve(dirname(id), from), ' as ')
            .map(({names, file}) => `import ${names} from ${file};`)
            .join(''),
        )
        .replaceAll(/\bconst \{([^}]*)\} = await import\('(\.[^']*\/weights\/index\.js)'\);/g, (whole, list, from) => {
          const [{names, file}, ...others] = declarationsOf(list, resolve(dirname(id), from), ': ')
          return others.length > 0 ? whole : `const ${names} = await import(${file});`
        }),
  },
}

/** Packages that oclif requires to look for commands and plugins and to draw spinners, which svc does not do. */
const unused = ['cli-spinners', 'minimatch', 'tinyglobby']

/**
 * Makes the modules of oclif require others when they first use them, because few are used at startup. Packages that svc
 * does not use are not in the bundle: oclif would find them in `node_modules`.
 */
const requireLate = {
  name: 'require-late',
  transform: {
    filter: {id: /[\\/]@oclif[\\/]core[\\/]lib[\\/].*\.js$/},
    handler(code) {
      const names = []
      const declared = code.replaceAll(
        /^(?:const|var) (\w+) = ((?:__importDefault\()?)require\("([^"]+)"\)(\)?);$/gm,
        (_, name, before, file, after) => {
          names.push(name)
          const load = unused.includes(file)
            ? 'process.getBuiltinModule("node:module").createRequire(require.resolve("@oclif/core"))'
            : 'require'
          return `let ${name}$value; const ${name}$ = () => ${name}$value ??= ${before}${load}("${file}")${after};`
        },
      )
      if (names.length === 0) return code
      return declared.replaceAll(new RegExp(`\\b(${names.join('|')})\\b(?!\\$)`, 'g'), '($1$())')
    },
  },
}

const shims = '@modelcontextprotocol/server/_shims'

/** Loads the schema validator of the MCP library when it is first used: svc has one of its own. */
const loadValidatorLate = {
  name: 'load-validator-late',
  resolveId: {filter: {id: new RegExp(`^${shims}$`)}, handler: (id) => `\0${id}`},
  load: {
    filter: {id: new RegExp(`^\0${shims}$`)},
    handler: () => `import {createRequire} from 'node:module'
export {default as process} from 'node:process'
export class DefaultJsonSchemaValidator {
  #validator
  getValidator(schema) {
    const load = createRequire(import.meta.url)
    this.#validator ??= new (load('@modelcontextprotocol/server/validators/ajv').AjvJsonSchemaValidator)()
    return this.#validator.getValidator(schema)
  }
}
`,
  },
}

const chunksOf = (files) => Object.values(files).filter(({type}) => type === 'chunk')

/** The package that a file belongs to; undefined for files of this project. */
function packageOf(file) {
  const folder = /.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file.replaceAll('\\', '/'))?.[0]
  if (folder === undefined) return undefined
  const {name, version, license} = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return {id: `${name}@${version}`, license, folder}
}

/** The direct and transitive dependencies of this package. */
function installedPackages(root) {
  const found = new Map()
  const visit = (folder) => {
    const {dependencies = {}} = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    for (const name of Object.keys(dependencies)) {
      const path = [folder, root].map((from) => join(from, 'node_modules', name)).find((path) => existsSync(path))
      if (path === undefined || found.has(path)) continue
      found.set(path, packageOf(join(path, 'package.json')))
      visit(path)
    }
  }
  visit(root)
  return [...found.values()]
}

/** The notice for LGPL packages, which users must be able to replace. */
function copyleftNotice(root) {
  const packages = installedPackages(root).filter(({license}) => /GPL|MPL/.test(license))
  return `Packages under the GNU Lesser General Public License. They are not part of the bundle: each is a separate package in
node_modules, can be replaced there with another version, and includes its license or a link to its source.

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

/**
 * Entries of the executable. `log` is one of them so that tests can run many command lines in one process, and `speech` so
 * that the bundler does not put parts of it into operations on speech, with all that those import.
 */
const executable = (compiled) => ({
  svc: join(compiled, 'src/cli/start.js'),
  main: join(compiled, 'src/cli/main.js'),
  help: join(compiled, 'src/cli/help.js'),
  log: join(compiled, 'src/log/index.js'),
  speech: join(compiled, 'src/speech/index.js'),
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

/** Bundles a compiled tree into its subfolder `bundle`. */
export async function bundle(compiled) {
  const src = join(compiled, 'src')
  const packages = new Map()
  const write = async (input, dir, programs, groups = []) => {
    const build = await rolldown({
      input,
      cwd: compiled,
      platform: 'node',
      external,
      // Its CommonJS build hides its imports from bundlers.
      resolve: {alias: {'jsonc-parser': 'jsonc-parser/lib/esm/main.js'}},
      plugins: [
        importDeclarations,
        requireLate,
        loadValidatorLate,
        locatePrograms(src, programs),
        compileWrappersAtOnce,
        getBuiltins,
        compareIds,
        namePackages(packages),
      ],
      // All modules of this project except one have no side effects, so that a command loads only those it uses.
      treeshake: {moduleSideEffects: [{test: /[\\/]src[\\/](?!onnx[\\/]environment)/, sideEffects: false}]},
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
      minify: {compress: false, mangle: {toplevel: false, keepNames: true}, codegen: {removeWhitespace: true}},
    })
    await build.close()
  }
  const folder = join(compiled, 'bundle')
  // Modules that nearly every command loads go into one file.
  await write(executable(compiled), folder, 'programs/', [{name: 'base', minShareCount: 60}])
  // A separate build: loading a program of a thread has side effects, which must not be in a file of the main thread.
  await write(programsOf(src), join(folder, 'programs'), '')
  const licences = [...packages].sort().map(([, found]) => licenceOf(found))
  const notices = [copyleftNotice(dirname(compiled)), ...licences].join(`\n${'-'.repeat(80)}\n\n`)
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES.txt'), notices)
}

/** Folders below `src` with the static files of pages that servers send, and the modules of their scripts. */
const pages = ['app-server/page', 'dashboard/page', 'mesh/dashboard/page', 'speech-server/page']

/**
 * Writes the document and the style of each page, with the common parts, next to the compiled modules, and bundles its
 * script, which may import modules in TypeScript, into one file.
 */
export async function bundlePages(source, compiled) {
  for (const page of pages) {
    const [from, to] = [join(source, page), join(compiled, 'src', page)]
    mkdirSync(to, {recursive: true})
    const parts = join(source, 'pages/parts')
    const text = (folder, name) => readFileSync(join(folder, name), 'utf8')
    const head = `<head>\n${text(parts, 'head.html')}`
    writeFileSync(join(to, 'index.html'), text(from, 'index.html').replace('<head>\n', head))
    writeFileSync(join(to, 'style.css'), text(parts, 'base.css') + text(from, 'style.css'))
    const build = await rolldown({
      input: join(from, 'script', 'start.js'),
      resolve: {extensionAlias: {'.js': ['.ts', '.js']}},
      checks: {pluginTimings: false},
    })
    await build.write({file: join(to, 'script.js'), format: 'iife', strict: true, minify: true})
    await build.close()
  }
}

/** Folders below `src` with files that modules read when they are first used. */
const assets = ['mesh/store/postgres/sql']

/** Copies the files of modules next to the compiled modules. */
export function copyAssets(source, compiled) {
  for (const folder of assets) cpSync(join(source, folder), join(compiled, 'src', folder), {recursive: true})
}
