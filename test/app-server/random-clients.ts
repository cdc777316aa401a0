/** Compares servers of random programs with their OpenAPI documents, and with clients that are generated from both. */
import assert from 'node:assert/strict'
import {mkdir, symlink, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {fileURLToPath, pathToFileURL} from 'node:url'
import {Validator} from '@seriousme/openapi-schema-validator'
import {Ajv2020} from 'ajv/dist/2020.js'
import {execa} from 'execa'
import createClient from 'openapi-fetch'
import {startAppServer} from '../../src/app-server/index.js'
import {checkProgram, clientFile, migrate, typesFile} from '../../src/lang/index.js'
import {configureLog} from '../../src/log/index.js'
import {compileTypeScript} from '../lang/compile-typescript.js'
import {projectFile} from '../support/project.js'
import {type Random, seeded} from '../support/random.js'
import {temporaryFolder} from '../support/temporary.js'
import {type Call, type Parameter, randomProgram} from './random-routes.js'

const routesPerProgram = 6

interface OpenApiParameter {
  name: string
  schema?: object
}
interface Operation {
  parameters?: OpenApiParameter[]
  responses: Record<string, {content?: Record<string, unknown>}>
}
interface Document {
  paths: Record<string, Record<string, Operation>>
}

interface Served {
  name: string
  seed: number
  baseUrl: string
  document: Document
  calls: readonly Call[]
  /** Whether JSON is valid for the schema at a place of the document. */
  isValid(json: unknown, ...place: readonly string[]): boolean
}

/** The functions that a generated module calls. */
interface GeneratedCalls {
  byDocument: ((client: ReturnType<typeof createClient>) => Promise<{
    data?: unknown
    error?: unknown
    response: Response
  }>)[]
  byOwnClient: ((() => Promise<unknown>) | undefined)[]
  configureSvcApiBase(base: string): void
}

/**
 * Generates programs, serves them, and calls every route with both clients. The document must be valid, both clients must
 * compile, and each response must have a documented status, a body that its schema allows, and the expected value.
 */
export async function compareClients(t: TestContext, programs: number, firstSeed: number): Promise<void> {
  // The failures that are provoked.
  configureLog({filter: 'off', format: 'text'})
  t.after(() => configureLog({filter: 'warn', format: 'auto'}))
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'api'))
  await symlink(projectFile('node_modules'), join(folder, 'node_modules'))
  const served: Served[] = []
  for (let seed = firstSeed; seed < firstSeed + programs; seed++) served.push(await serve(t, folder, seed))
  const documents = served.map(({name}) => join(folder, 'api', name, 'openapi.json'))
  await execa(process.execPath, [fileURLToPath(new URL('./openapi-types.js', import.meta.url)), ...documents])
  await compileTypeScript(folder)
  const failed: string[] = []
  for (const one of served)
    try {
      await compare(one, folder)
      await sendWrong(one, seeded(one.seed))
    } catch (error) {
      failed.push(`seed ${one.seed}: ${(error as Error).message}`)
    }
  assert.equal(failed.length, 0, failed.join('\n\n'))
}

async function serve(t: TestContext, folder: string, seed: number): Promise<Served> {
  const {source, calls} = randomProgram(seeded(seed), routesPerProgram)
  const program = checkProgram(source)
  assert.deepEqual(program.diagnostics, [], `seed ${seed}:\n${source}`)
  const name = `program${seed}`
  const path = join(folder, `${name}.db`)
  await migrate(program, path)
  const server = await startAppServer(program, {address: {host: '127.0.0.1', port: 0}, path, ports: {}, title: name})
  t.after(() => server.close(1000))
  const {baseUrl} = server
  const document = (await (await fetch(`${baseUrl}/_svc/openapi.json`)).json()) as Document
  const {valid, errors} = await new Validator().validate({...document})
  assert.ok(valid, `seed ${seed}: ${JSON.stringify(errors)}`)
  const ajv = new Ajv2020({strict: false})
  ajv.addSchema({$id: 'document', ...document})
  const isValid = (json: unknown, ...place: readonly string[]) => {
    const pointer = place.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
    const validate = ajv.getSchema(`document#/${pointer.join('/')}`)
    assert.ok(validate, pointer.join('/'))
    return validate(json) === true
  }
  const one = {name, seed, baseUrl, document, isValid}
  const documented = calls.filter((call) => hasDocumentedText(one, call))
  await mkdir(join(folder, 'api', name))
  for (const [file, text] of Object.entries({
    'openapi.json': JSON.stringify(document),
    'types.ts': typesFile(program),
    'client.ts': clientFile(program),
    'calls.ts': callsFile(documented, document),
  }))
    await writeFile(join(folder, 'api', name, file), text)
  return {...one, calls: documented}
}

const operationOf = ({document}: Pick<Served, 'document'>, {path, method}: Call): Operation => {
  const operation = document.paths[path]?.[method.toLowerCase()]
  assert.ok(operation, `${method} ${path} is documented`)
  return operation
}

/** Whether the document allows every argument that is sent as plain text, such as a segment of the path. */
function hasDocumentedText(one: Pick<Served, 'document' | 'isValid'>, call: Call): boolean {
  const {parameters = []} = operationOf(one, call)
  return parameters.every(({name, schema}, i) => {
    const place = ['paths', call.path, call.method.toLowerCase(), 'parameters', String(i), 'schema']
    return schema === undefined || call.args[name] === null || one.isValid(call.args[name], ...place)
  })
}

// Generated calls

/** The source of a module that calls every route, with literals as arguments. */
function callsFile(calls: readonly Call[], document: Document): string {
  const lines = calls.map((call) => {
    const {method, path, endpoint} = call
    const sent = `client.${method}(${JSON.stringify(path)}, ${optionsOf(call, operationOf({document}, call))})`
    const found = `paths['${path}']['${method.toLowerCase()}']['responses'][200]['content']['application/json']`
    // openapi-fetch makes arrays of tuples, so the type of the document is used.
    const as = operationOf({document}, call).responses[200] !== undefined ? ` as ${found} | undefined` : ''
    // What the document promises must be assignable to what the other client promises.
    const type = endpoint === undefined ? '' : `: Awaited<ReturnType<typeof own.${endpoint}>> | undefined`
    return `  async (client: Client<paths>) => {
    const { data: found, error, response } = await ${sent}
    const data${type} = found${as}
    return { data, error, response }
  },`
  })
  const own = calls.map(({endpoint, args, parameters}) =>
    endpoint === undefined
      ? '  undefined,'
      : `  () => own.${endpoint}(${parameters.length === 0 ? '' : JSON.stringify(withoutNull(args))}),`,
  )
  return `import type {Client} from 'openapi-fetch'
import * as own from './client.js'
import type {paths} from './openapi.js'

export const byDocument = [
${lines.join('\n')}
]
export const byOwnClient = [
${own.join('\n')}
]
export const configureSvcApiBase = own.configureSvcApiBase
`
}

const withoutNull = (args: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null))

function optionsOf({args, parameters}: Call, operation: Operation): string {
  const at = (place: Parameter['place']) =>
    Object.fromEntries(
      parameters
        .filter((each) => each.place === place && args[each.name] !== null)
        .map(({name}) => {
          const documented = operation.parameters?.find((each) => each.name === name)
          const isJson = place !== 'body' && documented?.schema === undefined
          return [name, isJson ? JSON.stringify(args[name]) : args[name]]
        }),
    )
  const has = (place: Parameter['place']) => parameters.some((each) => each.place === place)
  const options = {
    ...(has('path') || has('query')
      ? {params: {...(has('path') ? {path: at('path')} : {}), ...(has('query') ? {query: at('query')} : {})}}
      : {}),
    ...(has('body') ? {body: at('body')} : {}),
  }
  return JSON.stringify(options)
}

// Comparison

async function compare(one: Served, folder: string): Promise<void> {
  const {name, baseUrl, calls} = one
  const module = pathToFileURL(join(folder, 'out', name, 'calls.js')).href
  const {byDocument, byOwnClient, configureSvcApiBase} = (await import(module)) as GeneratedCalls
  configureSvcApiBase(baseUrl)
  const client = createClient({baseUrl})
  for (const [i, call] of calls.entries()) {
    const {method, path, status, json, args} = call
    const label = `${method} ${path} ${JSON.stringify(args)}`
    const {data, error, response} = (await byDocument[i]?.(client)) ?? assert.fail()
    const body = response.status < 300 ? data : error
    assert.deepEqual([response.status, status === 200 ? body : undefined], [status, json], label)
    checkResponse(one, call, response, body)
    // Inserts and deletes are not repeated.
    const own = /insert|rows/.test(path) && method !== 'GET' ? undefined : byOwnClient[i]
    if (own === undefined) continue
    const result = await own().then(
      (value) => ({status: value === undefined ? 204 : 200, value}),
      (thrown: {status?: number}) => ({status: thrown.status ?? String(thrown), value: undefined}),
    )
    assert.deepEqual(result, {status, value: json}, `${label} of the client`)
  }
}

/** Checks that the document has the status, and the body and content type of a response. */
function checkResponse(one: Served, call: Call, response: Response, body: unknown): void {
  const {method, path} = call
  const label = `${method} ${path} with status ${response.status}`
  const documented = operationOf(one, call).responses[response.status]
  assert.ok(documented, `${label} is documented`)
  const type = response.headers.get('content-type')?.split(';')[0]
  assert.deepEqual(Object.keys(documented.content ?? {}), type === undefined ? [] : [type], label)
  if (type === undefined) return
  const place = ['paths', path, method.toLowerCase(), 'responses', `${response.status}`, 'content', type, 'schema']
  assert.ok(one.isValid(body, ...place), `${label}: ${JSON.stringify(body)}`)
}

const oddities = [true, 0, 1.5, -3, 2 ** 53, '', 'x', '1.5', 'AAE', 'AAE=', [], [1, 'x'], {}, {_tag: 'Open'}, {a: 1}]

/** The arguments of a call, one of them replaced or changed. */
function withOddity(random: Random, args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const name = random.pick(Object.keys(args))
  const value = args[name]
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (isObject && random.chance(0.5)) {
    const keys = Object.keys(value)
    return random.chance(0.5) || keys.length === 0
      ? {...args, [name]: {...value, extra: 1}}
      : {...args, [name]: Object.fromEntries(Object.entries(value).filter(([key]) => key !== keys[0]))}
  }
  return {...args, [name]: random.pick(oddities)}
}

/** Sends bodies that may be wrong: the server must reject exactly those that the document does not allow. */
async function sendWrong(one: Served, random: Random): Promise<void> {
  const {baseUrl, calls} = one
  const inBody = calls.filter(
    ({parameters, path, status}) =>
      status !== 500 && path !== '/api/mutation/insert' && parameters.every(({place}) => place === 'body'),
  )
  for (const call of inBody.filter(({parameters}) => parameters.length > 0)) {
    const {method, path, args} = call
    const body = withOddity(random, withoutNull(args))
    const isAllowed = one.isValid(body, ...['paths', path, method.toLowerCase()], ...bodySchema)
    const response = await fetch(baseUrl + path, {
      method,
      headers: {'content-type': 'application/json'},
      body: JSON.stringify(body),
    })
    const text = await response.text()
    assert.equal(
      response.status !== 400,
      isAllowed,
      `${method} ${path} ${JSON.stringify(body)}: ${response.status} ${text}`,
    )
    checkResponse(one, call, response, text === '' ? undefined : JSON.parse(text))
  }
}

const bodySchema = ['requestBody', 'content', 'application/json', 'schema']
