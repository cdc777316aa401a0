import {fragment} from '../../store/index.js'

export const journeyFragment = fragment('journeys')
