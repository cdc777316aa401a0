/** What a client is told about the server when it connects. */
export const instructions = `Tools of one workspace: tasks for its agents, plans, messages, journeys, chats and speech-to-text.
Every tool answers with {success, data} or {success: false, error, code, remediation}; branch on code.
svc_submit_task queues work and gives its task_id; follow it with svc_task_status, or subscribe to svc://tasks/{id}.
When a task cannot be settled without a person, call svc_doubt_task and say why; svc_resolve_doubt settles it.
Queued tasks run while svc daemon run runs in the workspace; svc_orchestrator_status tells whether it does.
Listed are the tools of the chosen tiers; a tool that is not listed can be called by its name all the same.`
