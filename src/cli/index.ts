/** What every command shares: its life cycle, its flags, its way of reading and printing, and its exit status. */
export {SvcCommand} from './command.js'
export {readInput, readTextInput} from './input.js'
export {Output} from './output.js'
export {writeOutputFile} from './output-file.js'
export {byteProgress, type ShowProgress, withProgress} from './progress.js'
export {settingFlags} from './setting-flags.js'
export {SpeechCommand, speechFlags} from './speech-command.js'
export {formatTable} from './table.js'
