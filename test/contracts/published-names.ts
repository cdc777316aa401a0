import {readFileSync} from 'node:fs'
import {readdir, readFile} from 'node:fs/promises'
import {join, relative} from 'node:path'
import {parse} from 'yaml'
import {describeSettings} from '../../src/config/index.js'
import {Exit, errorCatalogue} from '../../src/errors/catalogue.js'
import {httpStatusOf} from '../../src/errors/row.js'
import {severities} from '../../src/lang/index.js'
import {operations} from '../../src/operations/index.js'
import {projectFile} from '../support/project.js'
import {storedTables} from './stored-tables.js'

/**
 * All public names, one per line, sorted: commands, settings, codes, tools, methods, routes, JSON fields, metrics, tables
 * and columns. Names can be added, but never removed or renamed.
 */
export async function publishedNames(): Promise<string[]> {
  const names = [
    ...packageNames(),
    ...commandNames(),
    ...settingNames(),
    ...codeNames(),
    ...operationNames(),
    ...(await contractNames()),
    ...(await metricNames()),
    ...(await storedTables()),
  ]
  return [...new Set(names)].sort()
}

const readJson = (path: string) => JSON.parse(readFileSync(projectFile(path), 'utf8'))

const packageNames = (): string[] => Object.keys(readJson('package.json').bin).map((name) => `program ${name}`)

interface Flag {
  name: string
  char?: string
  aliases?: string[]
  options?: string[]
  allowNo?: boolean
}

interface Command {
  id: string
  aliases: string[]
  args: Record<string, {name: string; options?: string[]}>
  flags: Record<string, Flag>
}

function commandNames(): string[] {
  const {commands} = readJson('oclif.manifest.json') as {commands: Record<string, Command>}
  return Object.values(commands).flatMap(({id, aliases, args, flags}) => {
    const command = `command ${id.replaceAll(':', ' ')}`
    const flagNames = Object.values(flags).flatMap(({name, char, aliases: others = [], options = [], allowNo}) => [
      `${command} --${name}`,
      ...(allowNo === true ? [`${command} --no-${name}`] : []),
      ...(char === undefined ? [] : [`${command} -${char} --${name}`]),
      ...others.map((other) => `${command} --${other}`),
      ...options.map((option) => `${command} --${name}=${option}`),
    ])
    const argNames = Object.values(args).map(({name}, at) => `${command} argument ${at + 1} ${name}`)
    return [command, ...aliases.map((alias) => `command ${alias.replaceAll(':', ' ')}`), ...flagNames, ...argNames]
  })
}

const settingNames = (): string[] =>
  describeSettings({env: {}}).settings.flatMap(({name, env, toml}) => [
    `setting ${name}`,
    ...env.map((variable) => `setting ${name} variable ${variable}`),
    ...toml.map((key) => `setting ${name} key ${key}`),
  ])

function codeNames(): string[] {
  const errors = Object.entries(errorCatalogue()).map(([code, row]) => {
    return `error ${code} exit ${row.exit} http ${httpStatusOf(row)}`
  })
  const diagnostics = Object.entries(severities).map(([code, severity]) => `diagnostic ${code} ${severity}`)
  return [...errors, ...diagnostics, ...Object.entries(Exit).map(([name, status]) => `exit ${status} ${name}`)]
}

/** Daemon methods and tools, with the members of their input and output. */
const operationNames = (): string[] =>
  operations.flatMap(({input, output, bindings: {rpc, tool}}) =>
    [
      ...[rpc?.method, ...(rpc?.aliases ?? [])].map((name) => name && `method ${name}`),
      tool && `tool ${tool.name}`,
    ].flatMap((name) =>
      name
        ? [
            name,
            ...fieldsOf(input, input).map((field) => `${name} takes ${field}`),
            ...fieldsOf(output, output).map((field) => `${name} returns ${field}`),
          ]
        : [],
    ),
  )

type Json = Readonly<Record<string, unknown>>

/** Paths of the members of a JSON Schema, with enum values. References are followed, but only once per path. */
function fieldsOf(schema: unknown, root: unknown, path = '', seen: readonly string[] = []): string[] {
  if (Array.isArray(schema)) return schema.flatMap((one) => fieldsOf(one, root, path, seen))
  if (typeof schema !== 'object' || schema === null) return []
  const {$ref, properties = {}, items, additionalProperties, enum: values = [], const: value, ...rest} = schema as Json
  const found: string[] = []
  if (typeof $ref === 'string' && $ref.startsWith('#/') && !seen.includes($ref)) {
    const target = $ref
      .slice(2)
      .split('/')
      .reduce((at, key) => (at as Json)[key], root)
    found.push(...fieldsOf(target, root, path, [...seen, $ref]))
  }
  for (const [name, member] of Object.entries(properties as Json))
    found.push(`${path}.${name}`, ...fieldsOf(member, root, `${path}.${name}`, seen))
  for (const word of [...(values as unknown[]), ...(value === undefined ? [] : [value])])
    found.push(`${path}=${JSON.stringify(word)}`)
  found.push(...fieldsOf(items, root, `${path}[]`, seen), ...fieldsOf(additionalProperties, root, `${path}{}`, seen))
  for (const key of ['anyOf', 'oneOf', 'allOf', 'then', 'else', 'prefixItems'])
    found.push(...fieldsOf(rest[key], root, path, seen))
  return found
}

/** Ids and fields of contracts; for OpenAPI documents, the routes with their bodies. */
async function contractNames(): Promise<string[]> {
  const {contracts} = parse(await readFile(projectFile('contracts/index.yaml'), 'utf8')) as {
    contracts: {id: string; file: string; aliases?: string[]}[]
  }
  const names = await Promise.all(
    contracts.map(async ({id, file, aliases = []}) => {
      const document = parse(await readFile(projectFile(`contracts/${file}`), 'utf8'))
      const fields = file.includes('.openapi.')
        ? routesOf(document)
        : file.includes('.schema.')
          ? fieldsOf(document, document).map((field) => `contract ${id} ${field}`)
          : []
      return [`contract ${id}`, ...aliases.map((alias) => `contract ${alias}`), ...fields]
    }),
  )
  return names.flat()
}

interface OpenApi {
  paths: Record<string, Record<string, unknown>>
}

const routesOf = (document: OpenApi): string[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const route = `route ${method.toUpperCase()} ${path}`
      return [
        route,
        ...schemasIn(operation).flatMap((schema) => fieldsOf(schema, document).map((field) => `${route} ${field}`)),
      ]
    }),
  )

/** Schemas of the bodies of an operation. */
function schemasIn(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => (key === 'schema' ? [member] : schemasIn(member)))
}

/** Names of metrics, as found in quotes in the sources. */
async function metricNames(): Promise<string[]> {
  const root = projectFile('src')
  const files = await readdir(root, {recursive: true, encoding: 'utf8'})
  const found = await Promise.all(
    files
      .filter((file) => relative('.', file).endsWith('metrics.ts'))
      .map(async (file) => (await readFile(join(root, file), 'utf8')).match(/'svc_[a-z_]+'/g) ?? []),
  )
  return found.flat().map((name) => `metric ${name.replaceAll("'", '')}`)
}
