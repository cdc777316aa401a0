import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {parse} from 'yaml'
import {nearest, SvcError} from '../errors/index.js'

/** One wire contract. `file` is absolute. */
export interface Contract {
  id: string
  file: string
  summary: string
  aliases: readonly string[]
}

/** The package's `contracts/` folder, seen from the compiled file. */
export const contractsFolder = fileURLToPath(new URL('../../../contracts', import.meta.url))

interface Catalogue {
  contracts: {id: string; file: string; summary: string; aliases?: string[]}[]
}

let listed: Promise<readonly Contract[]> | undefined

/** Every contract, in the order of `contracts/index.yaml`. */
export function listContracts(): Promise<readonly Contract[]> {
  listed ??= readCatalogue()
  return listed
}

async function readCatalogue(): Promise<readonly Contract[]> {
  const source = await readFile(join(contractsFolder, 'index.yaml'), 'utf8')
  const {contracts} = parse(source) as Catalogue
  return contracts.map(({id, file, summary, aliases = []}) => ({
    id,
    file: join(contractsFolder, file),
    summary,
    aliases,
  }))
}

/** @throws contract_unknown, with the nearest name */
export async function findContract(id: string): Promise<Contract> {
  const contracts = await listContracts()
  const contract = contracts.find((candidate) => candidate.id === id || candidate.aliases.includes(id))
  if (contract !== undefined) return contract
  const names = contracts.flatMap((candidate) => [candidate.id, ...candidate.aliases])
  throw new SvcError('contract_unknown', {id, suggestion: nearest(id, names)})
}
