/** Bug of an orchestrator or of a control plane on PostgreSQL, as changes of compiled modules. */
interface Mutation {
  /** End of the path of the module. */
  module: string
  /** Texts that occur once, and their replacements. */
  changes: readonly (readonly [string, string])[]
}

export const mutations = {
  /** Accepts a result whatever has become of its delegation. */
  'accepts-any-result': [
    {
      module: 'src/delegation/claimer/delegator.js',
      changes: [
        [
          'const delegation = this.#open.get(result.idempotency_key);\n        if (delegation?.isBusy)\n            return;',
          `const row = rowWithKey(this.#context, result.idempotency_key);
        const claim = row && requireTask(this.#context, row.task_id).generation;
        const delegation =
          row && new Delegation(this.#daemon, row, continueRemoteRun(this.#context, row.task_id, claim));
        if (delegation) delegation.lease = this.#open.get(delegation.key)?.lease;`,
        ],
        ['import { canDelegate,', 'import { continueRemoteRun, requireTask, canDelegate,'],
      ],
    },
    {
      module: 'src/delegation/delegation.js',
      changes: [
        ["row !== undefined && isOpen(row) && row.state !== 'granting' && lease === row.lease_id", 'row !== undefined'],
        [
          'row !== undefined && isOpen(row) && this.run.held() !== undefined ? row',
          `row !== undefined &&
          !['Completed', 'Failed', 'Cancelled'].includes(requireTask(this.#daemon.context, row.task_id).status) ? row`,
        ],
        ['import { continueRemoteRun,', 'import { requireTask, continueRemoteRun,'],
      ],
    },
  ],

  /** Sends the envelope again, as another message, if the response is lost. */
  'relays-again-after-timeout': [
    {
      module: 'src/delegation/claimer/send-task.js',
      changes: [
        [
          'const { message_id: message } = await client.deliver(',
          `const deliver = (draft, more) =>
              client.deliver(draft, {...more, retry: false}).catch(() =>
                client.deliver({...draft, idempotencyKey: draft.idempotencyKey + '-again'}, more))
            const { message_id: message } = await deliver(`,
        ],
      ],
    },
  ],

  /** Does not continue the delegations of its predecessor. */
  'hold-lost-on-restart': [
    {
      module: 'src/delegation/claimer/delegator.js',
      changes: [['for (const delegation of open)\n            this.#run(this.#restore(delegation));', '']],
    },
  ],

  /** Takes a refused renewal for a successful one. */
  'renews-after-revoke': [
    {
      module: 'src/mesh/client/hold-lease.js',
      changes: [
        [
          "if (error instanceof MeshHttpError && error.isStatus(403, 404, 409))\n                return this.#lose(new LeaseLoss('refused', error));",
          `if (error instanceof MeshHttpError) {
                error = undefined
                this.#deadlineMs = this.#deadlineFrom(this.#options.monotonic())
            }`,
        ],
      ],
    },
  ],

  /** PostgreSQL: draws the token before the row of the key is locked. */
  'token-drawn-before-lock': [
    {
      module: 'src/mesh/store/postgres/sql/leases.sql',
      changes: [
        [
          'OUT refusal text, OUT lease mesh_exec_leases)\nLANGUAGE plpgsql VOLATILE AS $$\nDECLARE',
          "OUT refusal text, OUT lease mesh_exec_leases)\nLANGUAGE plpgsql VOLATILE AS $$\nDECLARE\n  token bigint := nextval('mesh_fence');",
        ],
        [
          '-- The row is locked before its token is drawn, even if it is new, so that tokens never decrease.',
          'PERFORM pg_sleep(random() * 0.3);',
        ],
        ["lease_id = nextval('mesh_fence')", 'lease_id = token'],
      ],
    },
  ],

  /** PostgreSQL: ignores that a message has arrived through another control plane. */
  'lost-wake-up': [
    {
      module: 'src/mesh/store/postgres/session.js',
      changes: [['                this.#receive(payload);', '                void payload;']],
    },
  ],
} as const satisfies Readonly<Record<string, readonly Mutation[]>>

export type MutationName = keyof typeof mutations

/** Changes the text of a module. @throws Error if a text to change does not occur once */
export function mutate(name: MutationName, url: string, text: string): string {
  const found = mutations[name].find(({module}) => url.endsWith(`/dist/${module}`))
  let changed = text
  for (const [from, to] of found?.changes ?? []) {
    const parts = changed.split(from)
    if (parts.length !== 2) throw new Error(`${found?.module} contains ${parts.length - 1} times: ${from}`)
    changed = parts.join(to)
  }
  return changed
}
