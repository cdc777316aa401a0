import {existsSync} from 'node:fs'
import {type Command, Flags} from '@oclif/core'
import {meshServerSettings} from '../config/index.js'
import {SvcError} from '../errors/index.js'
import type {DatabaseKind} from '../store/index.js'
import {DbCommand, databaseFlag} from './db-command.js'
import {meshPlace} from './mesh-store.js'

/** `--db`, `--store` and `--mesh`, which select a database file of one kind. */
export const databaseFileFlags = {
  ...databaseFlag,
  store: Flags.boolean({
    description:
      'Use the store of the workspace (.svc/store.db, or workspace.journey_store) instead of the application database.',
    exclusive: ['db', 'mesh'],
  }),
  mesh: Flags.boolean({
    description:
      'Use the database of a control plane (~/.svc/mesh/mesh.db, or --db) instead of the application database.',
  }),
}

interface DatabaseFile {
  path: string
  kind: DatabaseKind
  /** The path of svc for this kind, not that of a flag or setting. */
  isDefaultPath: boolean
}

/** Base of commands that work on a whole database file, whatever its tables. */
export abstract class DatabaseFileCommand<T extends typeof Command = typeof Command> extends DbCommand<T> {
  protected async databaseFile(): Promise<DatabaseFile> {
    const {store, mesh, db} = this.flags as {store?: boolean; mesh?: boolean; db?: string}
    if (mesh) {
      const place = await meshPlace(this.settings(meshServerSettings), db === undefined ? {} : {db})
      if ('url' in place)
        throw new SvcError('usage', {
          reason: 'The mesh is in a PostgreSQL database. Use `svc mesh export`, or the tools of PostgreSQL.',
        })
      const {meshDatabase} = await import('../mesh/index.js')
      const standard = await meshPlace({}, {})
      return {...place, kind: meshDatabase, isDefaultPath: 'path' in standard && standard.path === place.path}
    }
    if (store) {
      const [{storeDatabase}, {assistantFragment}] = await Promise.all([
        import('../orchestrator/index.js'),
        import('../assistant/index.js'),
      ])
      return {path: await this.storePath(), kind: storeDatabase([assistantFragment]), isDefaultPath: true}
    }
    const {appDatabase} = await import('../lang/index.js')
    const path = this.databasePath
    if (path === ':memory:') throw new SvcError('database_missing', {path})
    return {path, kind: appDatabase, isDefaultPath: path === this.defaultDatabasePath}
  }

  /** @throws database_missing */
  protected async existingFile(): Promise<DatabaseFile> {
    const file = await this.databaseFile()
    if (!existsSync(file.path)) throw new SvcError('database_missing', {path: file.path})
    return file
  }
}
