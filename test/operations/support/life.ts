/**
 * A session in a small workspace, as a sequence of successful calls that includes every operation on tasks, doubts and
 * agents.
 */
export const life: readonly (readonly [operation: string, input: Readonly<Record<string, unknown>>])[] = [
  ['status', {}],
  ['list_agents', {}],
  ['spawn_agent', {name: 'anna', labels: ['fast'], model: 'run-7'}],
  ['spawn_agent', {name: 'bert', parent_agent_id: 'anna', dynamic: true, delegation_reason: 'There is too much.'}],
  ['agent_ids', {}],
  ['map_agent_session', {agent_id: 'bert', session_id: 's2'}],
  ['map_agent_session', {agent_id: 'bert', session_id: null}],
  [
    'submit_task',
    {
      description: 'Write it',
      processor: 'external',
      target_agent: 'anna',
      file_manifest: [{path: 'a.ts', access: 'Write'}],
      priority: 'Normal',
      capability_requirements: {labels: ['fast']},
      enqueue_hints: {complexity: 3, task_category: 'codegen', budget: {max_latency_ms: 1000}},
      session_id: 's1',
      idempotency_key: 'k1',
    },
  ],
  ['task_status', {task_id: 1}],
  ['claim_task', {owner: 'me', agent_id: 'anna', ttl_ms: 60_000}],
  ['renew_claim', {task_id: 1, generation: 1, ttl_ms: 60_000}],
  [
    'submit_batch',
    {
      tasks: [
        {description: 'Test it', processor: 'external', depends_on: [1]},
        {description: 'Announce it', processor: 'external', temp_deps: [0]},
      ],
    },
  ],
  ['submit_task', {description: 'Publish it', processor: 'external', requires_approval: true}],
  [
    'complete_task',
    {
      task_id: 1,
      generation: 1,
      attestation: {completion_summary: 'Written.', checks_passed: ['build'], declared_non_placeholder: true},
    },
  ],
  ['get_task', {task_id: 1}],
  ['claim_task', {owner: 'me'}],
  ['fail_task', {task_id: 2, reason: 'It breaks.', generation: 1}],
  ['retry_task', {task_id: 2, dependants: true}],
  ['reorder_task', {task_id: 2, priority: 'Urgent'}],
  ['approve_task', {task_id: 4}],
  ['doubt_task', {task_id: 4, reason: 'Two documents differ.'}],
  ['resolve_doubt', {task_id: 4, validated: false, report: 'The newer one counts.'}],
  ['doubt_task', {task_id: 4}],
  ['overrule_doubt', {task_id: 4, reason: 'Good enough.'}],
  ['pause_agent', {agent_id: 'bert'}],
  ['resume_agent', {agent_id: 'A-02'}],
  ['rebalance', {}],
  ['drain_agent', {agent_id: 1}],
  ['resume_agent', {agent_id: 1}],
  ['retire_agent', {agent_id: 'bert'}],
  ['cancel_task', {task_id: 2, reason: 'Late.'}],
  ['prune_tasks', {older_than_ms: 0, status: ['Failed'], dry_run: true}],
  ['list_tasks', {status: ['Completed'], limit: 10}],
  ['list_tasks', {agent_id: 'anna', session_id: 's1', before_id: 3}],
  ['list_events', {types: ['task_completed'], limit: 5}],
]
