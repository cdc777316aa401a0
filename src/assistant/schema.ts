import {fragment} from '../store/index.js'

export const assistantFragment = fragment('assistant')
