import {fragment} from '../../store/index.js'

export const operationLogFragment = fragment('operation_log')
