/** What every command shares: its life cycle, its flags, its way of reading and printing, and its exit status. */
export {SvcCommand} from './command.js'
export {readInput, readTextInput} from './input.js'
export {Output} from './output.js'
export {withProgress} from './progress.js'
export {settingFlags} from './setting-flags.js'
export {formatTable} from './table.js'
