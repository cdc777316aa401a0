import {readdirSync, readFileSync} from 'node:fs'
import {readFile, writeFile} from 'node:fs/promises'
import {pathToFileURL} from 'node:url'
import {isDeepStrictEqual} from 'node:util'
import {compile} from 'json-schema-to-typescript'
import {listContracts, type Schema} from '../../src/contracts/index.js'
import {projectFile} from '../support/project.js'

const target = projectFile('src/contracts/types.ts')
const banner = '// Generated from contracts/ by `npm run contracts`. Do not edit.\n'

/** The TypeScript types that the program and its tests import, with the types they depend on, as one module. */
export async function generateTypes(): Promise<string> {
  const schemas = await readSchemas()
  const parts = new Map<string, string>()
  const emit = async (name: string): Promise<void> => {
    const schema = schemas.get(name)
    if (schema === undefined || parts.has(name)) return
    const references: string[] = []
    // Reserves the position of the type before its references, and stops the recursion of a self-reference.
    parts.set(name, '')
    parts.set(name, await typeOf(schema, name, references))
    for (const reference of references) await emit(reference)
  }
  const imported = importedNames()
  for (const name of schemas.keys()) if (imported.has(name)) await emit(name)
  return `${banner}\n${[...parts.values()].join('\n')}`
}

/**
 * All contracts and their definitions, by type name.
 * @throws TypeError if two different schemas have the same name
 */
async function readSchemas(): Promise<ReadonlyMap<string, Schema>> {
  const schemas = new Map<string, Schema>()
  for (const {file} of await listContracts('schema')) {
    const {$id: _, title, $defs = {}, ...schema} = JSON.parse(await readFile(file, 'utf8'))
    for (const [name, definition] of Object.entries<Schema>({[title]: schema, ...$defs})) {
      const type = typeName(name)
      const known = schemas.get(type)
      if (known !== undefined && !isDeepStrictEqual(known, definition))
        throw new TypeError(`${file} and an earlier schema define ${name} differently`)
      schemas.set(type, definition)
    }
  }
  return schemas
}

async function typeOf(schema: Schema, name: string, references: string[]): Promise<string> {
  const type = await compile(withTypeNames(schema, references) as Schema, name, {
    bannerComment: '',
    style: {semi: false, singleQuote: true, bracketSpacing: false, objectWrap: 'collapse', printWidth: 120},
  })
  return type.replace(/\/\*\*\n *\* (.*)\n *\*\//g, '/** $1 */')
}

/**
 * The schema with type names instead of references, and without array lengths, which would produce a type per length, and
 * keys by their pattern, which would permit any member.
 * The names are added to `references`.
 */
function withTypeNames(value: unknown, references: string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => withTypeNames(item, references))
  if (typeof value !== 'object' || value === null) return value
  const {
    $ref,
    minItems: _,
    maxItems: __,
    patternProperties: ___,
    ...schema
  } = value as Readonly<Record<string, unknown>>
  if (typeof $ref === 'string') {
    const name = typeName($ref.replace('#/$defs/', ''))
    references.push(name)
    return {...schema, tsType: name}
  }
  return Object.fromEntries(Object.entries(schema).map(([key, item]) => [key, withTypeNames(item, references)]))
}

/** `plane_id`: PlaneId, `A2aSendV1`: A2ASendV1, as spelled by json-schema-to-typescript. */
const typeName = (name: string) => name.replace(/(^|_|(?<=\d))[a-z]/g, (start) => start.slice(-1).toUpperCase())

/** Names imported from the contracts module. */
function importedNames(): ReadonlySet<string> {
  const clauses = ['src', 'commands', 'test'].flatMap((folder) =>
    readdirSync(projectFile(folder), {recursive: true, encoding: 'utf8'})
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => [
        ...readFileSync(projectFile(`${folder}/${file}`), 'utf8').matchAll(
          /^(?:import|export) (?:type )?\{([^}]*)\} from '.*\/contracts\/index\.js'$/gm,
        ),
      ]),
  )
  return new Set(clauses.flatMap(([, names = '']) => names.match(/\w+/g) ?? []))
}

export const readTypes = () => readFile(target, 'utf8')

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await writeFile(target, await generateTypes())
