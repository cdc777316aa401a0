import {fragment} from '../../store/index.js'

export const planFragment = fragment('plans')
