import type {Operation} from './operation.js'
import {agentOperations} from './rows/agents.js'
import {assistantOperations} from './rows/assistant.js'
import {attentionOperations} from './rows/attention.js'
import {benchmarkOperations} from './rows/benchmarks.js'
import {contextOperations} from './rows/context.js'
import {databaseOperations} from './rows/database.js'
import {doubtOperations} from './rows/doubt.js'
import {fileOperations} from './rows/files.js'
import {handoffOperations} from './rows/handoff.js'
import {helpOperations} from './rows/help.js'
import {journeyOperations} from './rows/journeys.js'
import {meshOperations} from './rows/mesh.js'
import {messageOperations} from './rows/messages.js'
import {modelOperations} from './rows/models.js'
import {planOperations} from './rows/plans.js'
import {questionOperations} from './rows/questions.js'
import {relatedTaskOperations} from './rows/related-tasks.js'
import {sessionOperations} from './rows/sessions.js'
import {skillOperations} from './rows/skills.js'
import {speechOperations} from './rows/speech.js'
import {stopOperations} from './rows/stops.js'
import {taskOperations} from './rows/tasks.js'
import {workflowOperations} from './rows/workflows.js'
import {workspaceOperations} from './rows/workspace.js'

export const operations: readonly Operation[] = [
  ...taskOperations,
  ...relatedTaskOperations,
  ...doubtOperations,
  ...questionOperations,
  ...handoffOperations,
  ...agentOperations,
  ...workspaceOperations,
  ...attentionOperations,
  ...stopOperations,
  ...sessionOperations,
  ...contextOperations,
  ...planOperations,
  ...workflowOperations,
  ...messageOperations,
  ...journeyOperations,
  ...assistantOperations(() => operations),
  ...fileOperations,
  ...speechOperations,
  ...meshOperations,
  ...modelOperations,
  ...databaseOperations,
  ...benchmarkOperations,
  ...skillOperations,
  ...helpOperations,
]

const byName = new Map(operations.map((each) => [each.name, each]))

/** The operation with a name. @throws TypeError if there is none: a programming error */
export function operationNamed(name: string): Operation {
  const found = byName.get(name)
  if (found === undefined) throw new TypeError(`no operation ${name}`)
  return found
}
