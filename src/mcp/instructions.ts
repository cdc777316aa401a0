/** Server instructions, sent to each client when it connects. */
export const instructions = `Tools for one workspace: agent tasks, plans, messages, journeys, chats and speech-to-text.
Every tool returns {success, data} or {success: false, error, code, remediation}; branch on code.
svc_submit_task queues a task and returns its task_id; follow it with svc_task_status, or subscribe to svc://tasks/{id}.
If a task needs a human decision, call svc_doubt_task with the reason; svc_resolve_doubt resolves it.
Queued tasks run while svc daemon run is active in the workspace; svc_orchestrator_status shows whether it is.
tools/list contains only the enabled tiers; tools of other tiers can still be called by name.`
