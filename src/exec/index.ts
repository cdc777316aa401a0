/**
 * Command templates of a workspace: the command line of a task, the secrets that it needs, and its run in a process group.
 */
export {type ExecPolicy, execBuiltins, planExec, unfilledPlaceholders} from './exec-argv.js'
export {secretValues} from './exec-secrets.js'
export {type ExecOptions, failureOf, runTemplate, type TemplateEnd} from './run-template.js'
