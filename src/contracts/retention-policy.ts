import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {contractsFolder} from './catalogue.js'
import {readDocument} from './document.js'
import type {RetentionPolicy} from './types.js'

/** How long the rows of the workspace store are kept: the contract `db/retention-policy.yaml`. */
export async function readRetentionPolicy(): Promise<RetentionPolicy> {
  const file = join(contractsFolder, 'db/retention-policy.yaml')
  return (await readDocument(await readFile(file, 'utf8'), file)) as RetentionPolicy
}
