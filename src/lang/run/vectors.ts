import type {Database} from 'better-sqlite3'
import {SvcError} from '../../errors/index.js'
import type {Program} from '../check/index.js'

export const needsVectors = (program: Program): boolean => program.indexes.some(({style}) => style === 'vector')

/** Loads the vector extension into a connection. @throws vector_engine_missing */
export async function loadVectors(database: Database): Promise<void> {
  try {
    const {load} = await import('sqlite-vec')
    load(database)
  } catch (error) {
    const reason = (error as Error).message.split('\n')[0] ?? ''
    throw new SvcError('vector_engine_missing', {reason}, {cause: error})
  }
}
