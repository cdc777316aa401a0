import {SvcError} from '../../errors/index.js'
import {withClient} from '../history/database-client.js'

/** PostgreSQL database of the control planes in a run. */
export interface DatabaseUnderTest {
  /** Address of an empty database. */
  url: string
  /** Stops and starts the database server. Without it, this fault is not injected. */
  restart?: () => Promise<void>
  /** Sets the offset of the wall clock of the database server, ms. Without it, this fault is not injected. */
  setClock?: (ms: number) => Promise<void>
  /** Makes writes of the database server fail or succeed. Without it, this fault is not injected. */
  setFull?: (isFull: boolean) => Promise<void>
}

/** Checks that a database contains no mesh, because a run would mix with it. @throws mesh_not_empty */
export const requireEmpty = (url: string): Promise<void> =>
  withClient(url, async (client) => {
    const {rows} = await client.query("SELECT 1 FROM pg_class WHERE relname = 'mesh_messages'")
    if (rows.length > 0) throw new SvcError('mesh_not_empty', {path: client.database ?? ''})
  })

/** Ends all other connections to a database. @returns their number */
export const disconnectAll = (url: string): Promise<number> =>
  withClient(url, async (client) => {
    const {rowCount} = await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    )
    return rowCount ?? 0
  })
