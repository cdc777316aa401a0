/** Answers to questions about svc, from its guides, the help of its commands and the explanations of its errors. */
export {type Help, openHelp, type WrittenAnswer} from './help.js'
export type {FoundPassage} from './passages.js'
