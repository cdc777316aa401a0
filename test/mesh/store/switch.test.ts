import {describe, it} from 'node:test'
import {createDatabase, skipWithoutPostgres} from '../../support/postgres.js'
import {temporaryFolder} from '../../support/temporary.js'
import {switchUnderLoad} from './switch.js'

describe('a mesh in use', () => {
  it('loses nothing when it moves to another file', async (t) =>
    switchUnderLoad(t, [{folder: await temporaryFolder(t)}, {folder: await temporaryFolder(t)}], 40))

  it('loses nothing when it moves to PostgreSQL', {skip: skipWithoutPostgres}, async (t) =>
    switchUnderLoad(t, [{folder: await temporaryFolder(t)}, {url: await createDatabase()}], 40),
  )
})
