import type {Program} from '../check/index.js'
import {preludeNames} from './functions-prelude.js'

const words = (text: string) => text.trim().split(/\s+/)

/**
 * Words that TypeScript does not accept as the name of a function or type in a module, and `then`. A module with a
 * function of this name cannot be imported dynamically, since it would be called.
 */
const reservedWords = words(`
then arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function
if implements import in instanceof interface let new null package private protected public return static super switch this throw true
try typeof undefined var void while with yield`)

/** The same for types. */
const reservedTypes = words(
  'any as bigint boolean from infer keyof never number object readonly string symbol unique unknown',
)

/** Names that client.ts, schemas.ts and types.ts define or use. */
const clientNames = words(`
apiBase baseUrl configureSvcApiBase encodeURIComponent Error fetch Headers JSON longestUrl Object parseWireError Partial Pick post Promise query Record
RequestInit schemas send SvcApiError SvcWireError z`)

/** Names that functions.ts defines or uses. */
const functionsNames = [...preludeNames, ...words('Array Error JSON Map Math Number Object Record Set String')]

const inClient = new Set([...reservedWords, ...clientNames])
const inFunctions = new Set([...reservedWords, ...functionsNames])
const ofTypes = new Set([...inClient, ...inFunctions, ...reservedTypes])

/** The name of a type in generated TypeScript. Names of the language never contain `$`, so a new name is unique. */
export const typeName = (name: string): string => (ofTypes.has(name) ? `${name}$` : name)

/** Returns the names of functions in a generated file, in which types of the program have other names. */
function functionNames({sums, records, tables}: Program, reserved: ReadonlySet<string>): (name: string) => string {
  const types = new Set([...sums, ...records, ...tables].map(({name}) => name))
  return (name) => {
    if (types.has(name)) return `${name}$fn`
    return reserved.has(name) ? `${name}$` : name
  }
}

export const clientFunctionNames = (program: Program) => functionNames(program, inClient)
export const portableFunctionNames = (program: Program) => functionNames(program, inFunctions)

/** The statement that imports the types that occur in a text, or nothing. */
export function importTypes({sums, records, tables}: Program, text: string): string[] {
  const found = new Set(text.match(/[\w$]+/g))
  const used = [...sums, ...records, ...tables].map(({name}) => typeName(name)).filter((name) => found.has(name))
  return used.length === 0 ? [] : [`import type { ${used.join(', ')} } from "./types.js";`]
}
