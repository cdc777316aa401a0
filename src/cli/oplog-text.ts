import {formatMoment} from '../config/index.js'
import type {LoggedOperation} from '../orchestrator/index.js'
import {age} from './cell-text.js'
import {formatTable, type TableView, wide, wrapped} from './table.js'

export const formatOperations = (
  operations: readonly Pick<LoggedOperation, 'op_id' | 'timestamp_ms' | 'undone' | 'summary'>[],
  view: TableView,
): string =>
  formatTable(
    ['OPERATION', 'AGE', wide('WHEN'), 'STATE', wrapped('WHAT')],
    operations.map(({op_id, timestamp_ms, undone, summary}) => [
      op_id,
      age(timestamp_ms),
      formatMoment(timestamp_ms),
      undone ? 'undone' : 'done',
      summary,
    ]),
    view,
    'Nothing to undo.',
  )
