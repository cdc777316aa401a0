import {fragment} from '../../store/index.js'

export const messageFragment = fragment('messages')
