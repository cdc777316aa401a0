import {chmod} from 'node:fs/promises'
import {join} from 'node:path'
import {writeFiles} from '../../support/temporary.js'

/** Agents that tasks ask for; one more has the tasks that ask for none. So many tasks are run at once. */
export const agentNames = ['ada', 'bob', 'cy', 'dot'] as const

const settings = `[orchestrator]
max_agents = ${agentNames.length + 1}
default_processor = "exec"

[orchestrator.exec]
enabled = true

[orchestrator.exec.templates]
work = ["sh", "work.sh", "{seconds}"]
`

/**
 * Appends a line at its start and one at its end, each with one write, so that lines of several processes do not mix.
 * While a file `hold` is there, it does not end.
 */
const work = `echo "start $SVC_TASK_ID $SVC_TASK_ATTEMPT $$" >> journal.txt
sleep "$1"
while [ -e hold ]; do sleep 0.05; done
echo "end $SVC_TASK_ID $SVC_TASK_ATTEMPT" >> journal.txt
`

/**
 * The environment of every process of the workspace: a store that cannot be opened is an error, never another store.
 */
export const workspaceEnv = {SVC_WORKSPACE_JOURNEY_FALLBACK_CANONICAL: '0'} as const

/** Makes a folder a workspace whose tasks write a journal of what they do. */
export async function writeWorkspace(root: string, toml = settings): Promise<void> {
  await writeFiles(root, {'Svc.toml': toml, 'work.sh': work, 'journal.txt': ''})
  await chmod(root, 0o755)
}

export const storeOf = (root: string): string => join(root, '.svc', 'store.db')
