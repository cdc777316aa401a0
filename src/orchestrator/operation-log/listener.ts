import type {TaskListener} from '../../workspace/index.js'
import {pruneOperations} from './prune.js'

export const operationLogListener: TaskListener = {
  cleanup: (context, {retentionDays}) => pruneOperations(context, retentionDays),
}
