import {describe, it} from 'node:test'
import {createDatabase, skipWithoutPostgres} from '../../support/postgres.js'
import {temporaryFolder} from '../../support/temporary.js'
import {switchUnderLoad} from './switch.js'

describe('a mesh in use', {skip: skipWithoutPostgres}, () => {
  it('loses nothing when it moves between SQLite and PostgreSQL several times', async (t) => {
    const [file, database, otherFile, otherDatabase] = [
      {folder: await temporaryFolder(t)},
      {url: await createDatabase()},
      {folder: await temporaryFolder(t)},
      {url: await createDatabase()},
    ]
    await switchUnderLoad(t, [file, database, otherFile, otherDatabase], 1500)
  })
})
