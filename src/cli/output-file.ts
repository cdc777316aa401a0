/** What a command writes where its user said. */
export {writeWholeFile as writeOutputFile} from '../files/index.js'
