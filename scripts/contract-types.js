/**
 * Writes `src/contracts/types.ts`: the TypeScript types of `contracts/` that the program and its tests import, with the types
 * they depend on. Two schemas may define the same name only if they define it in the same way.
 */
import {createHash} from 'node:crypto'
import {existsSync, readdirSync, readFileSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {isDeepStrictEqual} from 'node:util'

/** Does nothing if neither the schemas, the imports nor this program have changed. @throws TypeError if definitions differ */
export async function writeContractTypes(root) {
  const files = filesIn(join(root, 'contracts'), '.schema.json')
  const imported = importedNames(root)
  const program = readFileSync(fileURLToPath(import.meta.url), 'utf8')
  const digest = createHash('sha256')
    .update(JSON.stringify([program, files, [...imported].sort()]))
    .digest('hex')
  const head = `// Generated from contracts/ by the build. ${digest}\n`
  const target = join(root, 'src/contracts/types.ts')
  if (existsSync(target) && readFileSync(target, 'utf8').startsWith(head)) return
  const schemas = schemasIn(files)
  // Types that references add are visited, too.
  const names = new Set([...schemas.keys()].filter((name) => imported.has(name)))
  const types = []
  for (const name of names) if (schemas.has(name)) types.push(await typeOf(name, schemas.get(name), names))
  writeFileSync(target, `${head}\n${types.join('\n')}`)
}

const filesIn = (folder, ending) =>
  readdirSync(folder, {recursive: true, encoding: 'utf8'})
    .filter((file) => file.endsWith(ending))
    .sort()
    .map((file) => ({file, text: readFileSync(join(folder, file), 'utf8')}))

/** Names that are imported from the contracts module. */
function importedNames(root) {
  const clause = /^(?:import|export) (?:type )?\{([^}]*)\} from '.*\/contracts\/index\.js'$/gm
  const texts = ['src', 'commands', 'test'].flatMap((folder) => filesIn(join(root, folder), '.ts'))
  return new Set(
    texts.flatMap(({text}) => [...text.matchAll(clause)]).flatMap(([, names]) => names.match(/\w+/g) ?? []),
  )
}

/** All contracts and their definitions, by type name. */
function schemasIn(files) {
  const schemas = new Map()
  for (const {file, text} of files) {
    const {$id: _, title, $defs = {}, ...schema} = JSON.parse(text)
    for (const [name, definition] of Object.entries({[title]: schema, ...$defs})) {
      const type = typeName(name)
      if (schemas.has(type) && !isDeepStrictEqual(schemas.get(type), definition))
        throw new TypeError(`contracts/${file} and an earlier schema define ${name} differently`)
      schemas.set(type, definition)
    }
  }
  return schemas
}

/** Adds the names of types that it refers to. */
async function typeOf(name, schema, names) {
  // Imported here, because a build that has nothing to generate should not load it.
  const {compile} = await import('json-schema-to-typescript')
  const type = await compile(withTypeNames(schema, names), name, {
    bannerComment: '',
    style: {semi: false, singleQuote: true, bracketSpacing: false, objectWrap: 'collapse', printWidth: 120},
  })
  return type.replace(/\/\*\*\n *\* (.*)\n *\*\//g, '/** $1 */')
}

/**
 * The schema with type names instead of references, and without array lengths, which would produce a type per length, and
 * keys by their pattern, which would permit any member.
 */
function withTypeNames(value, names) {
  if (Array.isArray(value)) return value.map((item) => withTypeNames(item, names))
  if (typeof value !== 'object' || value === null) return value
  const {$ref, minItems: _, maxItems: __, patternProperties: ___, ...schema} = value
  if (typeof $ref !== 'string')
    return Object.fromEntries(Object.entries(schema).map(([key, item]) => [key, withTypeNames(item, names)]))
  const name = typeName($ref.replace('#/$defs/', ''))
  names.add(name)
  return {...schema, tsType: name}
}

/** `plane_id`: PlaneId, `A2aSendV1`: A2ASendV1, as spelled by json-schema-to-typescript. */
const typeName = (name) => name.replace(/(^|_|(?<=\d))[a-z]/g, (start) => start.slice(-1).toUpperCase())
