import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {assistantFragment} from '../../src/assistant/index.js'
import {journeyFragment} from '../../src/journeys/schema.js'
import {meshStoreFragment} from '../../src/mesh/store/sqlite/schema.js'
import {messageFragment} from '../../src/messages/schema.js'
import {operationLogFragment} from '../../src/orchestrator/operation-log/schema.js'
import {planFragment} from '../../src/plans/schema.js'
import {sessionFragment} from '../../src/sessions/row-journal.js'
import {openStore} from '../../src/store/index.js'
import {orchestratorFragment} from '../../src/tasks/base/schema.js'
import {telemetryFragment} from '../../src/telemetry/index.js'

const fragments = [
  orchestratorFragment,
  sessionFragment,
  planFragment,
  messageFragment,
  journeyFragment,
  operationLogFragment,
  assistantFragment,
  telemetryFragment,
  meshStoreFragment,
]

/** Tables and columns of the stores, as reported by SQLite. */
export async function storedTables(): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-names-'))
  const store = await openStore(join(folder, 'names.db'), fragments)
  try {
    return store
      .all<{table: string; column: string}>(
        `SELECT t.name AS "table", c.name AS "column" FROM sqlite_schema t JOIN pragma_table_info(t.name) c
WHERE t.type IN ('table', 'view') AND t.name NOT LIKE 'sqlite_%'`,
      )
      .flatMap(({table, column}) => [`table ${table}`, `table ${table} column ${column}`])
  } finally {
    store.close()
    await rm(folder, {recursive: true})
  }
}
