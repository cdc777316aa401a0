/** What reads workflow files and continues runs. It loads the data language, so it is loaded when it is needed. */
export {everyStep, type Step, type Workflow} from '../definition/definition.js'
export {inputFromText} from '../definition/input.js'
export {checkWorkflows, findWorkflow, readWorkflows} from '../definition/read.js'
export {replayRun} from './replay.js'
export {startWorkflowRunner} from './runner.js'
export {askToCancel, cancelRun, createRun, handOverRun, resumeRun, startRun, workflowOf} from './runs.js'
export {listSchedules} from './schedules.js'
