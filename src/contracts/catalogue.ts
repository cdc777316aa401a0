import {readFileSync} from 'node:fs'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {nearest, SvcError} from '../errors/index.js'
import {packageRoot, parseYaml} from '../files/index.js'

/** One wire contract. `file` is absolute. */
export interface Contract {
  id: string
  file: string
  summary: string
  aliases: readonly string[]
}

/**
 * Kind of a contract file: a JSON Schema, an OpenAPI document that describes routes, or a document that matches a schema
 * of the catalogue.
 */
export type ContractKind = 'schema' | 'openapi' | 'document'

export interface ContractDocument {
  contract: Contract
  schema: string
}

/** The package's `contracts/` folder. */
export const contractsFolder = join(packageRoot, 'contracts')

interface Catalogue {
  contracts: {
    id: string
    kind?: ContractKind
    file: string
    schema?: string
    summary: string
    aliases?: string[]
  }[]
}

interface Listed {
  kind: ContractKind
  contract: Contract
  schema: string | undefined
}

let listed: Promise<readonly Listed[]> | undefined

/** All contracts, or those of one kind, in the order of `contracts/index.yaml`. */
export async function listContracts(kind?: ContractKind): Promise<readonly Contract[]> {
  const rows = await readListed()
  return rows.filter((row) => kind === undefined || row.kind === kind).map(({contract}) => contract)
}

/** All contracts that are documents, in the order of `contracts/index.yaml`. */
export async function listDocuments(): Promise<readonly ContractDocument[]> {
  const rows = await readListed()
  return rows.filter(({kind}) => kind === 'document').map(({contract, schema = ''}) => ({contract, schema}))
}

function readListed(): Promise<readonly Listed[]> {
  listed ??= readCatalogue()
  return listed
}

async function readCatalogue(): Promise<readonly Listed[]> {
  const {contracts} = (await parseYaml(await readFile(join(contractsFolder, 'index.yaml'), 'utf8'))) as Catalogue
  return contracts.map(({id, kind = 'schema', schema, file, summary, aliases = []}) => ({
    kind,
    schema,
    contract: {id, file: join(contractsFolder, file), summary, aliases},
  }))
}

/** A parsed JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>

/** The schema of a contract, whose id is also its file name. Synchronous, for use in declarations. */
export const contractSchema = (id: string): Schema =>
  JSON.parse(readFileSync(join(contractsFolder, `${id}.schema.json`), 'utf8'))

/** @throws contract_unknown with the nearest name */
export async function findContract(id: string): Promise<Contract> {
  const contracts = await listContracts()
  const contract = contracts.find((candidate) => candidate.id === id || candidate.aliases.includes(id))
  if (contract !== undefined) return contract
  const names = contracts.flatMap((candidate) => [candidate.id, ...candidate.aliases])
  throw new SvcError('contract_unknown', {id, suggestion: nearest(id, names)})
}

/**
 * Finds a contract to validate documents against.
 * @throws contract_unknown; usage if it is not a schema
 */
export async function findSchema(id: string): Promise<Contract> {
  const contract = await findContract(id)
  const rows = await readListed()
  const row = rows.find((candidate) => candidate.contract === contract)
  if (row?.kind === 'openapi')
    throw notASchema(`The contract ${id} describes routes, so documents cannot be validated against it; use a schema.`)
  if (row?.kind === 'document') throw notASchema(`The contract ${id} is a document; its schema is ${row.schema}.`)
  return contract
}

const notASchema = (reason: string) => new SvcError('usage', {reason})
