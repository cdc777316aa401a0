import {chmod} from 'node:fs/promises'
import {join} from 'node:path'
import {writeFiles} from '../../support/temporary.js'

/** Target agents of tasks. One more agent has the tasks without a target, so five tasks can run at once. */
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
 * Appends a line at its start and at its end. Each is a single write, so that lines of concurrent processes do not mix.
 * It does not end while a file `hold` exists.
 */
const work = `echo "start $SVC_TASK_ID $SVC_TASK_ATTEMPT $$" >> journal.txt
sleep "$1"
while [ -e hold ]; do sleep 0.05; done
echo "end $SVC_TASK_ID $SVC_TASK_ATTEMPT" >> journal.txt
`

/** The environment of all processes of the workspace. It disables the fallback to the user store. */
export const workspaceEnv = {SVC_WORKSPACE_JOURNEY_FALLBACK_CANONICAL: '0'} as const

/** Turns a folder into a workspace whose tasks write a journal. */
export async function writeWorkspace(root: string, toml = settings): Promise<void> {
  await writeFiles(root, {'Svc.toml': toml, 'work.sh': work, 'journal.txt': ''})
  await chmod(root, 0o755)
}

export const storeOf = (root: string): string => join(root, '.svc', 'store.db')
